import { OUTDATED_SLOT, OutdatedNotice } from '../../../views/console/frame/outdated.tsx'
import { OVER } from '../../../views/console/pages/live-source.tsx'
import { fragmentText } from '../../../views/html.ts'
import { piece } from './changes.ts'
import { createStream, STREAM_HEADERS, type Stream } from './stream.ts'

/** Tells an open page that it is outdated, and leaves the rest of it as it is. */
export const outdatedNotice = (): string =>
  piece(OUTDATED_SLOT, 'innerHTML', fragmentText(OutdatedNotice()))

/** The same by a stream, after which the page does not come again. */
export function tellOutdated(stream: Stream) {
  stream.send('', outdatedNotice())
  stream.say(OVER)
}

/** A stream that says nothing else. */
export function outdatedStream(): Response {
  const stream = createStream({ onClose: () => {} })
  tellOutdated(stream)
  stream.close()
  return new Response(stream.body, { headers: STREAM_HEADERS })
}
