import { ticked } from '../../../../../src/console/form.ts'
import { EVENT_TYPES, type EventType } from '../../../../../src/engines/gate/events.ts'
import type { Fields } from '../../../../../src/http/body.ts'
import { Button } from '../../../form/button.tsx'
import { Checkboxes } from '../../../form/choices.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Field } from '../../../form/field.tsx'
import { Form } from '../../../form/form.tsx'
import { PageHead } from '../../../page-head.tsx'
import { SecretPanel } from '../../../secret-panel.tsx'
import { url } from '../../../url.ts'
import { WEBHOOKS } from './state.tsx'

/** What each type is told of. */
const WHEN: Record<EventType, string> = {
  'identity.created': 'Somebody signed up, or was made.',
  'identity.deleted': 'Somebody is gone, with all that was known of them.',
  'identity.login': 'Somebody signed in.',
  'identity.password_changed': 'A password was set or changed.',
  'identity.email_verified': 'Somebody proved that an address is theirs.',
  'identity.state_changed': 'Somebody was deactivated, or activated again.',
}

/** What has been typed, or else what is so already. */
export const WebhookFields = (fields: {
  typed?: Fields
  errors?: readonly FormError[]
  url?: string
  events: readonly EventType[]
}) => {
  const { typed, errors } = fields
  const messageAt = (name: string) => errors?.find((error) => error.name === name)?.message
  const typedUrl = typed?.url
  const chosen = typed ? ticked(typed, 'events') : fields.events
  return (
    <>
      <Field
        name="url"
        label="URL"
        type="url"
        isMono
        isRequired
        value={typeof typedUrl === 'string' ? typedUrl : fields.url}
        placeholder="https://example.com/hooks/gatehouse"
        error={messageAt('url')}
        help="Called by POST with JSON. Anything but a 2xx is tried again."
      />
      <Checkboxes
        name="events"
        label="Events"
        values={chosen}
        error={messageAt('events')}
        options={EVENT_TYPES.map((type) => ({ value: type, label: type, text: WHEN[type] }))}
      />
    </>
  )
}

/** Somebody else who is to be told. */
export const NewWebhookPage = (page: {
  base: string
  typed?: Fields
  errors?: readonly FormError[]
}) => (
  <>
    <PageHead
      title="New webhook"
      state={{ sentence: 'Each call is signed. The secret for that is shown once.' }}
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

/** The only time that a secret is shown. */
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
      Save it now, with the program that checks signatures: this is the only time that it is shown.
    </SecretPanel>
  </>
)
