import htmxSse from '../node_modules/htmx.org/dist/ext/hx-sse.min.js' with { type: 'text' }
import htmx from '../node_modules/htmx.org/dist/htmx.min.js' with { type: 'text' }
import consoleJs from './assets/console.js' with { type: 'text' }
import flows from './assets/flows.css' with { type: 'text' }
import css from './assets/gatehouse.css' with { type: 'text' }
import icon from './assets/icon.svg' with { type: 'text' }
import referenceJs from './assets/reference.js' with { type: 'text' }
import sandbox from './assets/sandbox.css' with { type: 'text' }
import { FONT_FILES, fontsCss } from './fonts.ts'
import { consoleCss } from './styles.ts'

const CSS = 'text/css; charset=utf-8'
const JAVASCRIPT = 'text/javascript; charset=utf-8'

export interface Asset {
  type: string
  content: string | Uint8Array<ArrayBuffer>
}

const fonts = Object.entries(FONT_FILES).map(([name, read]): [string, Asset] => [
  name,
  {
    type: 'font/woff2',
    get content() {
      return read()
    },
  },
])

/** Style sheets, scripts, fonts and icon, embedded in the executable. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  ...Object.fromEntries(fonts),
  'fonts.css': {
    type: CSS,
    get content() {
      return fontsCss((file) => `${file}?v=${versionOf(file)}`)
    },
  },
  'gatehouse.css': { type: CSS, content: css },
  'flows.css': { type: CSS, content: flows },
  'sandbox.css': { type: CSS, content: sandbox },
  'console.css': { type: CSS, content: consoleCss },
  'console.js': { type: JAVASCRIPT, content: consoleJs },
  'reference.js': { type: JAVASCRIPT, content: referenceJs },
  // In one piece: it looks through a page once, and by then has to know its extension.
  'htmx.js': { type: JAVASCRIPT, content: `${htmx}\n${htmxSse}` },
  'icon.svg': { type: 'image/svg+xml', content: icon },
}

const versions = new Map<string, string>()

/** Names the content of an asset, so that browsers can keep it for as long as they like. */
export function versionOf(name: string): string {
  const known = versions.get(name)
  if (known !== undefined) return known
  const version = hashOf(ASSETS[name]?.content)
  versions.set(name, version)
  return version
}

function hashOf(content: Asset['content'] = ''): string {
  return Bun.hash(content).toString(36)
}

/** Address of an asset below `base`, which changes with its content. */
export const assetHref = (base: string, name: keyof typeof ASSETS): string =>
  `${base}/assets/${name}?v=${versionOf(name)}`
