import { Events } from '../../../../views/ui/events.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { CronJob, Preview } from '../../../engines/clockwork/model.ts'
import { scheduleOf } from '../../../engines/clockwork/schedule/index.ts'
import type { Fields } from '../../../http/body.ts'
import { checkedTimeZone, timeZones, UTC } from '../../../platform/time-zone.ts'
import { checkAll, trimmedText } from '../../form.ts'
import { type PageContext, usePage } from '../../page.tsx'
import { FormPreview, validOr } from '../form-preview.tsx'
import { ExactTime } from './execution.tsx'
import { expressionOf, PRESETS, type Repetition, repetitionOf, STEPS, USUAL } from './presets.ts'

const SHOWN_RUNS = 5

const REPEATS = [
  { value: 'minutes', label: 'Every few minutes' },
  { value: 'hourly', label: 'Hourly' },
  { value: 'daily', label: 'Daily' },
  { value: 'weekdays', label: 'Monday to Friday' },
  { value: 'weekly', label: 'Weekly' },
  { value: 'monthly', label: 'Monthly' },
  { value: 'custom', label: 'Custom (cron expression)' },
]

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const FROM_MONDAY = [1, 2, 3, 4, 5, 6, 0]

/** Fields of a schedule: those of a preset, or a cron expression. The style sheet hides the others. */
export const ScheduleFields = ({ preview }: { preview: Preview | undefined }) => (
  <>
    <div class="schedule fieldrow" id="schedule">
      <Select name="repeat" label="Repeat" options={REPEATS} value="custom" />
      <div class="of-minutes">
        <Select
          name="every"
          label="Minutes between runs"
          options={STEPS.map((value) => ({ value, label: value }))}
        />
      </div>
      <div class="of-weekly">
        <Select
          name="weekday"
          label="Day"
          options={FROM_MONDAY.map((day) => ({ value: `${day}`, label: WEEKDAYS[day] ?? '' }))}
        />
      </div>
      <div class="of-monthly">
        <Field
          name="day"
          label="Day of the month"
          type="number"
          min={1}
          max={31}
          help="Months without this day are skipped."
        />
      </div>
      <div class="of-hourly">
        <Field name="minute" label="Minute of the hour" type="number" min={0} max={59} />
      </div>
      <div class="of-daily">
        <Field name="time" label="Time" type="time" />
      </div>
      <div class="of-custom">
        <Field
          name="schedule"
          label="Cron expression"
          isMono
          placeholder="*/15 * * * *"
          help="Minute, hour, day of month, month, day of week."
        />
      </div>
      <TimeZoneField />
    </div>
    <FormPreview verb="Preview schedule" from={['#schedule', '#field-url']}>
      {preview && <Runs {...preview} />}
    </FormPreview>
  </>
)

/** Suggests the zone of the tenant first. */
export function TimeZoneField() {
  const { zone } = usePage()
  return (
    <Field
      name="time_zone"
      label="Time zone"
      placeholder={UTC}
      choices={[...new Set([zone, ...timeZones()])]}
      help="The schedule follows clocks in this zone, including daylight saving time."
    />
  )
}

const Runs = (preview: Preview) => {
  const { schedule, time_zone, description, warnings, url: target, next_runs: runs } = preview
  const messages = [...warnings, ...(target?.reason ? [target.reason] : [])]
  return (
    <Section id="preview-title" title={`Runs ${description}`} note={<code>{schedule}</code>} isCard>
      <ol class="times">
        {runs.slice(0, SHOWN_RUNS).map((at) => (
          <li>
            <ExactTime at={Date.parse(at)} zone={time_zone} />
          </li>
        ))}
      </ol>
      {messages.length > 0 && (
        <Events
          label="Warnings"
          events={messages.map((text) => ({ tone: 'warn', title: `${capitalized(text)}.` }))}
        />
      )}
    </Section>
  )
}

/** Values of the fields for a schedule; without one, for a new job. */
export function scheduleValues(job?: Pick<CronJob, 'schedule' | 'time_zone'>): Fields {
  const { schedule, time_zone = UTC } = job ?? {}
  const of = schedule === undefined ? USUAL : repetitionOf(schedule)
  return { ...of, schedule: schedule ?? scheduleOfFields({ ...of }), time_zone }
}

/** The cron expression and time zone in a form. Throws `invalid` if one of them is wrong. */
export function scheduleIn(fields: Fields): Pick<CronJob, 'schedule' | 'time_zone'> {
  const zone = trimmedText(fields, 'time_zone') || UTC
  checkAll([() => scheduleOf(scheduleOfFields(fields)), () => checkedTimeZone(zone)])
  return { schedule: scheduleOfFields(fields), time_zone: checkedTimeZone(zone) }
}

function scheduleOfFields(fields: Fields): string {
  const preset = PRESETS.find((one) => one === trimmedText(fields, 'repeat'))
  if (!preset) return trimmedText(fields, 'schedule')
  const parts = Object.keys(USUAL).map((name) => [name, trimmedText(fields, name)])
  return expressionOf({ ...(Object.fromEntries(parts) as Repetition), repeat: preset })
}

/** Preview of the schedule in a form; undefined for a wrong one. */
export function previewOf({ clockwork }: PageContext, fields: Fields): Preview | undefined {
  const target = trimmedText(fields, 'url')
  return validOr(() =>
    clockwork.preview({ ...scheduleIn(fields), ...(target !== '' && { url: target }) }),
  )
}
