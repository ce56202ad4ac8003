import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { Exchange, wordsOf } from '../../../../views/ui/exchange.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import { capitalized, shortCount } from '../../../../views/ui/words.ts'
import { MAX_COUNTED, type Waiting } from '../../../engines/relay/queries.ts'
import type { Fields } from '../../../http/body.ts'
import type { TestResult } from '../../../http/delivery-log/model.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, usePage } from '../../page.tsx'
import { GracePeriod } from '../grace-period.tsx'
import { Moment } from './state.tsx'

interface Controlled {
  /** What the page calls it. */
  noun: 'endpoint' | 'webhook'
  active: boolean
  /** Number of held deliveries, if known. */
  held?: number
}

/** Pauses, resumes or deletes an endpoint, or rotates its secret: the page's actions of these names. */
export function EndpointControls(of: Controlled) {
  const { may } = usePage()
  const items = [of.active ? pause(of) : resume(of), rotation()]
  return <DangerZone items={may('delete') ? [...items, deletion(of)] : items} />
}

const pause = ({ noun }: Controlled) => ({
  text: 'Deliveries are held until you resume it.',
  id: 'pause',
  verb: `Pause ${noun}`,
  question: `Pause this ${noun}?`,
  consequence: `Nothing is sent while the ${noun} is paused. Deliveries are held.`,
  action: usePage().actionHref('pause'),
  isHarmless: true,
})

const resume = ({ noun, held = 0 }: Controlled) => ({
  title: `Resume ${noun}`,
  text: held === 0 ? 'Starts sending again.' : `Held deliveries: ${heldWords(held)}.`,
  control: (
    <Confirm
      id="resume"
      verb={`Resume ${noun}`}
      question={`Resume this ${noun}?`}
      consequence={`New ${noun === 'endpoint' ? 'messages' : 'events'} are sent immediately.`}
      action={usePage().actionHref('resume')}
      isHarmless
    >
      <Select
        name="held"
        label="Held deliveries"
        value="drain"
        options={[
          { value: 'drain', label: 'Send now' },
          { value: 'discard', label: 'Discard' },
        ]}
      />
    </Confirm>
  ),
})

/** Rotates the signing secret of what the page shows: the page's action `rotate`. */
export const rotation = () => ({
  title: 'Rotate secret',
  text: 'Creates a new signing secret. Both secrets sign until the old one expires.',
  control: (
    <Confirm
      id="rotate"
      verb="Rotate secret"
      question="Rotate the signing secret?"
      consequence="The new secret is shown once. Update your receiver before the old secret expires."
      action={usePage().actionHref('rotate')}
      isHarmless
    >
      <GracePeriod label="Old secret expires" />
    </Confirm>
  ),
})

const deletion = ({ noun }: Controlled) => ({
  text: "Cancels its queued deliveries. This can't be undone.",
  id: 'delete',
  verb: `Delete ${noun}`,
  question: `Delete this ${noun}?`,
  consequence: 'Its URL receives nothing more. Queued and held deliveries are cancelled.',
  action: usePage().actionHref('delete'),
})

/** What the form of `resume` says of held deliveries. Throws `invalid` for anything else. */
export function heldIn(fields: Fields): 'drain' | 'discard' {
  const held = trimmedText(fields, 'held')
  if (held === 'drain' || held === 'discard') return held
  throw invalid('must be drain or discard', { field: 'held', rule: 'choice' })
}

/** Messages after `resume`, by what happened to held deliveries. */
export const resumed = (noun: Controlled['noun']) => ({
  drain: good(`${capitalized(noun)} resumed. Held deliveries are being sent.`),
  discard: good(`${capitalized(noun)} resumed. Held deliveries were discarded.`),
})

/** Next retry and number of held deliveries of an endpoint. */
export const WaitingWords = ({ waiting }: { waiting: Waiting }) => {
  const { next_attempt_at: next, held } = waiting
  if (next === null && held === 0) return <>None</>
  return (
    <>
      {next !== null && (
        <>
          Retry <Moment at={next} />
        </>
      )}
      {next !== null && held > 0 && ', '}
      {held > 0 && `${heldWords(held)} held`}
    </>
  )
}

/** Number of held deliveries, up to the counting limit. */
export const heldWords = (held: number): string => shortCount(held, MAX_COUNTED)

/** Shows the signing secret of a new endpoint or webhook, once. */
export const CreatedSecret = (of: {
  title: string
  sentence: string
  secret: string
  /** Page of what was created. */
  doneHref: string
}) => (
  <>
    <PageHead title={of.title} state={{ tone: 'good', sentence: of.sentence }} />
    <SecretPanel title="Signing secret" secret={of.secret} doneHref={of.doneHref}>
      Your receiver uses this secret to verify signatures. Copy it now: you won't be able to see it
      again.
    </SecretPanel>
  </>
)

/** Shows the new secret after a rotation, once. */
export const RotatedSecret = (of: { secret: string; until: string | null; doneHref: string }) => (
  <>
    <PageHead
      title="Secret rotated"
      state={{
        tone: 'good',
        sentence:
          of.until === null ? (
            'The old secret has expired.'
          ) : (
            <>
              The old secret expires <Moment at={of.until} />.
            </>
          ),
      }}
    />
    <SecretPanel title="New signing secret" secret={of.secret} doneHref={of.doneHref} />
  </>
)

/** Result of a test event, which is not stored. */
export const TestAnswer = ({ test }: { test: TestResult }) => (
  <Section id="answer" title="Result of the test event" note="Shown once, not stored.">
    <div class="stack">
      <p role="status">
        {test.succeeded ? 'Delivered' : 'Not delivered'}
        {test.response && `: status ${test.response.status}`}
        {test.error && (
          <>
            : <Text text={wordsOf(test.error)} />
          </>
        )}
        {` after ${duration(test.duration_ms)}`}
      </p>
      <Exchange
        request={test.request}
        requestBody={test.request?.body}
        response={test.response}
        error={test.error}
        timings={test.timings}
      />
    </div>
  </Section>
)

/** Form that sends a test event to one endpoint. */
export const TestForm = ({ eventType }: { eventType?: string | undefined }) => (
  <Section id="test" title="Send a test event" isCard>
    <PageForm action="test" buttons={<Button>Send test event</Button>}>
      <Field
        name="event_type"
        label="Event type"
        isMono
        isRequired={false}
        value={eventType}
        placeholder="webhook.test"
        help="Sends the last payload of this type, signed, to this endpoint only."
      />
    </PageForm>
  </Section>
)
