import { Button } from '../../../../../views/console/form/button.tsx'
import { Checkboxes } from '../../../../../views/console/form/choices.tsx'
import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { Field } from '../../../../../views/console/form/field.tsx'
import { Form } from '../../../../../views/console/form/form.tsx'
import { checkedValues, errorAt } from '../../../../../views/console/form/values.ts'
import { PageHead } from '../../../../../views/console/page-head.tsx'
import { SecretPanel } from '../../../../../views/console/secret-panel.tsx'
import { url } from '../../../../../views/console/url.ts'
import { EVENT_TYPES, type EventType } from '../../../../engines/gate/webhooks/events.ts'
import type { Fields } from '../../../../http/body.ts'
import { WEBHOOKS } from './state-view.tsx'

/** When each event is sent. */
const WHEN: Record<EventType, string> = {
  'identity.created': 'A user signed up or was created.',
  'identity.deleted': 'A user was deleted.',
  'identity.login': 'A user signed in.',
  'identity.password_changed': 'A password was set or changed.',
  'identity.email_verified': 'A user verified an email address.',
  'identity.state_changed': 'A user was deactivated or activated.',
}

/** Fields of a webhook, with the typed or stored values. */
export const WebhookFields = (fields: {
  values?: Fields
  errors?: readonly FormError[]
  url?: string
  events: readonly EventType[]
}) => {
  const { values, errors } = fields
  const urlValue = values?.url
  const chosen = values ? checkedValues(values, 'events') : fields.events
  return (
    <>
      <Field
        name="url"
        label="URL"
        type="url"
        isMono
        isRequired
        value={typeof urlValue === 'string' ? urlValue : fields.url}
        placeholder="https://example.com/hooks/gatehouse"
        error={errorAt(errors, 'url')}
        help="Receives POST requests with JSON. Responses other than 2xx are retried."
      />
      <Checkboxes
        name="events"
        label="Events"
        values={chosen}
        error={errorAt(errors, 'events')}
        options={EVENT_TYPES.map((type) => ({ value: type, label: type, text: WHEN[type] }))}
      />
    </>
  )
}

/** Form for a new webhook. */
export const NewWebhookPage = (page: {
  base: string
  values?: Fields
  errors?: readonly FormError[]
}) => (
  <>
    <PageHead
      title="New webhook"
      state={{ sentence: 'Each request is signed. The signing secret is shown once.' }}
    />
    <Form
      action={url(page.base, WEBHOOKS)}
      errors={page.errors}
      buttons={<Button weight="primary">Create webhook</Button>}
    >
      <WebhookFields {...page} events={EVENT_TYPES} />
    </Form>
  </>
)

/** Shows a signing secret once. */
export const IssuedSecretPage = (page: {
  base: string
  id: string
  secret: string
  title: string
  intro: string
}) => (
  <>
    <PageHead title={page.title} state={{ tone: 'good', sentence: page.intro }} />
    <SecretPanel
      title="Signing secret"
      secret={page.secret}
      doneHref={url(page.base, `${WEBHOOKS}/${page.id}`)}
    >
      Your app uses this secret to verify signatures. Copy it now: you won't be able to see it
      again.
    </SecretPanel>
  </>
)
