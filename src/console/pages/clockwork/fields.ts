import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { METHODS, type Method } from '../../../engines/clockwork/request.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { asTyped, submitted, typed } from '../../form.ts'

/** Request of a job, from a form. */
export interface CallInForm {
  name: string
  url: string
  method: Method
  headers: Record<string, string>
  body: string | null
}

/** Labels of the fields, by API name. */
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

/** Checks whether a URL is allowed; throws if not. */
export type CheckCall = (call: { url?: string; headers?: Record<string, string> }) => void

/** Reads the request of a job; throws `invalid` with the field's name. */
export const callIn = (fields: Fields): CallInForm => ({
  name: nameIn(fields),
  url: typed(fields, 'url'),
  method: methodIn(fields),
  headers: headersIn(fields),
  body: bodyTextIn(fields) || null,
})

/** Submits a form. Checks all fields first, to report all errors together: the engine stops at the first. */
export async function sent<T>(
  fields: Fields,
  {
    checkCall,
    checks,
    work,
  }: {
    checkCall: CheckCall
    /** Checks of fields that only this form has. */
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

/** Errors of several checks. */
export async function problems(checks: readonly (() => unknown)[]): Promise<FormError[]> {
  const found = await Promise.all(checks.map((check) => submitted(async () => check(), FIELDS)))
  return found.flatMap((one) => inSentences(one).errors ?? [])
}

/** Turns API messages such as `a; b` into two sentences. */
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

/** Adds the label of the field, for the list above the form. */
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

/** Body from a form, with Unix line ends. */
export const bodyTextIn = (fields: Fields): string => asUnix(asTyped(fields, 'body'))

export const asUnix = (text: string): string => text.replaceAll('\r\n', '\n')

/** Headers as text, one per line. */
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
