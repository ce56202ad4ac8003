import { Button } from '../../../../views/ui/form/button.tsx'
import { Radios } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { useTimes } from '../../../../views/ui/time.tsx'
import { parseRunAt } from '../../../engines/clockwork/run-at.ts'
import { isoTime } from '../../../platform/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/durations.ts'
import { momentIn, wallTime } from '../../../platform/time-zone.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { JOB_FIELDS, RequestFields, requestIn } from './fields.tsx'
import { OptionFields } from './option-fields.tsx'
import { deduplicationIn, optionsIn, optionValues } from './options.ts'

interface Choice {
  value: string
  label: string
  at: (now: number, zone: string) => number
}

/** Times to choose instead of typing one. */
const CHOICES: readonly Choice[] = [
  { value: '10m', label: 'In 10 minutes', at: (now) => now + 10 * MINUTE_MS },
  { value: '1h', label: 'In 1 hour', at: (now) => now + HOUR_MS },
  {
    value: 'tomorrow',
    label: 'Tomorrow at 09:00',
    at: (now, zone) => momentIn(`${wallTime(now + DAY_MS, zone).text.slice(0, 10)}T09:00`, zone),
  },
]

/** The form of a new delayed job. */
export const newDelayedJob = page({
  path: '/delayed/new',
  section: 'delayed',
  right: 'change',
  title: 'New delayed job',

  load: () => ({}),

  view() {
    const { now, zone } = usePage()
    const { minute } = useTimes()
    return (
      <>
        <PageHead
          title="New delayed job"
          state={{
            sentence: 'Sends an HTTP request once, at the time that you set. Retries failures.',
          }}
        />
        <PageForm
          action=""
          initial={{ when: '10m', ...optionValues() }}
          buttons={<Button weight="primary">Create delayed job</Button>}
          cancel="/delayed"
        >
          <Field name="name" label="Name" isRequired />
          <div class="runat">
            <Radios
              name="when"
              label="Run"
              value="at"
              options={[
                ...CHOICES.map(({ value, label, at }) => ({
                  value,
                  label,
                  text: minute(at(now, zone)),
                })),
                { value: 'at', label: 'At another time' },
              ]}
            />
            <Field
              name="run_at"
              label={`Time (${zone})`}
              type="datetime-local"
              help={`Current time: ${minute(now).slice('2026-01-01 '.length)}.`}
            />
          </div>
          <RequestFields />
          <OptionFields initial={{}} isNew />
        </PageForm>
      </>
    )
  },

  actions: {
    '': {
      right: 'change',
      form: JOB_FIELDS,
      flash: good('Delayed job created.'),
      /** The audit log records jobs created in the console, but not jobs created with the API. */
      async run(context) {
        const { clockwork, audit, tenantId, actor, caller, now } = context
        const runAt = runAtIn(context)
        const request = requestIn(
          context,
          () => parseRunAt(runAt, now),
          () => optionsIn(context.fields),
        )
        const record = (id: string) =>
          audit.record({
            tenantId,
            actor,
            action: 'delayed_job.created',
            object: `delayed_job:${id}`,
          })
        const options = { ...optionsIn(context.fields), ...deduplicationIn(context.fields) }
        const wanted = { ...request, ...options, run_at: runAt }
        const { id } = await clockwork.delayed.create(caller('clockwork'), wanted, record)
        return { to: `/delayed/${id}` }
      },
    },
  },
})

/** The chosen time, or the one of the form, which has no zone, as the API takes it. */
function runAtIn({ fields, now, zone }: PageContext): string {
  const choice = CHOICES.find(({ value }) => value === trimmedText(fields, 'when'))
  if (choice) return isoTime(choice.at(now, zone))
  const text = trimmedText(fields, 'run_at')
  const [, minute, seconds = ':00'] = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(:\d\d)?$/.exec(text) ?? []
  const at = momentIn(`${minute}${seconds}`, zone)
  return Number.isNaN(at) ? text : isoTime(at)
}
