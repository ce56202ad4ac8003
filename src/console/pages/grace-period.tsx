import { Select } from '../../../views/ui/form/choices.tsx'
import type { Fields } from '../../http/body.ts'
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../platform/durations.ts'
import { invalid } from '../../platform/errors.ts'
import { trimmedText } from '../form.ts'

const NAME = 'grace'
const CHOICES = new Map([
  ['day', { label: 'In 1 day', ms: DAY_MS }],
  ['week', { label: 'In 1 week', ms: WEEK_MS }],
  ['hour', { label: 'In 1 hour', ms: HOUR_MS }],
  ['none', { label: 'Immediately', ms: 0 }],
])

/** The choice when a replaced key or secret expires, in the form that replaces it. */
export const GracePeriod = ({ label }: { label: string }) => (
  <Select
    name={NAME}
    label={label}
    value="day"
    options={[...CHOICES].map(([value, choice]) => ({ value, label: choice.label }))}
  />
)

/** The chosen time until then, in milliseconds. Throws `invalid` for what is no choice. */
export function gracePeriodIn(fields: Fields): number {
  const choice = CHOICES.get(trimmedText(fields, NAME))
  if (choice) return choice.ms
  throw invalid('must be none, hour, day or week', { field: NAME, rule: 'choice' })
}
