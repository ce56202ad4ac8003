import type { Flash } from '../../../../views/console/toast.tsx'
import { flashOf } from '../../flash.ts'

const FLASHES: Readonly<Record<string, Flash>> = {
  saved: { tone: 'good', text: 'Saved. The next attempt goes by it.' },
  paused: { tone: 'quiet', text: 'Paused. What comes for it is held.' },
  resumed: { tone: 'good', text: 'Resumed. What was held is sent now.' },
  discarded: { tone: 'good', text: 'Resumed. What was held is not sent.' },
  deleted: { tone: 'quiet', text: 'Deleted. Nothing is sent there any more.' },
}

/** What has just been done to an endpoint, as the address says it after a form was sent. */
export const endpointFlash = ({ done }: Record<string, string | undefined>) =>
  flashOf(FLASHES, done)
