import { AppError, fail, invalid } from '../platform/errors.ts'
import { isDeeperThan } from '../platform/json-text.ts'
import { FIELDS_PROTOTYPE, makeQuotable } from './plain-data.ts'

/** Levels of objects and lists. Real requests never come close, and deep ones are expensive. */
const MAX_DEPTH = 64

/** Empty without a body. Checks in order: bytes (413), type and encoding (415), text (400). */
export async function readText(request: Request, limit: number): Promise<string> {
  const bytes = await readBytes(request, limit)
  if (bytes.byteLength === 0) return ''
  requireJson(request.headers)
  return decode(bytes)
}

/**
 * The fields of a form: `application/x-www-form-urlencoded` or a JSON object. A dot in a name leads
 * into an object: `traits.email`. A name that ends in `[]` is a list of all its values, even of a
 * single one: `scopes[]`. For any other repeated name, the last value counts. Checks in the order
 * of `readText`.
 */
export const readFields = async (request: Request, limit: number): Promise<Fields> =>
  (await readForm(request, limit))()

/** The same with the parsing left to the caller, which can wait for its turn before. */
export async function readForm(request: Request, limit: number): Promise<() => Fields> {
  if (!isForm(request.headers)) {
    const text = await readText(request, limit)
    return () => asFields(parseJson(text))
  }
  const bytes = await readBytes(request, limit)
  requireNoCoding(request.headers)
  return () => fieldsIn(new URLSearchParams(decode(bytes)))
}

export type Fields = Record<string, unknown>

function asFields(body: unknown): Fields {
  if (body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body))
    throw invalid('must be a JSON object', { field: 'body', rule: 'type' })
  return body as Fields
}

/** Far more than any form of Gatehouse has. */
export const MAX_FIELDS = 200

function fieldsIn(params: URLSearchParams): Fields {
  if (params.size > MAX_FIELDS)
    throw invalid(`must have at most ${MAX_FIELDS} fields`, { field: 'body', rule: 'too_many' })
  const fields: Fields = Object.create(FIELDS_PROTOTYPE)
  for (const [name, value] of params) {
    const [first = '', ...rest] = name.split('.')
    if (rest.length === 0) put(fields, first, value)
    else put(objectIn(fields, first), rest.join('.'), value)
  }
  return fields
}

const LIST = '[]'

function put(fields: Fields, name: string, value: string) {
  if (!name.endsWith(LIST)) {
    fields[name] = value
    return
  }
  const list = name.slice(0, -LIST.length)
  const known = fields[list]
  fields[list] = Array.isArray(known) ? [...known, value] : [value]
}

/** The object in a field, created if needed. */
function objectIn(fields: Fields, name: string): Fields {
  const known = fields[name]
  if (typeof known === 'object' && known !== null && !Array.isArray(known)) return known as Fields
  const made: Fields = Object.create(FIELDS_PROTOTYPE)
  fields[name] = made
  return made
}

/** Parses the text of a body; null if it is empty. Invalid syntax is a 400. */
export function parseJson(text: string): unknown {
  if (text === '') return null
  // Checked before parsing, so that rejecting a million brackets is fast.
  if (isDeeperThan(text, MAX_DEPTH))
    throw invalid(`must not be nested deeper than ${MAX_DEPTH} levels`, {
      field: 'body',
      rule: 'too_deep',
    })
  const body = parse(text)
  const hasEscapes = text.includes('\\u')
  if (hasEscapes) requireText(body)
  if (hasEscapes || text.includes('toString')) makeQuotable(body)
  return body
}

/** Reads a declared length in one piece; otherwise counts every chunk. `limit` is in bytes. */
export function readBytes(request: Request, limit: number): Promise<Uint8Array | ArrayBuffer> {
  const declared = request.headers.get('content-length')
  if (declared === null) return readCounting(request, limit)
  if (Number(declared) > limit) throw tooLarge(limit)
  return request.arrayBuffer().catch(() => fail(BROKEN_OFF))
}

async function readCounting(request: Request, limit: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of piecesOf(request)) {
    size += piece.byteLength
    if (size > limit) throw tooLarge(limit)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function* piecesOf({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body === null) return
  try {
    yield* body
  } catch {
    throw BROKEN_OFF
  }
}

const BROKEN_OFF = invalid('ended before it was complete', { field: 'body', rule: 'damaged' })

const tooLarge = (limit: number) =>
  new AppError('too_large', `must be at most ${limit} bytes`, { field: 'body', rule: 'too_large' })

const unsupported = (field: string, problem: string) =>
  new AppError('unsupported_media_type', problem, { field, rule: 'not_allowed' })

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** Accepts `+json` types, because JSON Patch and merge patch have their own. */
function requireJson(headers: Headers) {
  const type = headers.get('content-type')
  if (type === null || !JSON_TYPE.test(type.trim()))
    throw unsupported(
      'Content-Type',
      `must be application/json${type ? `, not ${type.slice(0, 100)}` : ''}`,
    )
  requireNoCoding(headers)
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i

const isForm = (headers: Headers): boolean =>
  FORM_TYPE.test((headers.get('content-type') ?? '').trim())

export function requireNoCoding(headers: Headers) {
  const coding = headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity')
    throw unsupported('Content-Encoding', `must not be set, unlike ${coding.slice(0, 100)}`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes strict UTF-8, because anything else would not be stored as sent. */
function decode(bytes: Uint8Array | ArrayBuffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalid('must be UTF-8', { field: 'body', rule: 'characters' })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`must be JSON (${reasonOf(error)})`, { field: 'body', rule: 'format' })
  }
}

const reasonOf = (error: unknown) =>
  error instanceof Error ? error.message.replace(/^JSON Parse error: /, '') : 'unreadable'

/** Rejects a lone surrogate, which is not text although JSON can express it with an escape. */
function requireText(value: unknown) {
  if (typeof value === 'string') requireWellFormed(value)
  else if (Array.isArray(value)) for (const item of value) requireText(item)
  else if (typeof value === 'object' && value !== null) {
    for (const name in value) {
      requireWellFormed(name)
      requireText(value[name as keyof typeof value])
    }
  }
}

function requireWellFormed(text: string) {
  if (!text.isWellFormed())
    throw invalid('must not contain half a surrogate pair (\\ud800 to \\udfff)', {
      field: 'body',
      rule: 'characters',
    })
}
