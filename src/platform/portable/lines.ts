import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { AppError, invalid } from '../errors.ts'
import { UNSAFE_IN_LINE } from '../unsafe-characters.ts'
import type { Line } from './codec.ts'
import { MAX_LINE_LENGTH } from './format.ts'

const CHUNK_BYTES = 256 * 1024
const NEWLINE = 10

/** A line of a file, with the size and hash of the file up to it. */
export interface ReadLine {
  /** From 1. */
  number: number
  line: Line
  /** The number of bytes up to the end of the line. */
  read: number
  /** SHA-256 (hexadecimal) without this line; `hash` includes it. Call before reading the next. */
  hashBefore: () => string
  hash: () => string
}

/**
 * Yields the lines of a file as objects. Throws `invalid`, with the line number, if a line is not a
 * JSON object, too long or incomplete.
 */
export function* linesOf(descriptor: number): Generator<ReadLine> {
  const before = createHash('sha256')
  let number = 0
  let read = 0
  for (const bytes of splitAtNewlines(descriptor)) {
    number++
    read += bytes.length
    const line = atLine(number, () => parsed(bytes))
    yield {
      number,
      line,
      read,
      hashBefore: () => before.copy().digest('hex'),
      hash: () => before.copy().update(bytes).digest('hex'),
    }
    before.update(bytes)
  }
}

/** The maximum length in characters of messages, which quote the file. */
const MAX_MESSAGE_LENGTH = 300

/** Adds the line number. Messages quote the file, so terminal control characters are replaced. */
export function atLine<T>(number: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { kind, code, field, problem, fieldErrors } = error
    const first = { ...fieldErrors[0], field: field && harmless(field), problem: harmless(problem) }
    throw new AppError(kind, [first], { code, within: `line ${number}` })
  }
}

const harmless = (text: string): string =>
  text.replaceAll(UNSAFE_IN_LINE, ' ').slice(0, MAX_MESSAGE_LENGTH).toWellFormed()

/** Yields each line with its newline, and the rest after the last newline. */
function* splitAtNewlines(descriptor: number): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let parts: Buffer[] = []
  let held = 0
  let position = 0
  for (;;) {
    const size = readSync(descriptor, chunk, 0, CHUNK_BYTES, position)
    if (size === 0) break
    position += size
    let from = 0
    while (from < size) {
      const newline = chunk.indexOf(NEWLINE, from)
      const isWhole = newline !== -1 && newline < size
      const end = isWhole ? newline + 1 : size
      parts.push(Buffer.from(chunk.subarray(from, end)))
      held += end - from
      from = end
      if (!isWhole && held <= MAX_LINE_LENGTH) continue
      yield Buffer.concat(parts)
      parts = []
      held = 0
    }
  }
  if (held > 0) yield Buffer.concat(parts)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parsed(bytes: Buffer): Line {
  if (bytes.length > MAX_LINE_LENGTH)
    throw invalid(`must have at most ${MAX_LINE_LENGTH} bytes`, { rule: 'too_large' })
  if (bytes[bytes.length - 1] !== NEWLINE)
    throw invalid('the file ends in the middle of this line', { rule: 'damaged' })
  const value = parsedJson(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('must be a JSON object', { rule: 'type' })
  return value as Line
}

/** Parses a line as JSON. The parser also fails if the nesting is too deep. */
function parsedJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw invalid('must be JSON in UTF-8', { rule: 'format' })
  }
}

/** Opens a file that can be read twice. Throws `invalid` if it is not a regular file. */
export function openLines(path: string) {
  const descriptor = openSync(path, 'r')
  const stats = fstatSync(descriptor)
  const close = () => closeSync(descriptor)
  if (!stats.isFile()) {
    close()
    throw invalid(`${path} is not a file`, { rule: 'format' })
  }
  return { bytes: stats.size, lines: () => linesOf(descriptor), [Symbol.dispose]: close }
}
