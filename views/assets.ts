import htmxSse from '../node_modules/htmx.org/dist/ext/hx-sse.min.js' with { type: 'text' }
import htmx from '../node_modules/htmx.org/dist/htmx.min.js' with { type: 'text' }
import consoleJs from './assets/console.js' with { type: 'text' }
import flows from './assets/flows.css' with { type: 'text' }
import css from './assets/gatehouse.css' with { type: 'text' }
import icon from './assets/icon.svg' with { type: 'text' }
import sandbox from './assets/sandbox.css' with { type: 'text' }
import { consoleCss } from './styles.ts'

const CSS = 'text/css; charset=utf-8'
const JAVASCRIPT = 'text/javascript; charset=utf-8'

export interface Asset {
  type: string
  text: string
}

/** Style sheets, scripts and icon, embedded in the executable. */
export const ASSETS: Readonly<Record<string, Asset>> = {
  'gatehouse.css': { type: CSS, text: css },
  'flows.css': { type: CSS, text: flows },
  'sandbox.css': { type: CSS, text: sandbox },
  'console.css': { type: CSS, text: consoleCss },
  'console.js': { type: JAVASCRIPT, text: consoleJs },
  // In one piece: it looks through a page once, and by then has to know its extension.
  'htmx.js': { type: JAVASCRIPT, text: `${htmx}\n${htmxSse}` },
  'icon.svg': { type: 'image/svg+xml', text: icon },
}

const versions = new Map<string, string>()

/** Names the content of an asset, so that browsers can keep it for as long as they like. */
export function versionOf(name: string): string {
  const known = versions.get(name)
  if (known !== undefined) return known
  const version = Bun.hash(ASSETS[name]?.text ?? '').toString(36)
  versions.set(name, version)
  return version
}

/** Address of an asset below `base`, which changes with its content. */
export const assetHref = (base: string, name: keyof typeof ASSETS): string =>
  `${base}/assets/${name}?v=${versionOf(name)}`
