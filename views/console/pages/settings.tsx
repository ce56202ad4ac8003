import type { Tenant, TenantStatus } from '../../../src/platform/tenants.ts'
import { CurlBlock } from '../curl-block.tsx'
import { Facts } from '../facts.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { errorAt } from '../form/values.ts'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'
import { capitalized } from '../words.ts'

const STATES: Record<TenantStatus, { tone: Tone; sentence: string }> = {
  active: { tone: 'good', sentence: 'Active' },
  suspended: {
    tone: 'bad',
    sentence: "Suspended because of an unpaid bill. You can't create anything new.",
  },
  renewal_unpaid: {
    tone: 'bad',
    sentence: "Suspended because of an unpaid renewal. You can't create anything new.",
  },
}

/** Settings of a tenant: name, plan and API examples. */
export const SettingsPage = (page: {
  base: string
  apiUrl: string
  tenant: Tenant
  mayRename: boolean
  maySeeKeys: boolean
  now: number
  /** Rejected name, as typed. */
  nameValue?: string
  errors?: readonly FormError[]
}) => {
  const { base, apiUrl, tenant, errors, now } = page
  return (
    <>
      <PageHead title="Settings" state={STATES[tenant.status]} />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Name', <Text text={tenant.name} limit={64} />],
            ['ID', <Id id={tenant.id} what="tenant ID" />],
            [
              'Plan',
              <>
                {capitalized(tenant.plan)} <a href={url(base, '/console/usage')}>Usage</a>
              </>,
            ],
            ['Created', <Time at={Date.parse(tenant.created_at)} now={now} />],
          ]}
        />
      </Section>
      {page.mayRename ? (
        <Section id="name" title="Name">
          <Form
            action={url(base, '/console/settings')}
            errors={errors}
            buttons={<Button weight="primary">Rename tenant</Button>}
          >
            <Field
              name="name"
              label="Name"
              isRequired
              value={page.nameValue ?? tenant.name}
              error={errorAt(errors, 'name')}
              help="Your users see it on sign-in pages and in emails."
            />
          </Form>
        </Section>
      ) : (
        <p class="hint">Only owners can rename the tenant.</p>
      )}
      <Section
        id="programs"
        title="API"
        note="Each API key works with one engine. Send it with every request."
        aside={
          <>
            {page.maySeeKeys && (
              <LinkButton isSmall href={url(base, '/console/keys')}>
                API keys
              </LinkButton>
            )}
            <LinkButton isSmall href={url(base, '/reference')}>
              API reference
            </LinkButton>
          </>
        }
      >
        <CurlBlock
          title="List jobs"
          url={`${apiUrl}/v1/clockwork/jobs`}
          headers={{ Authorization: 'Bearer $CLOCKWORK_KEY' }}
        />
      </Section>
      <Section
        id="events"
        title="Send your first message"
        note="Gatehouse delivers it to every endpoint that subscribes to its event type."
      >
        <CurlBlock
          title="Send a message"
          url={`${apiUrl}/v1/relay/messages`}
          headers={{ Authorization: 'Bearer $RELAY_KEY', 'Content-Type': 'application/json' }}
          body={{ event_type: 'order.paid', payload: { order: 42 } }}
        />
      </Section>
      <Section id="end" title="Delete tenant">
        <p>
          You can't delete a tenant yet. To stop using it, revoke its API keys, disable its bots,
          and delete its jobs and endpoints.
        </p>
      </Section>
    </>
  )
}
