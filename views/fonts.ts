import { readFileSync } from 'node:fs'
import monoLatin from '../node_modules/@fontsource/jetbrains-mono/files/jetbrains-mono-latin-400-normal.woff2' with {
  type: 'file',
}
import monoMediumLatin from '../node_modules/@fontsource/jetbrains-mono/files/jetbrains-mono-latin-500-normal.woff2' with {
  type: 'file',
}
import monoExtended from '../node_modules/@fontsource/jetbrains-mono/files/jetbrains-mono-latin-ext-400-normal.woff2' with {
  type: 'file',
}
import monoMediumExtended from '../node_modules/@fontsource/jetbrains-mono/files/jetbrains-mono-latin-ext-500-normal.woff2' with {
  type: 'file',
}
import interExtended from '../node_modules/@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2' with {
  type: 'file',
}
import interLatin from '../node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2' with {
  type: 'file',
}

/** The characters of each file, as its package divides them. Other scripts get the system's fonts. */
const LATIN =
  'U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+0304, U+0308, ' +
  'U+0329, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD'
const EXTENDED =
  'U+0100-02BA, U+02BD-02C5, U+02C7-02CC, U+02CE-02D7, U+02DD-02FF, U+0304, U+0308, U+0329, ' +
  'U+1D00-1DBF, U+1E00-1E9F, U+1EF2-1EFF, U+2020, U+20A0-20AB, U+20AD-20C0, U+2113, ' +
  'U+2C60-2C7F, U+A720-A7FF'

/**
 * A browser loads a file only for a page that has one of its characters. Files of one family and weight
 * state the same range of weights: browsers choose by weight first, and only then by character.
 */
const FACES = [
  face('inter.woff2', interLatin, 'Inter', '100 900', LATIN),
  face('inter-extended.woff2', interExtended, 'Inter', '100 900', EXTENDED),
  face('mono.woff2', monoLatin, 'JetBrains Mono', '400', LATIN),
  face('mono-extended.woff2', monoExtended, 'JetBrains Mono', '400', EXTENDED),
  face('mono-medium.woff2', monoMediumLatin, 'JetBrains Mono', '500 700', LATIN),
  face('mono-medium-extended.woff2', monoMediumExtended, 'JetBrains Mono', '500 700', EXTENDED),
]

function face(file: string, path: string, family: string, weight: string, characters: string) {
  return { file, read: () => new Uint8Array(readFileSync(path)), family, weight, characters }
}

/** Read the font files, by the names that they are served under. */
export const FONT_FILES: Readonly<Record<string, () => Uint8Array<ArrayBuffer>>> =
  Object.fromEntries(FACES.map(({ file, read }) => [file, read]))

/** Declares the fonts as CSS, with the address that `hrefOf` gives for each file. */
export const fontsCss = (hrefOf: (file: string) => string): string =>
  FACES.map(
    ({ file, family, weight, characters }) => `@font-face {
  font-family: "${family}";
  font-weight: ${weight};
  font-display: swap;
  src: url("${hrefOf(file)}") format("woff2");
  unicode-range: ${characters};
}
`,
  ).join('') + FALLBACKS

/**
 * Fonts that systems have, with the metrics of ours: text takes the same room while a font loads,
 * so that nothing moves when it arrives.
 */
const FALLBACKS = `@font-face {
  font-family: "Inter fallback";
  src: local("Arial"), local("Liberation Sans"), local("Arimo"), local("Roboto");
  size-adjust: 107.06%;
  ascent-override: 90.49%;
  descent-override: 22.56%;
  line-gap-override: 0%;
  unicode-range: ${LATIN}, ${EXTENDED};
}
@font-face {
  font-family: "JetBrains Mono fallback";
  src: local("Menlo"), local("DejaVu Sans Mono"), local("Liberation Mono"), local("Courier New");
  ascent-override: 102%;
  descent-override: 30%;
  line-gap-override: 0%;
  unicode-range: ${LATIN}, ${EXTENDED};
}
`
