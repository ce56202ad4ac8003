import flows from '../../views/assets/flows.css' with { type: 'text' }
import css from '../../views/assets/gatehouse.css' with { type: 'text' }
import icon from '../../views/assets/icon.svg' with { type: 'text' }
import sandbox from '../../views/assets/sandbox.css' with { type: 'text' }

/** Style sheets and icon, embedded in the executable. */
export const ASSETS: Record<string, { type: string; text: string }> = {
  'gatehouse.css': { type: 'text/css; charset=utf-8', text: css },
  'flows.css': { type: 'text/css; charset=utf-8', text: flows },
  'sandbox.css': { type: 'text/css; charset=utf-8', text: sandbox },
  'icon.svg': { type: 'image/svg+xml', text: icon },
}
