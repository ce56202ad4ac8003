import { AppError, invalid } from '../platform/errors.ts'

/**
 * The JSON body of a request, or null when there is none. Checked in this order: size
 * (413), content type (415), syntax (400). `limit` is in bytes.
 */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  if (request.body === null) return null
  const text = await readText(request, limit)
  if (text === '') return null
  requireJson(request.headers.get('content-type'))
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`body: not valid JSON (${reasonOf(error)})`)
  }
}

/** A declared length lets the runtime read in one piece; without one, each piece counts. */
function readText(request: Request, limit: number): Promise<string> {
  const declared = request.headers.get('content-length')
  if (declared === null) return readCounting(request, limit)
  if (Number(declared) > limit) throw tooLarge(limit)
  return request.text()
}

async function readCounting(request: Request, limit: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of request.body as ReadableStream<Uint8Array>) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const tooLarge = (limit: number) =>
  new AppError('too_large', `body: larger than the limit of ${limit} bytes`)

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/** `+json` types too: JSON Patch and merge patch have their own. */
function requireJson(contentType: string | null) {
  if (contentType !== null && JSON_TYPE.test(contentType.trim())) return
  throw new AppError(
    'unsupported_media_type',
    `Content-Type: expected application/json${contentType ? `, not ${contentType.slice(0, 100)}` : ''}`,
  )
}

const reasonOf = (error: unknown) =>
  error instanceof Error ? error.message.replace(/^JSON Parse error: /, '') : 'unreadable'
