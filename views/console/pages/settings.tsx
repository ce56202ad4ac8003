import type { Tenant, TenantStatus } from '../../../src/platform/tenants.ts'
import { CurlBlock } from '../curl-block.tsx'
import { Facts } from '../facts.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'

const STATES: Record<TenantStatus, { tone: Tone; sentence: string }> = {
  active: { tone: 'good', sentence: 'Active: its programs and people are served.' },
  suspended: { tone: 'bad', sentence: 'Suspended for an open bill: nothing new is taken in.' },
  renewal_unpaid: {
    tone: 'bad',
    sentence: 'Suspended for an unpaid renewal: nothing new is taken in.',
  },
}

/** A tenant: what it is called, what it has agreed to, and how programs reach it. */
export const SettingsPage = (page: {
  base: string
  apiUrl: string
  tenant: Tenant
  mayRename: boolean
  maySeeKeys: boolean
  now: number
  /** A name that came back. */
  typedName?: string
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
            ['Id', <Id id={tenant.id} what="tenant id" />],
            [
              'Plan',
              <>
                {tenant.plan} <a href={url(base, '/console/usage')}>Usage</a>
              </>,
            ],
            ['Created', <Time at={Date.parse(tenant.created_at)} now={now} />],
          ]}
        />
      </Section>
      {page.mayRename ? (
        <Section id="name" title="What it is called">
          <Form
            action={url(base, '/console/settings')}
            errors={errors}
            buttons={<Button weight="primary">Rename tenant</Button>}
          >
            <Field
              name="name"
              label="Name"
              isRequired
              value={page.typedName ?? tenant.name}
              error={errors?.find(({ name }) => name === 'name')?.message}
              help="People who sign in read it on the pages and in the messages of your app."
            />
          </Form>
        </Section>
      ) : (
        <p class="hint">Owners can rename it.</p>
      )}
      <Section
        id="programs"
        title="For programs"
        note="A key is of one engine, and is shown with each request."
        aside={
          <>
            {page.maySeeKeys && (
              <LinkButton isSmall href={url(base, '/console/keys')}>
                Keys
              </LinkButton>
            )}
            <LinkButton isSmall href={url(base, '/reference')}>
              API reference
            </LinkButton>
          </>
        }
      >
        <CurlBlock
          title="Read the jobs"
          url={`${apiUrl}/v1/clockwork/jobs`}
          headers={{ Authorization: 'Bearer $CLOCKWORK_KEY' }}
        />
      </Section>
      <Section
        id="events"
        title="The first event"
        note="It goes to each endpoint that takes its type."
      >
        <CurlBlock
          title="Send an event"
          url={`${apiUrl}/v1/relay/messages`}
          headers={{
            Authorization: 'Bearer $RELAY_KEY',
            'Content-Type': 'application/json',
          }}
          body={{ event_type: 'order.paid', payload: { order: 42 } }}
        />
      </Section>
      <Section id="end" title="Deleting it">
        <p>
          A tenant cannot be deleted yet. To end its use, revoke its keys, disable its bots and
          delete its jobs and endpoints.
        </p>
      </Section>
    </>
  )
}
