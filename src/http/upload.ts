import { fail, invalid } from '../platform/errors.ts'
import { type Fields, MAX_FIELDS, readBytes, requireNoCoding } from './body.ts'
import { FIELDS_PROTOTYPE } from './plain-data.ts'

const UPLOAD_TYPE = /^multipart\/form-data\s*;/i

/** Whether the body is a form with files. */
export const isUpload = ({ headers }: Request): boolean =>
  UPLOAD_TYPE.test((headers.get('content-type') ?? '').trim())

/**
 * The fields of a form with files: each file as its bytes, without the name and type that the client
 * gives it. A file input without a file is left out. Checks bytes (413), coding (415), then syntax (400).
 */
export async function readUpload(request: Request, limit: number): Promise<Fields> {
  const bytes = await readBytes(request, limit)
  requireNoCoding(request.headers)
  const type = request.headers.get('content-type') ?? ''
  const form = await new Response(bytes as BodyInit, { headers: { 'content-type': type } })
    .formData()
    .catch(() => fail(MALFORMED))
  const entries = [...form]
  if (entries.length > MAX_FIELDS)
    throw invalid(`must have at most ${MAX_FIELDS} fields`, { field: 'body', rule: 'too_many' })
  const fields: Fields = Object.create(FIELDS_PROTOTYPE)
  for (const [name, value] of entries) {
    if (typeof value === 'string') fields[name] = value.toWellFormed()
    else if (value.size > 0) fields[name] = await value.bytes()
  }
  return fields
}

const MALFORMED = invalid('must be a form with files', { field: 'body', rule: 'format' })
