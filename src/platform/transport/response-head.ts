import { notHttp } from './failure.ts'

/** How the end of a body is found (RFC 9112, section 6.3): its length in bytes, its last chunk, or the end of the connection. */
export type Framing = number | 'chunks' | 'close'

/** The head of a response that is valid HTTP/1.1 or 1.0. */
export interface ResponseHead {
  status: number
  /** As received: in order, with repetitions, and names in their case. */
  headers: [name: string, value: string][]
  framing: Framing
  /** Whether the server keeps the connection open after the response. */
  persists: boolean
  /** How long the server keeps an idle connection, by its `Keep-Alive` header. */
  idleMs: number | undefined
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** No control characters, among them CR and LF on their own, which servers and proxies read differently. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Parses a head without its last empty line. Throws `CallFailure` for whatever two readers could read differently. */
export function parseHead(text: string, method: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, digits] = STATUS_LINE.exec(first) ?? []
  if (digits === undefined) throw notHttp('the status line')
  const status = Number(digits)
  const headers = lines.map(parseField)
  const own = ownFields(headers)
  return {
    status,
    headers,
    framing: framingOf(own, isBodiless(status, method)),
    persists: minor === '1' && !hasToken(own.connection, 'close'),
    idleMs: own['keep-alive'].map(idleMsIn).find((ms) => ms !== undefined),
  }
}

/** Parses a header or trailer. Throws `CallFailure` for an invalid one. */
export function parseField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  const value = trimmed(line.slice(colon + 1))
  if (!NAME.test(name) || !VALUE.test(value)) throw notHttp('a header')
  return [name, value]
}

/** Without spaces and tabs around it. `trim` would remove more, and a regular expression would take quadratic time. */
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isBlank = (code: number) => code === 0x20 || code === 0x09

/** The values of the headers of the connection and of framing. */
function ownFields(headers: [string, string][]) {
  const own = {
    connection: [] as string[],
    'keep-alive': [] as string[],
    'content-length': [] as string[],
    'transfer-encoding': [] as string[],
  }
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    if (Object.hasOwn(own, lower)) own[lower as keyof typeof own].push(value)
  }
  return own
}

function framingOf(own: ReturnType<typeof ownFields>, isBodiless: boolean): Framing {
  const { 'content-length': lengths, 'transfer-encoding': encodings } = own
  if (lengths.length + encodings.length > 1) throw notHttp('more than one length of the body')
  if (isBodiless) return 0
  const [length] = lengths
  if (length !== undefined) return lengthIn(length)
  const [encoding] = encodings
  if (encoding === undefined) return 'close'
  const codings = tokensIn(encoding)
  const chunked = codings.indexOf('chunked')
  if (chunked === -1) return 'close'
  if (chunked !== codings.length - 1) throw notHttp('the transfer encoding')
  return 'chunks'
}

function lengthIn(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw notHttp('the length of the body')
}

/** Responses without a body, regardless of headers (RFC 9112, section 6.3). */
const isBodiless = (status: number, method: string) =>
  status < 200 || status === 204 || status === 304 || method === 'HEAD'

const tokensIn = (value: string) =>
  value
    .toLowerCase()
    .split(',')
    .map((token) => token.trim())

const hasToken = (values: string[], token: string) =>
  values.some((value) => tokensIn(value).includes(token))

/** The milliseconds in a value such as `timeout=5, max=100`. */
function idleMsIn(value: string): number | undefined {
  const seconds = /(?:^|[,;\s])timeout\s?=\s?"?(\d{1,9})/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
