import { colorsOf } from './contrast.ts'

/** The path of a logo, which names its content. */
export const logoPath = (tenantId: string, hash: string): string =>
  `/public/branding/${tenantId}/${hash}`

/** The path of the style sheet of an accent color, such as `#2f6f5e`. */
export const accentPath = (accent: string): string =>
  `/public/accents/${accentVersion(accent)}/${accent.slice(1)}.css`

/** Changes with the style sheet, so that browsers can keep it. */
export const accentVersion = (accent: string): string => Bun.hash(accentSheet(accent)).toString(36)

/** The colors of everything below an element of the class `branded`. */
export function accentSheet(accent: string): string {
  const { fill, onFill, hover, light, dark } = colorsOf(accent)
  return `.branded {
  --accent: light-dark(${light.text}, ${dark.text});
  --fill: ${fill};
  --on-fill: ${onFill};
  --fill-hover: ${hover};
  --fill-edge: light-dark(${light.edge}, ${dark.edge});
}
`
}
