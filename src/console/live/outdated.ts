import { OUTDATED_SLOT, OutdatedNotice } from '../../../views/console/layout/outdated.tsx'
import { STREAM_END } from '../../../views/console/pages/live-source.tsx'
import { fragmentText } from '../../../views/html.ts'
import { partial } from './changes.ts'
import { createStream, STREAM_HEADERS, type Stream } from './stream.ts'

/** Partial that shows the notice in an open page. */
export const outdatedNotice = (): string =>
  partial(OUTDATED_SLOT, 'innerHTML', fragmentText(OutdatedNotice()))

/** Sends the notice in a stream and tells the browser not to reconnect. */
export function sendOutdated(stream: Stream) {
  stream.send('', outdatedNotice())
  stream.sendEvent(STREAM_END)
}

/** A stream that only sends the notice. */
export function outdatedStream(): Response {
  const stream = createStream({ onClose: () => {} })
  sendOutdated(stream)
  stream.close()
  return new Response(stream.body, { headers: STREAM_HEADERS })
}
