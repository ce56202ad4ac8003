import { Select } from '../../../../views/ui/form/choices.tsx'
import { Field, rawText } from '../../../../views/ui/form/field.tsx'
import { FieldRow } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { METHODS, type Method } from '../../../engines/clockwork/request.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { checkAll, type FormFields, trimmedText } from '../../form.ts'
import type { PageContext } from '../../page.tsx'

const MAX_NAME_LENGTH = 255

/** Fields of the forms of jobs, by API name. */
export const JOB_FIELDS: FormFields = {
  name: { name: 'name', label: 'Name' },
  schedule: { name: 'schedule', label: 'Schedule' },
  time_zone: { name: 'time_zone', label: 'Time zone' },
  every: { name: 'every', label: 'Minutes' },
  minute: { name: 'minute', label: 'Minute' },
  time: { name: 'time', label: 'Time' },
  weekday: { name: 'weekday', label: 'Day' },
  day: { name: 'day', label: 'Day' },
  run_at: { name: 'run_at', label: 'Time' },
  url: { name: 'url', label: 'URL' },
  method: { name: 'method', label: 'Method' },
  headers: { name: 'headers', label: 'Headers' },
  body: { name: 'body', label: 'Body' },
  secret_headers: { name: 'secret_headers', label: 'Secret headers' },
  timeout_ms: { name: 'timeout_ms', label: 'Timeout' },
  success_statuses: { name: 'success_statuses', label: 'Success statuses' },
  retry: { name: 'retry', label: 'Retries' },
  max_attempts: { name: 'max_attempts', label: 'Attempts' },
  delays: { name: 'delays', label: 'Delays' },
  initial_seconds: { name: 'initial_seconds', label: 'First delay' },
  factor: { name: 'factor', label: 'Factor' },
  max_seconds: { name: 'max_seconds', label: 'Longest delay' },
  retry_statuses: { name: 'retry_statuses', label: 'Retried statuses' },
  overlap: { name: 'overlap', label: 'Overlap' },
  alert_after: { name: 'alert_after', label: 'Failed runs before an alert' },
  tags: { name: 'tags', label: 'Tags' },
  notes: { name: 'notes', label: 'Notes' },
  deduplication_id: { name: 'deduplication_id', label: 'Deduplication ID' },
}

/** Request fields of both kinds of job. */
export const RequestFields = () => (
  <>
    <FieldRow>
      <Select
        name="method"
        label="Method"
        value="POST"
        options={METHODS.map((value) => ({ value, label: value }))}
      />
      <Field
        name="url"
        label="URL"
        type="url"
        isMono
        isRequired
        placeholder="https://example.com/hook"
      />
    </FieldRow>
    <Textarea
      name="headers"
      label="Headers"
      isMono
      isRequired={false}
      rows={3}
      placeholder="Content-Type: application/json"
      help="One header per line, as Name: value."
    />
    <Textarea name="body" label="Body" isMono isRequired={false} rows={6} help="Sent as is." />
  </>
)

/** The request of a job. Throws `invalid` with every wrong field, because the engine stops at the first. */
export function requestIn(
  { fields, clockwork: { checkCall } }: PageContext,
  /** Checks fields that only this form has. */
  ...checks: (() => unknown)[]
) {
  checkAll([
    () => nameIn(fields),
    ...checks,
    () => methodIn(fields),
    () => checkCall({ url: trimmedText(fields, 'url') }),
    () => checkCall({ headers: headersIn(fields) }),
  ])
  return {
    name: nameIn(fields),
    url: trimmedText(fields, 'url'),
    method: methodIn(fields),
    headers: headersIn(fields),
    body: bodyTextIn(fields) || null,
  }
}

function nameIn(fields: Fields): string {
  const name = trimmedText(fields, 'name')
  if (name !== '' && name.length <= MAX_NAME_LENGTH) return name
  throw invalid(`must have 1 to ${MAX_NAME_LENGTH} characters`, {
    field: 'name',
    rule: name === '' ? 'required' : 'too_long',
  })
}

const methodIn = (fields: Fields): Method =>
  METHODS.find((one) => one === trimmedText(fields, 'method')) ??
  fail(invalid(`must be one of ${METHODS.join(', ')}`, { field: 'method', rule: 'choice' }))

/** Body from a form, with Unix line ends. */
export const bodyTextIn = (fields: Fields): string => asUnix(rawText(fields, 'body') ?? '')

export const asUnix = (text: string): string => text.replaceAll('\r\n', '\n')

/** Headers as text, one per line. */
export const headerLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

export function headersIn(fields: Fields, field = 'headers'): Record<string, string> {
  const entries = new Map<string, string>()
  for (const line of asUnix(rawText(fields, field) ?? '').split('\n')) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    if (colon < 1)
      throw invalid('must have one header per line, such as "X-Token: abc"', {
        field,
        rule: 'format',
      })
    const name = line.slice(0, colon).trim()
    if (entries.has(name))
      throw invalid('must not be set twice', {
        field: `${field}.${name.slice(0, 40)}`,
        rule: 'duplicate',
      })
    entries.set(name, line.slice(colon + 1).trim())
  }
  return Object.fromEntries(entries)
}
