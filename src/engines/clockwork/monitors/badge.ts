import type { State } from './states.ts'

/** White text is readable on each of them. */
const COLORS: Record<State, string> = {
  up: '#1a7f37',
  late: '#9a6700',
  down: '#cf222e',
  new: '#57606a',
  paused: '#57606a',
}

const HEIGHT = 20
/** The width of a character of 11 px, about: text is squeezed into the width that it gets. */
const CHARACTER = 6.6
const PADDING = 12

export const MAX_LABEL_LENGTH = 40

const widthOf = (text: string): number => Math.round([...text].length * CHARACTER) + PADDING

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? '')

/** A badge as SVG: the state, after a label if there is one. */
export function badgeOf(state: State, label: string): string {
  const [left, right] = [label === '' ? 0 : widthOf(label), widthOf(state)]
  const title = escaped(label === '' ? state : `${label}: ${state}`)
  const part = (text: string, x: number, width: number, color: string) =>
    `<rect x="${x}" width="${width}" height="${HEIGHT}" fill="${color}"/>` +
    `<text x="${x + width / 2}" y="14" textLength="${width - PADDING}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${title}">` +
    `<title>${title}</title>` +
    '<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,sans-serif" font-size="11">' +
    (label === '' ? '' : part(label, 0, left, '#24292f')) +
    part(state, left, right, COLORS[state]) +
    '</g></svg>'
  )
}
