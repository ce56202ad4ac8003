import type { Flash } from '../../../../views/console/toast.tsx'
import { flashOf } from '../../flash.ts'

const FLASHES: Readonly<Record<string, Flash>> = {
  saved: { tone: 'good', text: 'Endpoint saved. Changes apply to the next attempt.' },
  paused: { tone: 'quiet', text: 'Endpoint paused. Deliveries are held.' },
  resumed: { tone: 'good', text: 'Endpoint resumed. Held deliveries are being sent.' },
  discarded: { tone: 'good', text: 'Endpoint resumed. Held deliveries were discarded.' },
  deleted: { tone: 'quiet', text: 'Endpoint deleted.' },
}

/** Message about the last action on an endpoint, from the query string. */
export const endpointFlash = ({ done }: Record<string, string | undefined>) =>
  flashOf(FLASHES, done)
