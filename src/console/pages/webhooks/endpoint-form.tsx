import { Button } from '../../../../views/ui/form/button.tsx'
import { Checkbox, Select } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { withoutScheme } from '../../../../views/ui/words.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import type { Fields } from '../../../http/body.ts'
import { good, page, shown } from '../../page.tsx'
import { CreatedSecret } from './endpoint-controls.tsx'
import { changeIn, fieldsOf, newEndpointIn } from './fields.ts'

const FORM = {
  url: 'url',
  description: 'description',
  event_types: 'event_types',
  channels: 'channels',
  format: 'format',
  headers: 'headers',
  secret: 'secret',
}

/** The form of a new endpoint. Links can preselect the event types. */
export const newEndpoint = page({
  path: '/endpoints/new',
  section: 'endpoints',
  hasEnvironments: true,
  right: 'change',
  title: 'New endpoint',

  load: ({ query }) => ({ initial: { event_types: query.event_types ?? '', active: 'true' } }),

  view: ({ initial }) => <EndpointForm initial={initial} />,

  actions: {
    '': {
      right: 'change',
      form: FORM,
      async run({ relay, caller, environment, fields, href }) {
        const wanted = newEndpointIn(fields)
        const { id, secret } = await relay.endpoints.create(caller('relay', environment), wanted)
        return shown(
          'New endpoint',
          <CreatedSecret
            title="Endpoint created"
            sentence="The endpoint receives new messages from now on."
            secret={secret}
            doneHref={href(`/endpoints/${id}`)}
          />,
        )
      },
    },
  },
})

/** The form of an existing endpoint. */
export const editEndpoint = page({
  path: '/endpoints/:id/edit',
  section: 'endpoints',
  hasEnvironments: true,
  right: 'change',
  title: 'Edit endpoint',

  load: ({ relay, caller, environment, params }) => ({
    endpoint: relay.endpoints.get(caller('relay', environment), params.id),
  }),

  above: ({ endpoint }, { href }) => [
    { label: withoutScheme(endpoint.url), href: href(`/endpoints/${endpoint.id}`) },
  ],

  view: ({ endpoint }) => <EndpointForm endpoint={endpoint} initial={fieldsOf(endpoint)} />,

  actions: {
    '': {
      right: 'change',
      form: FORM,
      flash: good('Endpoint saved. Changes apply to the next attempt.'),
      async run({ relay, caller, environment, params, fields }) {
        await relay.endpoints.update(caller('relay', environment), params.id, changeIn(fields))
        return { to: `/endpoints/${params.id}` }
      },
    },
  },
})

function EndpointForm({ endpoint, initial }: { endpoint?: Endpoint; initial: Fields }) {
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
      <PageForm
        action=""
        initial={initial}
        buttons={<Button weight="primary">{endpoint ? 'Save endpoint' : 'Create endpoint'}</Button>}
        cancel={endpoint ? `/endpoints/${endpoint.id}` : '/endpoints'}
      >
        <Field name="url" label="URL" isMono placeholder="https://example.com/hook" />
        <Field name="description" label="Description" isRequired={false} />
        <Textarea
          name="event_types"
          label="Event types"
          isMono
          isRequired={false}
          rows={2}
          placeholder="order.*, user.created"
          help="Event types or patterns such as order.*, separated by commas or lines. If empty, all event types but the built-in ones, such as job.failed."
        />
        <Field
          name="channels"
          label="Channels"
          isMono
          isRequired={false}
          help="If empty, the endpoint listens on all channels. Messages without channels are always received."
        />
        <Select
          name="format"
          value="standard"
          label="Format"
          options={[
            { value: 'standard', label: 'Standard (type, timestamp and data)' },
            { value: 'raw', label: 'Raw (payload only)' },
            { value: 'cloudevents', label: 'CloudEvents' },
          ]}
        />
        <Textarea
          name="headers"
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
            name="secret"
            isSecret
            label="Secret"
            isMono
            isRequired={false}
            help="An existing secret of your receiver, as whsec_ and base64. If empty, a new one is created."
          />
        )}
        {!endpoint && (
          <Checkbox
            name="active"
            label="Active"
            help="If not selected, messages are held until you resume the endpoint."
          />
        )}
      </PageForm>
    </>
  )
}
