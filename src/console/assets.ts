import htmxSse from '../../node_modules/htmx.org/dist/ext/hx-sse.min.js' with { type: 'text' }
import htmx from '../../node_modules/htmx.org/dist/htmx.min.js' with { type: 'text' }
import consoleCss from '../../views/assets/console.css' with { type: 'text' }
import consoleJs from '../../views/assets/console.js' with { type: 'text' }
import flows from '../../views/assets/flows.css' with { type: 'text' }
import css from '../../views/assets/gatehouse.css' with { type: 'text' }
import icon from '../../views/assets/icon.svg' with { type: 'text' }
import sandbox from '../../views/assets/sandbox.css' with { type: 'text' }

const CSS = 'text/css; charset=utf-8'
const JAVASCRIPT = 'text/javascript; charset=utf-8'

/** Style sheets, scripts and icon, embedded in the executable. */
export const ASSETS: Record<string, { type: string; text: string }> = {
  'gatehouse.css': { type: CSS, text: css },
  'flows.css': { type: CSS, text: flows },
  'sandbox.css': { type: CSS, text: sandbox },
  'console.css': { type: CSS, text: consoleCss },
  'console.js': { type: JAVASCRIPT, text: consoleJs },
  // In one piece: it looks through a page once, and by then has to know its extension.
  'htmx.js': { type: JAVASCRIPT, text: `${htmx}\n${htmxSse}` },
  'icon.svg': { type: 'image/svg+xml', text: icon },
}
