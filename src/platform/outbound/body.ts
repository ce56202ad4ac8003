import type { IncomingMessage } from 'node:http'

export interface CappedBody {
  body: Uint8Array
  truncated: boolean
}

/**
 * Collects up to `limit` bytes as they came over the wire, still compressed where the target
 * compressed them. Calls `done` once; never when the answer breaks off before its end.
 */
export function collectBody(
  response: IncomingMessage,
  limit: number,
  done: (body: CappedBody) => void,
): void {
  const chunks: Uint8Array[] = []
  let room = limit

  function take(chunk: Uint8Array) {
    chunks.push(chunk.subarray(0, room))
    if (chunk.length > room) finish(true)
    else room -= chunk.length
  }

  const end = () => finish(false)

  function finish(truncated: boolean) {
    response.off('data', take).off('end', end)
    done({ body: new Uint8Array(Buffer.concat(chunks)), truncated })
  }

  response.on('data', take).on('end', end)
}
