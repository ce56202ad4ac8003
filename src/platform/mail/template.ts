import { colorsOf } from '../branding/contrast.ts'
import type { BrandingSettings, Logo } from '../branding/index.ts'
import type { Body } from './body.ts'
import { contentIdOf } from './logos.ts'
import { oneLine } from './one-line.ts'

/** The content of a mail as plain text, without markup. */
export interface Content {
  /** Language tag (RFC 5646), such as `de`. */
  language: string
  /** Display name of the tenant. */
  tenantName: string
  heading: string
  paragraphs: readonly string[]
  /** The code to enter. */
  code?: string
  /** A link, shown as a button and as a URL below the text `orOpen`. */
  link?: Link
  /** Why the reader received this mail, and what to do if it was unexpected. */
  footer: string
  /** The color and the logos of the tenant; otherwise those of Gatehouse. */
  look?: Pick<BrandingSettings, 'accent' | 'logos'> | undefined
  /** Web pages and an email address of the tenant. */
  contacts?: readonly Contact[]
}

interface Contact {
  label: string
  /** https or mailto. */
  url: string
}

interface Link {
  label: string
  url: string
  /** The text before the URL, such as `Or copy this link into your browser:`. */
  orOpen: string
}

/** The text and the HTML version of a mail, with the same content. */
export function renderMail(content: Content): Body {
  const tidy = tidied(content)
  return { text: textOf(tidy), html: htmlOf(tidy) }
}

/** A mail whose texts are lines without unsafe characters. Throws `TypeError` for a bad link. */
export const tidied = (content: Content): Content => ({
  language: oneLine(content.language),
  tenantName: oneLine(content.tenantName),
  heading: oneLine(content.heading),
  paragraphs: content.paragraphs.map(oneLine),
  code: content.code && oneLine(content.code),
  link: content.link && tidiedLink(content.link),
  footer: oneLine(content.footer),
  look: content.look,
  contacts: (content.contacts ?? []).map(({ label, url }) => ({
    label: oneLine(label),
    url: contactUrl(url),
  })),
})

const tidiedLink = ({ label, url, orOpen }: Link): Link => ({
  label: oneLine(label),
  url: webUrl(url),
  orOpen: oneLine(orOpen),
})

function webUrl(url: string): string {
  const { protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('a link to no web page')
  return href
}

function contactUrl(url: string): string {
  const { protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'mailto:') throw new TypeError('no contact')
  return href
}

const textOf = ({
  tenantName,
  heading,
  paragraphs,
  code,
  link,
  footer,
  contacts = [],
}: Content): string =>
  [
    heading,
    ...paragraphs,
    ...(code ? [`    ${code}`] : []),
    ...(link ? [`${link.label}:\n${link.url}`] : []),
    [`--\n${tenantName}\n${footer}`, ...contacts.map(contactLine)].join('\n'),
  ]
    .join('\n\n')
    .concat('\n')

const contactLine = ({ label, url }: Contact): string => `${label}: ${url.replace(/^mailto:/, '')}`

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)

const SANS = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const MONO = "ui-monospace,'SF Mono','Cascadia Mono',Menlo,Consolas,monospace"

interface ButtonColors {
  fill: string
  text: string
  edge: string
}

/** Of buttons, by theme. */
function buttonColors(accent: string | null | undefined): Record<'light' | 'dark', ButtonColors> {
  if (!accent)
    return {
      light: { fill: '#2f6f5e', text: '#ffffff', edge: '#2f6f5e' },
      dark: { fill: '#6cc3a8', text: '#10231d', edge: '#6cc3a8' },
    }
  const { fill, onFill: text, light, dark } = colorsOf(accent)
  return { light: { fill, text, edge: light.edge }, dark: { fill, text, edge: dark.edge } }
}

/** Follows the reader's light or dark mode; without style sheets, the light inline styles apply. */
const styleOf = ({ fill, text, edge }: ButtonColors) => `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background-color: #14171a !important; }
  .card { background-color: #1b1f23 !important; border-color: #2e353b !important; }
  .strong { color: #e6e9ec !important; }
  .body { color: #cdd3d8 !important; }
  .quiet { color: #9aa5ae !important; }
  .code { background-color: #14171a !important; border-color: #2e353b !important; color: #e6e9ec !important; }
  .button { background-color: ${fill} !important; border-color: ${edge} !important; }
  .label { color: ${text} !important; }
  .plate { background-color: #ffffff !important; }
  .by-day { display: none !important; }
  .by-night { display: inline-block !important; }
  .rule { border-color: #2e353b !important; }
}
@media (max-width: 480px) {
  .edge { padding: 16px 8px !important; }
  .inside { padding: 24px 20px !important; }
}`

