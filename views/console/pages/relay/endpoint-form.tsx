import type { CreatedEndpoint, Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import type { Fields } from '../../../../src/http/body.ts'
import { Button, LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { PageHead } from '../../page-head.tsx'
import { SecretPanel } from '../../secret-panel.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { withoutScheme } from '../../words.ts'
import { Moment, textIn } from './state.tsx'

/** Where events go and which: of a new endpoint, or of one that there is. */
export const EndpointForm = (page: {
  base: string
  endpoint: Endpoint | undefined
  typed: Fields | undefined
  errors: readonly FormError[] | undefined
  errorAt: (name: string) => string | undefined
}) => {
  const { base, endpoint, typed, errorAt } = page
  const list = url(base, '/console/endpoints')
  const own = endpoint && `${list}/${endpoint.id}`
  const of = (name: string) => ({ name, value: textIn(typed, name), error: errorAt(name) })
  return (
    <>
      <PageHead
        title={endpoint ? 'Edit endpoint' : 'New endpoint'}
        state={{
          sentence: endpoint ? (
            <Text text={withoutScheme(endpoint.url)} />
          ) : (
            'A URL that is called with each event it listens to.'
          ),
        }}
      />
      <Form
        action={own ?? list}
        errors={page.errors}
        buttons={
          <>
            <Button weight="primary">{endpoint ? 'Save' : 'Create endpoint'}</Button>
            <LinkButton weight="bare" href={own ?? list}>
              Back
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
          help="Types, or patterns such as order.*, with commas or lines between them. Left empty, all events."
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
          value={textIn(typed, 'format') ?? 'standard'}
          label="Body"
          options={[
            { value: 'standard', label: 'Standard: type, timestamp and data' },
            { value: 'raw', label: 'Raw: the payload alone' },
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
              ? 'One a line. A value that reads ******** stays as it is.'
              : 'One a line, sent along with each call.'
          }
        />
        {!endpoint && (
          <Field
            {...of('secret')}
            // What is wrong comes back, the secret does not: it would stand in the page.
            value={undefined}
            label="Secret"
            isMono
            isRequired={false}
            help="One that the receiver already knows, as whsec_ and base64. Left empty, a new one is made."
          />
        )}
      </Form>
    </>
  )
}

/** The only time that the secret of a new endpoint is shown. */
export const CreatedEndpointPage = (page: { base: string; endpoint: CreatedEndpoint }) => (
  <>
    <PageHead
      title="Endpoint created"
      state={{ tone: 'good', sentence: 'It gets what is sent from now on.' }}
    />
    <SecretPanel
      title="Signing secret"
      secret={page.endpoint.secret}
      doneHref={url(page.base, `/console/endpoints/${page.endpoint.id}`)}
    >
      The receiver checks with it that a call is from here. Save it now: this is the only time that
      it is shown.
    </SecretPanel>
  </>
)

/** The same of one that takes the place of another. */
export const RotatedPage = (page: {
  base: string
  endpoint: Endpoint
  secret: string
  until: string | null
  now: number
}) => (
  <>
    <PageHead
      title="Secret replaced"
      state={{
        tone: 'good',
        sentence:
          page.until === null ? (
            'The one before signs no more.'
          ) : (
            <>
              The one before signs beside it and ends <Moment at={page.until} now={page.now} />.
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
