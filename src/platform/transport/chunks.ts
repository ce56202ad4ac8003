import { notHttp, tooLargeHead } from './failure.ts'
import { parseField } from './response-head.ts'

/** A size with its extensions. */
const MAX_SIZE_LINE = 4096
const MAX_TRAILER_BYTES = 65_536
const SIZE_LINE = /^([0-9a-f]{1,12})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/i
const LF = 0x0a

/** Decodes a chunked body (RFC 9112, section 7.1). */
export interface ChunkDecoder {
  /** Passes the data in `bytes` to `add`, until it returns false. Returns how many bytes belong to the body. Throws `CallFailure`. */
  take(bytes: Buffer, add: (data: Buffer) => boolean): number
  /** Whether the last chunk and the trailers have been read. */
  isComplete(): boolean
}

export function createChunkDecoder(): ChunkDecoder {
  let state: 'size' | 'data' | 'data end' | 'trailers' | 'complete' = 'size'
  let line = ''
  let missing = 0
  let trailerBytes = 0

  function take(bytes: Buffer, add: (data: Buffer) => boolean): number {
    let at = 0
    while (at < bytes.length && state !== 'complete') {
      if (state === 'data') {
        const data = bytes.subarray(at, at + missing)
        at += data.length
        missing -= data.length
        if (missing === 0) state = 'data end'
        if (!add(data)) return at
      } else at = takeLine(bytes, at)
    }
    return at
  }

  /** Takes bytes up to the end of the line, if it is there. Returns the position after them. */
  function takeLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at)
    const next = end === -1 ? bytes.length : end + 1
    if (line.length + next - at > MAX_TRAILER_BYTES) throw tooLargeHead()
    line += bytes.toString('latin1', at, next)
    if (state === 'size' && line.length > MAX_SIZE_LINE) throw notHttp('the size of a chunk')
    if (end === -1) return next
    if (!line.endsWith('\r\n')) throw notHttp('a line of a chunked body')
    const whole = line.slice(0, -2)
    line = ''
    onLine(whole)
    return next
  }

  function onLine(text: string) {
    if (state === 'size') onSize(text)
    else if (state === 'data end') onDataEnd(text)
    else onTrailer(text)
  }

  function onSize(text: string) {
    const size = SIZE_LINE.exec(text)?.[1]
    if (size === undefined) throw notHttp('the size of a chunk')
    missing = Number.parseInt(size, 16)
    state = missing === 0 ? 'trailers' : 'data'
  }

  function onDataEnd(text: string) {
    if (text !== '') throw notHttp('the end of a chunk')
    state = 'size'
  }

  function onTrailer(text: string) {
    if (text === '') {
      state = 'complete'
      return
    }
    trailerBytes += text.length
    if (trailerBytes > MAX_TRAILER_BYTES) throw tooLargeHead()
    parseField(text)
  }

  return { take, isComplete: () => state === 'complete' }
}
