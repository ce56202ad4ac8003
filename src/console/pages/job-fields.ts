import { METHODS, type Method } from '../../engines/clockwork/request.ts'
import type { Fields } from '../../http/body.ts'
import { fail, invalid } from '../../platform/errors.ts'
import { asTyped, typed } from '../form.ts'

/** What both kinds of job call, as a form says it. */
export interface CallInForm {
  name: string
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** What the API calls a field, and the form. */
export const JOB_FIELDS: Readonly<Record<string, string>> = Object.fromEntries(
  ['name', 'schedule', 'run_at', 'url', 'method', 'headers', 'body'].map((name) => [name, name]),
)

/** Throws `invalid`, naming the field, for what no job could have. */
export function callIn(fields: Fields): CallInForm {
  const name = typed(fields, 'name')
  if (name === '' || name.length > LONGEST_NAME)
    throw invalid(`name: expected 1 to ${LONGEST_NAME} characters`)
  const text = bodyTextIn(fields)
  return {
    name,
    url: typed(fields, 'url'),
    method:
      METHODS.find((one) => one === typed(fields, 'method')) ??
      fail(invalid(`method: choose one of ${METHODS.join(', ')}`)),
    headers: headersIn(asTyped(fields, 'headers')),
    body: text === '' ? null : text,
  }
}

const LONGEST_NAME = 255

/** Browsers end the lines of a form in two characters, whatever was typed. */
export const bodyTextIn = (fields: Fields): string => asUnix(asTyped(fields, 'body'))

export const asUnix = (text: string): string => text.replaceAll('\r\n', '\n')

/** Headers as people write them: a line each. */
export const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

function headersIn(text: string): Record<string, string> {
  const entries = new Map<string, string>()
  for (const line of asUnix(text).split('\n')) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    if (colon < 1) throw invalid('headers: expected a line for each, such as "X-Token: abc"')
    const name = line.slice(0, colon).trim()
    if (entries.has(name)) throw invalid(`headers: ${name.slice(0, 40)} is there twice`)
    entries.set(name, line.slice(colon + 1).trim())
  }
  return Object.fromEntries(entries)
}
