import { Exchange, wordsOf } from '../../../../views/ui/exchange.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import type { TestResult } from '../../../http/delivery-log/model.ts'

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
