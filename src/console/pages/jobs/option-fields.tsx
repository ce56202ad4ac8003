import { Checkbox, Select } from '../../../../views/ui/form/choices.tsx'
import { Field, rawText } from '../../../../views/ui/form/field.tsx'
import { FieldRow } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import type { Fields } from '../../../http/body.ts'
import { usePage } from '../../page.tsx'

/** The forms of both kinds of job show these options folded, unless one of them is wrong. */
export function OptionFields(form: { initial: Fields; isCron?: boolean; isNew?: boolean }) {
  const { initial, isCron = false, isNew = false } = form
  const { href, submission } = usePage()
  const isOpen = submission?.errors.some(({ name }) => OPTION_NAMES.has(name ?? '')) ?? false
  return (
    <details class="fold options" open={isOpen || undefined}>
      <summary>Options</summary>
      <div class="form">
        <Textarea
          name="secret_headers"
          label="Secret headers"
          isMono
          isSecret
          isRequired={false}
          rows={2}
          value={rawText(initial, 'secret_headers')}
          placeholder="Authorization: Bearer …"
          help="One header per line. Values are encrypted and never shown again. Leave ******** to keep a value."
        />
        <Checkbox
          name="signed"
          label="Sign requests"
          help={
            <>
              By Standard Webhooks, with the{' '}
              <a href={href('/jobs/signing-secret')}>signing secret</a> of your jobs.
            </>
          }
        />
        <Checkbox
          name="reuse_connection"
          label="Reuse connections"
          help="Faster. If the server has just closed the connection, the request is sent again, so it may arrive twice."
        />
        <FieldRow>
          <Field
            name="timeout_ms"
            label="Timeout"
            type="number"
            min={1000}
            max={900_000}
            suffix="ms"
            isRequired={false}
          />
          <Field
            name="success_statuses"
            label="Success statuses"
            placeholder="2xx"
            isRequired={false}
            help="Such as 2xx, 304. Any other status is a failure."
          />
        </FieldRow>
        <RetryFields />
        {isCron && (
          <>
            <Select
              name="overlap"
              label="When a run is still in progress"
              options={[
                { value: 'skip', label: 'Start a second run, skip further ones' },
                { value: 'queue', label: 'Queue one run until it has ended' },
                { value: 'allow', label: 'Start further runs, up to 20' },
              ]}
            />
            <Field
              name="alert_after"
              label="Failed runs before an alert"
              type="number"
              min={1}
              max={100}
              help="In a row. A run fails after its last retry."
            />
          </>
        )}
        <Field
          name="tags"
          label="Tags"
          placeholder="billing, nightly"
          isRequired={false}
          help="Up to 10, separated by commas."
        />
        <Textarea name="notes" label="Notes" rows={3} isRequired={false} />
        {isNew && (
          <Field
            name="deduplication_id"
            label="Deduplication ID"
            isRequired={false}
            help="If a job with this ID exists, it is kept and no other is created."
          />
        )}
      </div>
    </details>
  )
}

/** The style sheet hides the fields that don't belong to the chosen kind of retries. */
const RetryFields = () => (
  <div class="retries fieldrow">
    <Select
      name="retry"
      label="Retries"
      options={[
        { value: 'default', label: 'Default' },
        { value: 'none', label: 'None' },
        { value: 'delays', label: 'After set delays' },
        { value: 'backoff', label: 'Exponential backoff' },
      ]}
    />
    <div class="of-attempts">
      <Field name="max_attempts" label="Attempts" type="number" min={1} max={20} />
    </div>
    <div class="of-delays">
      <Field
        name="delays"
        label="Delays in seconds"
        placeholder="60, 300"
        help="Before each retry. The last one repeats."
      />
    </div>
    <div class="of-backoff">
      <Field name="initial_seconds" label="First delay" type="number" min={1} suffix="s" />
    </div>
    <div class="of-backoff">
      <Field name="factor" label="Factor" type="number" min={1} max={10} />
    </div>
    <div class="of-backoff">
      <Field name="max_seconds" label="Longest delay" type="number" min={1} suffix="s" />
    </div>
    <div class="of-attempts">
      <Field name="retry_statuses" label="Retried statuses" placeholder="5xx, 429" />
    </div>
    <div class="of-attempts">
      <Checkbox name="on_network_error" label="Retry network errors" />
    </div>
  </div>
)

const OPTION_NAMES: ReadonlySet<string> = new Set([
  ...[
    'secret_headers',
    'signed',
    'reuse_connection',
    'timeout_ms',
    'success_statuses',
    'retry',
    'max_attempts',
  ],
  ...['delays', 'initial_seconds', 'factor', 'max_seconds', 'retry_statuses', 'overlap', 'tags'],
  ...['alert_after', 'notes', 'deduplication_id'],
])
