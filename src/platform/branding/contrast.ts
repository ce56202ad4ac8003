/** A color of three channels, each from 0 to 255. */
type Rgb = readonly [number, number, number]

export type Theme = 'light' | 'dark'

/** Backgrounds of sign-in pages and emails, by theme: pages, cards, and what is behind them. */
const BACKGROUNDS: Record<Theme, readonly Rgb[]> = {
  light: [rgbOf('#ffffff'), rgbOf('#f1f3f4')],
  dark: [rgbOf('#101316'), rgbOf('#1b1f23')],
}
const BLACK: Rgb = [0, 0, 0]
const WHITE: Rgb = [255, 255, 255]
/** Of text, and of what a control is recognized by: WCAG 2.2, level AA, 1.4.3 and 1.4.11. */
const TEXT_CONTRAST = 4.5
const CONTROL_CONTRAST = 3

const COLOR = /^#[0-9a-f]{6}$/

/** Whether a text is a color such as `#2f6f5e`, in lower case. */
export const isColor = (text: string): boolean => COLOR.test(text)

/** The colors of one theme that follow from an accent color. */
export interface ThemeColors {
  /** For text, links and focus rings: the accent, made darker or lighter until it can be read. */
  text: string
  /** Contrast of the accent itself with the backgrounds; at least 4.5 if `text` is the accent. */
  contrast: number
  /** Contrast of `text` with the backgrounds. */
  textContrast: number
  /** The border of buttons: of their own color unless that is too close to the background. */
  edge: string
}

/** Colors that follow from an accent color. Buttons have the accent itself in both themes. */
export interface AccentColors {
  fill: string
  /** Black or white, whichever can be read on the accent. */
  onFill: string
  onFillContrast: number
  /** The button under the pointer: further away from its text. */
  hover: string
  light: ThemeColors
  dark: ThemeColors
}

/** The readable colors for an accent such as `#2f6f5e`. Every color has some. */
export function colorsOf(accent: string): AccentColors {
  const fill = rgbOf(accent)
  const onFill = contrastOf(WHITE, fill) >= TEXT_CONTRAST ? WHITE : BLACK
  return {
    fill: accent,
    onFill: hexOf(onFill),
    onFillContrast: contrastOf(onFill, fill),
    hover: hexOf(mixed(fill, onFill === WHITE ? BLACK : WHITE, 0.14)),
    light: themed(fill, 'light'),
    dark: themed(fill, 'dark'),
  }
}

function themed(fill: Rgb, theme: Theme): ThemeColors {
  const contrast = contrastWith(theme, fill)
  const text = readableOn(theme, fill)
  return {
    text: hexOf(text),
    contrast,
    textContrast: contrastWith(theme, text),
    edge: hexOf(contrast >= CONTROL_CONTRAST ? fill : text),
  }
}

/** The closest color towards black or white with enough contrast for text. */
function readableOn(theme: Theme, color: Rgb): Rgb {
  const towards = theme === 'light' ? BLACK : WHITE
  const steps = Array.from({ length: 101 }, (_, step) => mixed(color, towards, step / 100))
  return steps.find((step) => contrastWith(theme, step) >= TEXT_CONTRAST) ?? towards
}

const contrastWith = (theme: Theme, color: Rgb): number =>
  Math.min(...BACKGROUNDS[theme].map((background) => contrastOf(background, color)))

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
function contrastOf(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminanceOf(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const mixed = ([red, green, blue]: Rgb, other: Rgb, share: number): Rgb => [
  Math.round(red + (other[0] - red) * share),
  Math.round(green + (other[1] - green) * share),
  Math.round(blue + (other[2] - blue) * share),
]

function rgbOf(color: string): Rgb {
  const at = (start: number) => Number.parseInt(color.slice(start, start + 2), 16)
  return [at(1), at(3), at(5)]
}

const hexOf = (color: Rgb): string =>
  `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
