import type { IncomingMessage } from 'node:http'

export interface CollectedBody {
  body: Uint8Array
  /** Whether the end of the body is missing, because it exceeds the limit or never arrived. */
  truncated: boolean
  /** Why the body is incomplete, as a sentence; null if it is complete or exceeds the limit. */
  bodyIssue: string | null
}

/**
 * Collects up to `limit` bytes of the body as received, without decompressing them, and calls
 * `done` once. Returns a function with which the caller can accept the bytes received so far if the
 * response breaks off. A response is complete with the last announced byte, regardless of what
 * follows.
 */
export function collectBody(
  response: IncomingMessage,
  limit: number,
  done: (body: CollectedBody) => void,
): (issue: string) => void {
  const kept = keepUpTo(limit)
  let missing = announcedLength(response)
  let isDone = false

  function take(chunk: Uint8Array) {
    missing -= chunk.length
    const isTooMuch = !kept.add(chunk)
    if (isTooMuch || missing <= 0) finish(isTooMuch, null)
  }

  const end = () => finish(false, null)

  function finish(truncated: boolean, bodyIssue: string | null) {
    if (isDone) return
    isDone = true
    response.off('data', take).off('end', end)
    done({ body: kept.bytes(), truncated, bodyIssue })
  }

  if (missing === 0) end()
  else response.on('data', take).on('end', end)
  return (issue) => finish(true, issue)
}

/** One doubling block, because a list of single-byte chunks could take 100 times the limit. */
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
    /** Adds the bytes that fit; false if some didn't. */
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

/** Statuses without a body, regardless of headers (RFC 9112, section 6.3). */
const BODILESS = new Set([204, 304])

function announcedLength({ statusCode = 0, headers }: IncomingMessage): number {
  if (BODILESS.has(statusCode)) return 0
  const length = headers['transfer-encoding'] === undefined ? headers['content-length'] : undefined
  return length === undefined ? Number.POSITIVE_INFINITY : Number(length)
}