/** Builds the HTML with tables and inline styles, which all mail programs support. */
const htmlOf = (content: Content): string => `<!doctype html>
<html lang="${escapeHtml(content.language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${escapeHtml(content.heading)}</title>
<style>${styleOf(buttonColors(content.look?.accent).dark)}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f1f3f4;-webkit-text-size-adjust:100%">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f1f3f4">
<tr><td role="main" class="edge" align="center" style="padding:40px 16px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:480px;background-color:#ffffff;border:1px solid #dfe3e6;border-radius:12px">
<tr><td class="inside" align="left" style="padding:36px 40px;font-family:${SANS};font-size:16px;line-height:25px">
${inside(content)}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`

const inside = ({
  tenantName,
  heading,
  paragraphs,
  code,
  link,
  footer,
  look,
  contacts = [],
}: Content): string =>
  [
    `<p class="quiet" dir="auto" style="margin:0 0 20px;font-size:14px;line-height:20px;font-weight:600;color:#57616a;overflow-wrap:anywhere">${masthead(tenantName, look?.logos)}</p>`,
    `<h1 class="strong" style="margin:0 0 14px;font-size:23px;line-height:30px;font-weight:650;letter-spacing:-0.2px;color:#1c2126;overflow-wrap:anywhere">${escapeHtml(heading)}</h1>`,
    ...paragraphs.map(paragraph),
    ...(code ? [codeBox(code)] : []),
    ...(link ? [button(link, buttonColors(look?.accent).light), spelledOut(link)] : []),
    `<p class="quiet rule" style="margin:28px 0 0;padding:18px 0 0;border-top:1px solid #dfe3e6;font-size:13px;line-height:20px;color:#57616a;overflow-wrap:anywhere">${escapeHtml(footer)}</p>`,
    ...(contacts.length > 0 ? [contactLinks(contacts)] : []),
  ].join('\n')

/** The logos, with the name of the tenant for readers without images; otherwise the name. */
function masthead(tenantName: string, logos: BrandingSettings['logos'] = {}): string {
  const { light = logos.dark, dark } = logos
  if (!light) return escapeHtml(tenantName)
  const alt = escapeHtml(tenantName)
  if (!dark || dark === light) return logoImage(light, alt, 'plate')
  return logoImage(light, alt, 'by-day') + logoImage(dark, alt, 'by-night')
}

const MAX_LOGO_HEIGHT = 40
const MAX_LOGO_WIDTH = 200

/** With its size in attributes, because some mail programs know no maximum. */
function logoImage({ hash, width, height }: Logo, alt: string, style: string): string {
  const scale = Math.min(1, MAX_LOGO_HEIGHT / height, MAX_LOGO_WIDTH / width)
  const [shownWidth, shownHeight] = [width, height].map((size) =>
    Math.max(1, Math.round(size * scale)),
  )
  const display = style === 'by-night' ? 'display:none;mso-hide:all' : 'display:inline-block'
  const plate = style === 'plate' ? ';padding:6px;margin:-6px;border-radius:8px' : ''
  return `<img class="${style}" src="cid:${contentIdOf(hash)}" width="${shownWidth}" height="${shownHeight}" alt="${alt}" style="${display};border:0${plate}">`
}

const contactLinks = (contacts: readonly Contact[]): string =>
  `<p class="quiet" style="margin:8px 0 0;font-size:13px;line-height:20px;color:#57616a">${contacts
    .map(
      ({ label, url }) =>
        `<a class="quiet" href="${escapeHtml(url)}" style="color:#57616a;text-decoration:underline">${escapeHtml(label)}</a>`,
    )
    .join(' &middot; ')}</p>`

const paragraph = (text: string): string =>
  `<p class="body" style="margin:0 0 14px;color:#333b42;overflow-wrap:anywhere">${escapeHtml(text)}</p>`

/** The code as one word, so that a double click selects all of it. */
const codeBox = (code: string): string =>
  `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:22px 0">
<tr><td class="code" align="center" style="padding:18px 12px;background-color:#f6f7f8;border:1px solid #dfe3e6;border-radius:10px;font-family:${MONO};font-size:34px;line-height:42px;font-weight:600;letter-spacing:7px;text-indent:7px;color:#1c2126;overflow-wrap:anywhere">${escapeHtml(code)}</td></tr>
</table>`

const button = ({ label, url }: Link, { fill, text, edge }: ButtonColors): string =>
  `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:22px 0 16px">
<tr><td class="button" align="center" style="background-color:${fill};border:1px solid ${edge};border-radius:8px"><a class="label" href="${escapeHtml(url)}" style="display:inline-block;padding:12px 22px;font-family:${SANS};font-size:16px;line-height:22px;font-weight:600;color:${text};text-decoration:none">${escapeHtml(label)}</a></td></tr>
</table>`

const spelledOut = ({ url, orOpen }: Link): string =>
  `<p class="quiet" style="margin:0;font-size:13px;line-height:20px;color:#57616a">${escapeHtml(orOpen)}<br><span style="word-break:break-all">${escapeHtml(url)}</span></p>`
