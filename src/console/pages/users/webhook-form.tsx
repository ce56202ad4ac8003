import { Button } from '../../../../views/ui/form/button.tsx'
import { Checkboxes } from '../../../../views/ui/form/choices.tsx'
import { checkedValues, Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { EVENT_TYPES, type EventType } from '../../../engines/gate/webhooks/events.ts'
import type { Fields } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { page, shown } from '../../page.tsx'
import { CreatedSecret } from '../webhooks/endpoint-controls.tsx'

export const WEBHOOK_FORM = { url: 'url', events: 'events' }

/** When each event is sent. */
const WHEN: Record<EventType, string> = {
  'identity.created': 'A user signed up or was created.',
  'identity.deleted': 'A user was deleted.',
  'identity.login': 'A user signed in.',
  'identity.password_changed': 'A password was set or changed.',
  'identity.email_verified': 'A user verified an email address.',
  'identity.state_changed': 'A user was deactivated or activated.',
}

/** The form of a new webhook. */
export const newWebhook = page({
  path: '/webhooks/new',
  section: 'webhooks',
  right: 'change',
  title: 'New webhook',
  load: () => ({}),

  view: () => (
    <>
      <PageHead
        title="New webhook"
        state={{ sentence: 'Each request is signed. The signing secret is shown once.' }}
      />
      <PageForm
        action=""
        buttons={<Button weight="primary">Create webhook</Button>}
        cancel="/webhooks"
      >
        <WebhookFields events={EVENT_TYPES} />
      </PageForm>
    </>
  ),

  actions: {
    '': {
      right: 'change',
      form: WEBHOOK_FORM,
      async run({ gate, caller, fields, href }) {
        const { id, secret } = await gate.webhooks.create(caller('gate', 'live'), webhookIn(fields))
        return shown(
          'Webhook created',
          <CreatedSecret
            title="Webhook created"
            sentence="The webhook receives new events from now on."
            secret={secret}
            doneHref={href(`/webhooks/${id}`)}
          />,
        )
      },
    },
  },
})

/** Reads a webhook from a form; throws `invalid` with the field's name. */
export function webhookIn(fields: Fields): { url: string; events: EventType[] } {
  const checked = checkedValues(fields, 'events')
  const events = EVENT_TYPES.filter((type) => checked.includes(type))
  if (events.length === 0)
    throw invalid('must name at least one event', { field: 'events', rule: 'required' })
  const url = trimmedText(fields, 'url')
  if (url === '') throw invalid('must be an http or https URL', { field: 'url', rule: 'format' })
  return { url, events }
}

export const WebhookFields = ({ url, events }: { url?: string; events: readonly EventType[] }) => (
  <>
    <Field
      name="url"
      label="URL"
      type="url"
      isMono
      isRequired
      value={url}
      placeholder="https://example.com/hook"
      help="Receives POST requests with JSON. Responses other than 2xx are retried."
    />
    <Checkboxes
      name="events"
      label="Events"
      values={events}
      options={EVENT_TYPES.map((type) => ({ value: type, label: type, text: WHEN[type] }))}
    />
  </>
)
