import { expect, test } from 'bun:test'
import { colorsOf } from '../../../src/platform/branding/contrast.ts'

/** Independent of the code under test: WCAG 2.2, relative luminance and contrast ratio. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) =>
    [1, 3, 5]
      .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
      .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, at) => sum + value * ([0.2126, 0.7152, 0.0722][at] ?? 0), 0)
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const BACKGROUNDS = { light: ['#ffffff', '#f1f3f4'], dark: ['#101316', '#1a1e22', '#1b1f23'] }
const ACCENTS = [
  '#000000',
  '#ffffff',
  '#ffd400',
  '#2f6f5e',
  '#0000ff',
  '#ff0000',
  '#767676',
  '#777777',
  '#1a1e22',
]

test.each(ACCENTS)('Text on and in %s can be read in both themes', (accent) => {
  const colors = colorsOf(accent)
  expect(colors.fill).toBe(accent)
  expect(['#000000', '#ffffff']).toContain(colors.onFill)
  for (const button of [accent, colors.hover])
    expect(contrast(colors.onFill, button)).toBeGreaterThanOrEqual(4.5)
  for (const theme of ['light', 'dark'] as const)
    for (const background of BACKGROUNDS[theme]) {
      expect(contrast(colors[theme].text, background)).toBeGreaterThanOrEqual(4.5)
      expect(contrast(colors[theme].edge, background)).toBeGreaterThanOrEqual(3)
    }
})

test('A color that can be read stays as it is', () => {
  expect(colorsOf('#2f6f5e').light).toMatchObject({ text: '#2f6f5e', edge: '#2f6f5e' })
  expect(colorsOf('#ffd400').dark).toMatchObject({ text: '#ffd400', edge: '#ffd400' })
  expect(colorsOf('#ffd400').light.text).not.toBe('#ffd400')
})
