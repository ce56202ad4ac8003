import type { IncomingMessage } from 'node:http'

export interface CollectedBody {
  body: Uint8Array
  /** Bytes are missing at the end: over the limit, or they never arrived. */
  truncated: boolean
  /** What kept the body from its end, as a sentence. The limit is no trouble. */
  bodyTrouble: string | null
}

/**
 * Collects up to `limit` bytes as they came over the wire, still compressed where the target
 * compressed them. Calls `done` once; an answer that breaks off before its end is left to the
 * caller, who may make do with what has arrived through the function that is returned. An
 * answer is complete with its last announced byte, whatever nonsense follows that.
 */
export function collectBody(
  response: IncomingMessage,
  limit: number,
  done: (body: CollectedBody) => void,
): (trouble: string) => void {
  const kept = keepUpTo(limit)
  let missing = announcedLength(response)
  let isDone = false

  function take(chunk: Uint8Array) {
    missing -= chunk.length
    const isTooMuch = !kept.add(chunk)
    if (isTooMuch || missing <= 0) finish(isTooMuch, null)
  }

  const end = () => finish(false, null)

  function finish(truncated: boolean, bodyTrouble: string | null) {
    if (isDone) return
    isDone = true
    response.off('data', take).off('end', end)
    done({ body: kept.bytes(), truncated, bodyTrouble })
  }

  if (missing === 0) end()
  else response.on('data', take).on('end', end)
  return (trouble) => finish(true, trouble)
}

/**
 * One block that doubles as it fills. A list of chunks would take some hundred times the limit
 * when a target sends them with a byte each.
 */
function keepUpTo(limit: number) {
  let block = new Uint8Array()
  let length = 0

  function reserve(needed: number) {
    if (needed <= block.length) return
    const larger = new Uint8Array(Math.min(Math.max(needed, 2 * block.length), limit))
    larger.set(block.subarray(0, length))
    block = larger
  }

  return {
    /** Keeps what there is room for. False when that was not all of it. */
    add: (chunk: Uint8Array): boolean => {
      const fitting = chunk.subarray(0, limit - length)
      reserve(length + fitting.length)
      block.set(fitting, length)
      length += fitting.length
      return fitting.length === chunk.length
    },
    bytes: () => block.slice(0, length),
  }
}

/** RFC 9112, section 6.3: these two have no body, whatever their headers say. */
const BODILESS = new Set([204, 304])

function announcedLength({ statusCode = 0, headers }: IncomingMessage): number {
  if (BODILESS.has(statusCode)) return 0
  const length = headers['transfer-encoding'] === undefined ? headers['content-length'] : undefined
  return length === undefined ? Number.POSITIVE_INFINITY : Number(length)
}
