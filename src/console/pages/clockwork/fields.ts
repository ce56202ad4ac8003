import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { METHODS, type Method } from '../../../engines/clockwork/request.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { asTyped, submitted, typed } from '../../form.ts'

/** What both kinds of job call, as a form says it. */
export interface CallInForm {
  name: string
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** The fields by their names, which are the same in the API, and as a page calls them. */
const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  schedule: 'Schedule',
  run_at: 'Time',
  url: 'URL',
  method: 'Method',
  headers: 'Headers',
  body: 'Body',
}

const FIELDS = Object.fromEntries(Object.keys(LABELS).map((name) => [name, name]))

/** Says whether something may be called, by throwing what is wrong with it. */
export type CheckCall = (call: { url?: string; headers?: Record<string, string> }) => void

/** Throws `invalid`, naming the field, for what no job could have. */
export const callIn = (fields: Fields): CallInForm => ({
  name: nameIn(fields),
  url: typed(fields, 'url'),
  method: methodIn(fields),
  headers: headersIn(fields),
  body: bodyTextIn(fields) || null,
})

/**
 * What comes of a form. All of its fields are looked at before anything is done, so that what is wrong
 * with them is told at once: the engine stops at the first.
 */
export async function sent<T>(
  fields: Fields,
  {
    checkCall,
    checks,
    work,
  }: {
    checkCall: CheckCall
    /** Of the fields that only this form has. */
    checks: readonly (() => unknown)[]
    work: () => Promise<T>
  },
): Promise<{ value: T; errors?: undefined } | { value?: undefined; errors: FormError[] }> {
  const errors = await problems([
    () => nameIn(fields),
    ...checks,
    () => methodIn(fields),
    () => checkCall({ url: typed(fields, 'url') }),
    () => checkCall({ headers: headersIn(fields) }),
  ])
  return errors.length > 0 ? { errors } : inSentences(await submitted(work, FIELDS))
}

/** What is wrong with each of some things. */
export async function problems(checks: readonly (() => unknown)[]): Promise<FormError[]> {
  const found = await Promise.all(checks.map((check) => submitted(async () => check(), FIELDS)))
  return found.flatMap((one) => inSentences(one).errors ?? [])
}

/** The API says what is wrong and what would be right in one line; a page has room for two sentences. */
function inSentences<T extends { errors?: FormError[] | undefined }>(outcome: T): T {
  const errors = outcome.errors?.map((error) => ({
    ...error,
    message: withLabel(
      LABELS[error.name ?? ''],
      error.message.replaceAll(/; (\w)/g, (_, first: string) => `. ${first.toUpperCase()}`),
    ),
  }))
  return errors ? { ...outcome, errors } : outcome
}

/** What is wrong is read at its field, and in a list above the form. */
function withLabel(label: string | undefined, message: string): string {
  if (label === undefined || message.startsWith(label)) return message
  return `${label}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`
}

const LONGEST_NAME = 255

function nameIn(fields: Fields): string {
  const name = typed(fields, 'name')
  if (name !== '' && name.length <= LONGEST_NAME) return name
  throw invalid(`name: expected 1 to ${LONGEST_NAME} characters`)
}

const methodIn = (fields: Fields): Method =>
  METHODS.find((one) => one === typed(fields, 'method')) ??
  fail(invalid(`method: choose one of ${METHODS.join(', ')}`))

/** Browsers end the lines of a form in two characters, whatever was typed. */
export const bodyTextIn = (fields: Fields): string => asUnix(asTyped(fields, 'body'))

export const asUnix = (text: string): string => text.replaceAll('\r\n', '\n')

/** Headers as people write them: a line each. */
export const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

function headersIn(fields: Fields): Record<string, string> {
  const entries = new Map<string, string>()
  for (const line of asUnix(asTyped(fields, 'headers')).split('\n')) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    if (colon < 1) throw invalid('headers: expected a line for each, such as "X-Token: abc"')
    const name = line.slice(0, colon).trim()
    if (entries.has(name)) throw invalid(`headers: ${name.slice(0, 40)} is there twice`)
    entries.set(name, line.slice(colon + 1).trim())
  }
  return Object.fromEntries(entries)
}
