import { Select } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { FieldRow } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Monitor, NewMonitor } from '../../../engines/clockwork/monitors/model.ts'
import type { ExpectedPings } from '../../../engines/clockwork/monitors/monitors.ts'
import type { Fields } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { UTC } from '../../../platform/time-zone.ts'
import { type FormFields, trimmedText } from '../../form.ts'
import { FormPreview } from '../form-preview.tsx'
import { ExactTime } from '../jobs/execution.tsx'
import { TimeZoneField } from '../jobs/schedule-fields.tsx'
import { expectationWords } from './words.ts'

/** Fields of the form, by API name. */
export const MONITOR_FIELDS: FormFields = {
  name: { name: 'name', label: 'Name' },
  period_seconds: { name: 'period', label: 'Period' },
  schedule: { name: 'schedule', label: 'Schedule' },
  time_zone: { name: 'time_zone', label: 'Time zone' },
  grace_seconds: { name: 'grace', label: 'Grace time' },
  tags: { name: 'tags', label: 'Tags' },
  notes: { name: 'notes', label: 'Notes' },
}

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]

const PRESETS = [
  ...[MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 6 * HOUR, 12 * HOUR, DAY, 7 * DAY, 30 * DAY],
]

const EVERY = [
  ...PRESETS.map((seconds) => ({
    value: `${seconds}`,
    label: capitalized(
      expectationWords({ period_seconds: seconds, schedule: null, time_zone: UTC }),
    ),
  })),
  { value: 'period', label: 'Other period' },
  { value: 'schedule', label: 'Cron schedule' },
]

const UNITS = [
  { value: `${MINUTE}`, label: 'Minutes' },
  { value: `${HOUR}`, label: 'Hours' },
  { value: `${DAY}`, label: 'Days' },
]

export const MonitorFields = ({ expected }: { expected: ExpectedPings | undefined }) => (
  <>
    <Field name="name" label="Name" isRequired />
    <div id="expectation">
      <div class="expectation fieldrow">
        <Select name="every" label="Expect a ping" options={EVERY} value={`${DAY}`} />
        <div class="of-period">
          <Field name="period" label="Period" type="number" min={1} />
        </div>
        <div class="of-period">
          <Select name="period_unit" label="Unit of the period" options={UNITS} />
        </div>
        <div class="of-schedule">
          <Field
            name="schedule"
            label="Cron expression"
            isMono
            placeholder="0 3 * * *"
            help="Minute, hour, day of month, month, day of week."
          />
        </div>
        <div class="of-schedule">
          <TimeZoneField />
        </div>
      </div>
      <FieldRow>
        <Field
          name="grace"
          label="Grace time"
          type="number"
          min={1}
          help="How long a ping may be overdue, and how long a run may take."
        />
        <Select name="grace_unit" label="Unit of the grace time" options={UNITS} />
      </FieldRow>
    </div>
    <FormPreview verb="Preview" from={['#expectation']}>
      {expected && <Expected {...expected} />}
    </FormPreview>
    <Field
      name="tags"
      label="Tags"
      isRequired={false}
      placeholder="database production"
      help="Words, separated by spaces."
    />
    <Textarea name="notes" label="Notes" isRequired={false} rows={3} />
  </>
)

const Expected = ({ times, downAt, timeZone }: ExpectedPings) => (
  <Section id="preview-title" title="If a ping arrives now, the next are expected" isCard>
    <ol class="times">
      {times.map((at) => (
        <li>
          <ExactTime at={at} zone={timeZone} />
        </li>
      ))}
    </ol>
    <p class="hint">
      Without the next ping, the monitor is down: <ExactTime at={downAt} zone={timeZone} />
    </p>
  </Section>
)

/** The amount and unit of a duration, in the largest unit that has no rest. */
function amountOf(seconds: number) {
  const unit = [DAY, HOUR].find((one) => seconds % one === 0) ?? MINUTE
  return { amount: `${seconds / unit}`, unit: `${unit}` }
}

/** Values of the form for a monitor; without one, for a new one. */
export function valuesOf(monitor?: Monitor): Fields {
  const { name = '', tags = [], notes = '', schedule = null, grace_seconds = HOUR } = monitor ?? {}
  const { time_zone = UTC } = monitor ?? {}
  const seconds = monitor?.period_seconds ?? DAY
  const [period, grace] = [amountOf(seconds), amountOf(grace_seconds)]
  const preset = PRESETS.includes(seconds) ? `${seconds}` : 'period'
  return {
    ...{ name, tags: tags.join(' '), notes, schedule: schedule ?? '', time_zone },
    ...{ every: schedule === null ? preset : 'schedule' },
    ...{ period: period.amount, period_unit: period.unit },
    ...{ grace: grace.amount, grace_unit: grace.unit },
  }
}

/** The monitor in a form, as far as it decides when pings are expected. Throws `invalid`. */
export function expectationIn(fields: Fields) {
  const every = trimmedText(fields, 'every')
  const grace_seconds = secondsIn(fields, 'grace')
  if (every === 'schedule')
    return {
      schedule: trimmedText(fields, 'schedule'),
      time_zone: trimmedText(fields, 'time_zone') || UTC,
      period_seconds: null,
      grace_seconds,
    }
  const isPreset = PRESETS.some((seconds) => `${seconds}` === every)
  const period_seconds = isPreset ? Number(every) : secondsIn(fields, 'period')
  return { schedule: null, period_seconds, grace_seconds }
}

export const monitorIn = (fields: Fields): NewMonitor => ({
  name: trimmedText(fields, 'name'),
  tags: trimmedText(fields, 'tags')
    .split(/[\s,]+/)
    .filter(Boolean),
  notes: trimmedText(fields, 'notes').replaceAll('\r\n', '\n'),
  ...expectationIn(fields),
})

function secondsIn(fields: Fields, name: 'period' | 'grace'): number {
  const amount = trimmedText(fields, name)
  const unit = UNITS.find(({ value }) => value === trimmedText(fields, `${name}_unit`))
  if (/^[1-9]\d{0,6}$/.test(amount) && unit) return Number(amount) * Number(unit.value)
  throw invalid('must be a whole number of minutes, hours or days', {
    field: `${name}_seconds`,
    rule: 'format',
  })
}
