import type { CreatedEndpoint, Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Fields } from '../../../../src/http/body.ts'
import { Button, LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { errorAt, rawText } from '../../form/values.ts'
import { PageHead } from '../../page-head.tsx'
import { SecretPanel } from '../../secret-panel.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { withoutScheme } from '../../words.ts'
import { Moment } from './state.tsx'

/** Form for a new or existing endpoint. */
export const EndpointForm = (page: {
  base: string
  endpoint: Endpoint | undefined
  values: Fields | undefined
  errors: readonly FormError[] | undefined
}) => {
  const { base, endpoint, values, errors } = page
  const list = url(base, '/console/endpoints')
  const own = endpoint && `${list}/${endpoint.id}`
  const of = (name: string) => ({
    name,
    value: rawText(values, name),
    error: errorAt(errors, name),
  })
  return (
    <>
      <PageHead
        title={endpoint ? 'Edit endpoint' : 'New endpoint'}
        state={{
          sentence: endpoint ? (
            <Text text={withoutScheme(endpoint.url)} />
          ) : (
            'Receives messages of the event types that it subscribes to.'
          ),
        }}
      />
      <Form
        action={own ?? list}
        errors={page.errors}
        buttons={
          <>
            <Button weight="primary">{endpoint ? 'Save endpoint' : 'Create endpoint'}</Button>
            <LinkButton weight="bare" href={own ?? list}>
              Cancel
            </LinkButton>
          </>
        }
      >
        <Field {...of('url')} label="URL" isMono placeholder="https://example.com/hook" />
        <Field {...of('description')} label="Description" isRequired={false} />
        <Textarea
          {...of('event_types')}
          label="Event types"
          isMono
          isRequired={false}
          rows={2}
          placeholder="order.*, user.created"
          help="Event types or patterns such as order.*, separated by commas or lines. If empty, all event types."
        />
        <Field
          {...of('channels')}
          label="Channels"
          isMono
          isRequired={false}
          help="If empty, the endpoint listens on all channels. Messages without channels are always received."
        />
        <Select
          {...of('format')}
          value={rawText(values, 'format') ?? 'standard'}
          label="Format"
          options={[
            { value: 'standard', label: 'Standard (type, timestamp and data)' },
            { value: 'raw', label: 'Raw (payload only)' },
            { value: 'cloudevents', label: 'CloudEvents' },
          ]}
        />
        <Textarea
          {...of('headers')}
          label="Headers"
          isMono
          isRequired={false}
          rows={3}
          placeholder="X-Team: orders"
          help={
            endpoint
              ? 'One per line. A value of ******** is kept.'
              : 'One per line, sent with every request.'
          }
        />
        {!endpoint && (
          <Field
            {...of('secret')}
            // A rejected secret is not repeated, so that it never appears in a page.
            value={undefined}
            label="Secret"
            isMono
            isRequired={false}
            help="An existing secret of your receiver, as whsec_ and base64. If empty, a new one is created."
          />
        )}
      </Form>
    </>
  )
}

/** Shows the secret of a new endpoint once. */
export const CreatedEndpointPage = (page: { base: string; endpoint: CreatedEndpoint }) => (
  <>
    <PageHead
      title="Endpoint created"
      state={{ tone: 'good', sentence: 'The endpoint receives new messages from now on.' }}
    />
    <SecretPanel
      title="Signing secret"
      secret={page.endpoint.secret}
      doneHref={url(page.base, `/console/endpoints/${page.endpoint.id}`)}
    >
      Your receiver uses this secret to verify signatures. Copy it now: you won't be able to see it
      again.
    </SecretPanel>
  </>
)

/** Shows the new secret after a rotation, once. */
export const RotatedPage = (page: {
  base: string
  endpoint: Endpoint
  secret: string
  until: string | null
  now: number
}) => (
  <>
    <PageHead
      title="Secret rotated"
      state={{
        tone: 'good',
        sentence:
          page.until === null ? (
            'The old secret has expired.'
          ) : (
            <>
              The old secret expires <Moment at={page.until} now={page.now} />.
            </>
          ),
      }}
    />
    <SecretPanel
      title="New signing secret"
      secret={page.secret}
      doneHref={url(page.base, `/console/endpoints/${page.endpoint.id}`)}
    />
  </>
)
