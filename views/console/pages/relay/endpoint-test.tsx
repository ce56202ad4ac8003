import type { Fields } from '../../../../src/http/body.ts'
import type { TestResult } from '../../../../src/http/delivery-log/model.ts'
import { Exchange, wordsOf } from '../../exchange.tsx'
import { Button } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { duration } from '../../time.tsx'
import { textIn } from './state.tsx'

/** What came of an event that was sent for trying: nothing of it is kept. */
export const TestAnswer = ({ test }: { test: TestResult }) => (
  <Section id="answer" title="Answer to the test event" note="shown once, kept nowhere">
    <div class="stack">
      <p role="status">
        {test.succeeded ? 'It arrived' : 'It did not arrive'}
        {test.response && `: status ${test.response.status}`}
        {test.error && (
          <>
            : <Text text={wordsOf(test.error)} />
          </>
        )}
        , after {duration(test.duration_ms)}.
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

/** One event to one endpoint, to see whether it takes it. */
export const TestForm = (form: {
  action: string
  typed?: Fields
  errors?: readonly FormError[]
}) => (
  <Section id="test" title="Send a test event" isCard>
    <Form action={form.action} errors={form.errors} buttons={<Button>Send test event</Button>}>
      <Field
        name="event_type"
        label="Event type"
        isMono
        isRequired={false}
        value={textIn(form.typed, 'event_type')}
        error={form.errors?.find(({ name }) => name === 'event_type')?.message}
        placeholder="webhook.test"
        help="With the last payload that was seen of that type. It is sent at once, signed like any other, and only here."
      />
    </Form>
  </Section>
)
