import type { Fields } from '../../../../src/http/body.ts'
import type { TestResult } from '../../../../src/http/delivery-log/model.ts'
import { Exchange, wordsOf } from '../../exchange.tsx'
import { Button } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { errorAt, rawText } from '../../form/values.ts'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { duration } from '../../time.tsx'

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
export const TestForm = (form: {
  action: string
  values?: Fields
  errors?: readonly FormError[]
}) => (
  <Section id="test" title="Send a test event" isCard>
    <Form action={form.action} errors={form.errors} buttons={<Button>Send test event</Button>}>
      <Field
        name="event_type"
        label="Event type"
        isMono
        isRequired={false}
        value={rawText(form.values, 'event_type')}
        error={errorAt(form.errors, 'event_type')}
        placeholder="webhook.test"
        help="Sends the last payload of this type, signed, to this endpoint only."
      />
    </Form>
  </Section>
)
