import { fragmentText } from '../../../views/html.ts'
import { OUTDATED_SLOT, OutdatedNotice, STREAM_END } from '../../../views/layout/live.tsx'
import { partial } from './changes.ts'
import type { Stream } from './stream.ts'

/** Shows the notice in an open page and tells the browser not to reconnect. */
export function sendOutdated(stream: Stream) {
  stream.send('', partial(OUTDATED_SLOT, 'innerHTML', fragmentText(OutdatedNotice())))
  stream.sendEvent(STREAM_END)
}
