import { OUTDATED_SLOT, OutdatedNotice } from '../../../views/console/layout/outdated.tsx'
import { OVER } from '../../../views/console/pages/live-source.tsx'
import { fragmentText } from '../../../views/html.ts'
import { piece } from './changes.ts'
import { createStream, STREAM_HEADERS, type Stream } from './stream.ts'

/** Partial that shows the notice in an open page. */
export const outdatedNotice = (): string =>
  piece(OUTDATED_SLOT, 'innerHTML', fragmentText(OutdatedNotice()))

/** Sends the notice in a stream and tells the browser not to reconnect. */
export function tellOutdated(stream: Stream) {
  stream.send('', outdatedNotice())
  stream.say(OVER)
}

/** A stream that only sends the notice. */
export function outdatedStream(): Response {
  const stream = createStream({ onClose: () => {} })
  tellOutdated(stream)
  stream.close()
  return new Response(stream.body, { headers: STREAM_HEADERS })
}
