import { collectUpTo } from './bytes.ts'
import { createChunkDecoder } from './chunks.ts'
import { CallFailure, notHttp, tooLargeHead } from './failure.ts'
import { parseHead, type ResponseHead } from './response-head.ts'

export interface CollectedBody {
  /** As received, without decompressing it. */
  body: Uint8Array
  /** Whether the end of the body is missing, because it exceeds the limit or never arrived. */
  truncated: boolean
  /** Why the body is incomplete, as a sentence; null if it is complete or exceeds the limit. */
  bodyIssue: string | null
}

const MAX_HEAD_BYTES = 65_536

/** Reading more until the deadline would keep the process busy and block all other work. */
const MAX_INTERIM_RESPONSES = 1000

const START = 'HTTP/1.'
const END_OF_HEAD = '\r\n\r\n'

export interface ResponseReader {
  /** Reads the next bytes of the connection. Throws `CallFailure` if they are not HTTP. */
  take(bytes: Buffer): void
  /** The server has closed the connection, which completes a body without a length. */
  end(): void
  /** The body received so far, incomplete because of `issue`. */
  incomplete(issue: string): CollectedBody
  /** Whether a byte of a response has arrived. */
  hasBegun(): boolean
}

/**
 * Reads one response as it arrives. `onHead` gets its head, and `onBody` its body, up to `limit`
 * bytes, once. A response is complete with its last byte, regardless of what follows; `isExact` says
 * that nothing did and nothing is missing.
 */
export function createResponseReader(parts: {
  method: string
  limit: number
  onHead: (head: ResponseHead) => void
  onBody: (body: CollectedBody, isExact: boolean) => void
}): ResponseReader {
  const { method, limit, onHead, onBody } = parts
  let headBytes = collectUpTo(MAX_HEAD_BYTES)
  const kept = collectUpTo(limit)
  const chunks = createChunkDecoder()
  let head: ResponseHead | undefined
  let missing = 0
  let interim = 0
  let hasBegun = false
  let isDone = false

  function take(bytes: Buffer) {
    hasBegun = true
    let rest = bytes
    while (!head && rest.length > 0) rest = takeHead(rest)
    if (head && !isDone) takeBody(head, rest)
  }

  /** Returns the bytes after the head; none as long as it is incomplete. */
  function takeHead(bytes: Buffer): Buffer {
    const before = headBytes.length()
    const hasFit = headBytes.add(bytes)
    const view = headBytes.view()
    if (before < START.length) checkStart(view)
    const end = view.indexOf(END_OF_HEAD, Math.max(before - END_OF_HEAD.length + 1, 0), 'latin1')
    if (end === -1) {
      if (!hasFit) throw tooLargeHead()
      return bytes.subarray(bytes.length)
    }
    onWholeHead(parseHead(view.toString('latin1', 0, end), method))
    headBytes = collectUpTo(MAX_HEAD_BYTES)
    return bytes.subarray(end + END_OF_HEAD.length - before)
  }

  function onWholeHead(parsed: ResponseHead) {
    if (parsed.status === 101) throw new CallFailure('protocol', 'the server switched protocols')
    if (parsed.status < 200) {
      if (++interim <= MAX_INTERIM_RESPONSES) return
      throw new CallFailure('protocol', 'the server sends too many interim responses')
    }
    head = parsed
    missing = typeof parsed.framing === 'number' ? parsed.framing : 0
    onHead(parsed)
  }

  function takeBody({ framing }: ResponseHead, bytes: Buffer) {
    if (framing === 'chunks') takeChunks(bytes)
    else if (framing === 'close') keep(bytes)
    else {
      const part = bytes.length <= missing ? bytes : bytes.subarray(0, missing)
      missing -= part.length
      if (keep(part) && missing === 0) finish(part.length === bytes.length)
    }
  }

  function takeChunks(bytes: Buffer) {
    const used = chunks.take(bytes, keep)
    if (!isDone && chunks.isComplete()) finish(used === bytes.length)
  }

  /** Keeps the bytes; false if they exceed the limit, which ends the response. */
  function keep(bytes: Buffer): boolean {
    if (kept.add(bytes)) return true
    isDone = true
    onBody({ body: kept.copy(), truncated: true, bodyIssue: null }, false)
    return false
  }

  function finish(isExact: boolean) {
    isDone = true
    onBody({ body: kept.copy(), truncated: false, bodyIssue: null }, isExact)
  }

  return {
    take,
    end: () => {
      if (head?.framing === 'close' && !isDone) finish(false)
    },
    incomplete: (bodyIssue) => ({ body: kept.copy(), truncated: true, bodyIssue }),
    hasBegun: () => hasBegun,
  }
}

/** Refuses another protocol at its first bytes, because its server may wait for ours. */
function checkStart(bytes: Buffer) {
  const start = bytes.toString('latin1', 0, START.length)
  if (!START.startsWith(start)) throw notHttp('the status line')
}
