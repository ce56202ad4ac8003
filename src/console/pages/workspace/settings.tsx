import { CurlBlock } from '../../../../views/ui/code.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { TenantStatus } from '../../../platform/tenants.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'

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
export const settingsPage = page({
  path: '/settings',
  section: 'settings',
  right: 'read',
  title: 'Settings',

  load: ({ tenants, tenantId }) => ({ tenant: tenants.find(tenantId) }),

  view({ tenant }) {
    const { href, may, baseUrl, layout } = usePage()
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
                  {capitalized(tenant.plan)} <a href={href('/usage')}>Usage</a>
                </>,
              ],
              ['Created', <Time at={Date.parse(tenant.created_at)} />],
            ]}
          />
        </Section>
        {may('rename') ? (
          <Section id="name" title="Name">
            <PageForm action="" buttons={<Button weight="primary">Rename tenant</Button>}>
              <Field
                name="name"
                label="Name"
                isRequired
                value={tenant.name}
                help="Your users see it on sign-in pages and in emails."
              />
            </PageForm>
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
              {may('keys') && (
                <LinkButton isSmall href={href('/keys')}>
                  API keys
                </LinkButton>
              )}
              <LinkButton isSmall href={`${layout.base()}/reference`}>
                API reference
              </LinkButton>
            </>
          }
        >
          <CurlBlock
            title="List jobs"
            url={`${baseUrl()}/v1/clockwork/jobs`}
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
            url={`${baseUrl()}/v1/relay/messages`}
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
  },

  actions: {
    '': {
      right: 'rename',
      form: { name: 'name' },
      flash: good('Tenant renamed.'),
      async run({ tenants, tenantId, actor, fields }) {
        await tenants.change(actor, tenantId, { name: trimmedText(fields, 'name') })
      },
    },
  },
})
