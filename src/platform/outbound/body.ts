import type { IncomingMessage } from 'node:http'

export interface CappedBody {
  body: Uint8Array
  truncated: boolean
}

/**
 * Collects up to `limit` bytes as they came over the wire, still compressed where the target
 * compressed them. Calls `done` once; never when the answer breaks off before its end. An
 * answer is complete with its last announced byte, whatever nonsense follows that.
 */
export function collectBody(
  response: IncomingMessage,
  limit: number,
  done: (body: CappedBody) => void,
): void {
  const chunks: Uint8Array[] = []
  let room = limit
  let missing = announcedLength(response)
  if (missing === 0) {
    done({ body: new Uint8Array(), truncated: false })
    return
  }

  function take(chunk: Uint8Array) {
    chunks.push(chunk.subarray(0, room))
    missing -= chunk.length
    const isTooMuch = chunk.length > room
    room -= chunk.length
    if (isTooMuch || missing <= 0) finish(isTooMuch)
  }

  const end = () => finish(false)

  function finish(truncated: boolean) {
    response.off('data', take).off('end', end)
    done({ body: new Uint8Array(Buffer.concat(chunks)), truncated })
  }

  response.on('data', take).on('end', end)
}

/** RFC 9112, section 6.3: these two have no body, whatever their headers say. */
const BODILESS = new Set([204, 304])

function announcedLength({ statusCode = 0, headers }: IncomingMessage): number {
  if (BODILESS.has(statusCode)) return 0
  const length = headers['transfer-encoding'] === undefined ? headers['content-length'] : undefined
  return length === undefined ? Number.POSITIVE_INFINITY : Number(length)
}
