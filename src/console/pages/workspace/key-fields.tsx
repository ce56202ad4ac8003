import { Select } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { useTimes } from '../../../../views/ui/time.tsx'
import { DAY_MS } from '../../../platform/durations.ts'
import { invalid } from '../../../platform/errors.ts'
import { endOfDay } from '../../../platform/keys/expiry.ts'
import type { ApiKey, Expiry } from '../../../platform/keys/index.ts'
import { trimmedText } from '../../form.ts'
import type { PageContext } from '../../page.tsx'

/** Form fields by the field of the API. */
export const KEY_FIELDS = {
  name: 'name',
  note: 'note',
  expires: 'expires',
  expires_on: 'expires_on',
}

/** Fields with the name and note of a key. */
export const NameAndNote = ({ name, note }: Partial<Pick<ApiKey, 'name' | 'note'>>) => (
  <>
    <Field
      name="name"
      label="Name"
      isRequired
      value={name ?? undefined}
      placeholder="Billing service"
      help="Where the key is used, so that you know what to update when you rotate it."
    />
    <Textarea name="note" label="Note" isRequired={false} rows={2} value={note ?? undefined} />
  </>
)

/** The submitted name. The console requires one; the command line doesn't. */
export function nameIn({ fields }: Pick<PageContext, 'fields'>): string {
  const name = trimmedText(fields, 'name')
  if (name === '') throw invalid('is required', { field: 'name', rule: 'required' })
  return name
}

const LIFETIMES = [
  ['7d', 'In 7 days', 7],
  ['30d', 'In 30 days', 30],
  ['90d', 'In 90 days', 90],
  ['365d', 'In 1 year', 365],
] as const

/** The choice when a key expires. The style sheet shows the date only if it is chosen. */
export const ExpiryField = ({ current }: { current?: string | null }) => (
  <div class="expiry">
    <Select
      name="expires"
      label="Expires"
      value={current ? 'keep' : 'never'}
      options={[
        ...(current ? [{ value: 'keep', label: useTimes().minute(Date.parse(current)) }] : []),
        { value: 'never', label: 'Never' },
        ...LIFETIMES.map(([value, label]) => ({ value, label })),
        { value: 'date', label: 'After a date' },
      ]}
      help="Requests with an expired key fail with 401. The overview warns you a week before."
    />
    <div class="expiry-date">
      <Field
        name="expires_on"
        label="Last day"
        type="date"
        help="The key works until the end of this day."
      />
    </div>
  </div>
)

type Submitted = Pick<PageContext, 'fields' | 'zone'>

/** The chosen expiry: null for never, undefined to keep it. Throws `invalid` for what is no choice. */
export function expiryIn({ fields, zone }: Submitted): Expiry | null | undefined {
  const choice = trimmedText(fields, 'expires')
  if (choice === 'keep') return undefined
  if (choice === 'never') return null
  if (choice === 'date') return lastDayIn({ fields, zone })
  const [, , days] = LIFETIMES.find(([value]) => value === choice) ?? []
  if (days !== undefined) return { afterMs: days * DAY_MS }
  throw invalid('must be one of the choices', { field: 'expires', rule: 'choice' })
}

function lastDayIn({ fields, zone }: Submitted): Expiry {
  const date = trimmedText(fields, 'expires_on')
  if (date !== '') return endOfDay(date, zone)
  throw invalid('is required', { field: 'expires_on', rule: 'required' })
}
