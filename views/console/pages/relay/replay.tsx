import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Fields } from '../../../../src/http/body.ts'
import { Confirm } from '../../confirm.tsx'
import { Button, LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { FieldRow, Form } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { errorAt, rawText } from '../../form/values.ts'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { counted, withoutScheme } from '../../words.ts'

const FIELDS = ['since', 'until', 'which', 'per_second']

/** Replays past messages to an endpoint: counts them first, then sends them. */
export const ReplayPage = (page: {
  base: string
  endpoint: Endpoint
  values: Fields
  errors?: readonly FormError[]
  /** Number of matching messages, once counted. */
  count?: number
}) => {
  const { base, endpoint, values, count, errors } = page
  const own = url(base, `/console/endpoints/${endpoint.id}`)
  const of = (name: string) => ({
    name,
    value: rawText(values, name),
    error: errorAt(errors, name),
  })
  return (
    <>
      <PageHead
        title="Replay messages"
        state={{
          sentence: (
            <>
              Sends past messages to <Text text={withoutScheme(endpoint.url)} limit={80} /> again.
              Count them first.
            </>
          ),
        }}
      />
      {count !== undefined && (
        <Section id="count" title={`${counted(count, 'message')} to send`} isCard>
          {count === 0 ? (
            <p>No messages to replay in this period. Queued deliveries are sent automatically.</p>
          ) : (
            <Confirm
              id="replay"
              verb={`Replay ${counted(count, 'message')}`}
              question={`Send ${counted(count, 'message')} again?`}
              consequence="Each message keeps its ID. Messages are sent at the rate below."
              action={`${own}/replay`}
              fields={Object.fromEntries(FIELDS.map((name) => [name, rawText(values, name) ?? '']))}
              isHarmless
            />
          )}
        </Section>
      )}
      <Section id="which" title="Messages to replay">
        <Form
          action={`${own}/replay`}
          method="get"
          errors={page.errors}
          buttons={
            <>
              <Button weight={count ? 'plain' : 'primary'}>Count messages</Button>
              <LinkButton weight="bare" href={own}>
                Cancel
              </LinkButton>
            </>
          }
        >
          <FieldRow>
            <Field {...of('since')} label="Since" isMono help="With a time zone; Z is UTC." />
            <Field {...of('until')} label="Until" isMono isRequired={false} help="If empty, now." />
          </FieldRow>
          <Select
            {...of('which')}
            label="Messages"
            options={[
              { value: 'undelivered', label: 'Undelivered only' },
              { value: 'all', label: 'All, including delivered' },
            ]}
          />
          <Field
            {...of('per_second')}
            value={rawText(values, 'per_second') || '10'}
            label="Rate"
            type="number"
            min={1}
            max={1000}
            suffix="per second"
          />
        </Form>
      </Section>
    </>
  )
}
