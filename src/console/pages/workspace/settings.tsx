import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time, useTimes } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import { checkedName, type Tenant, type TenantStatus } from '../../../platform/tenants.ts'
import { checkedTimeZone, timeZones } from '../../../platform/time-zone.ts'
import { checkAll, trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { ChecklistSetting } from '../home/checklist.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

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

/** General settings of a tenant: its name and time zone. */
export const settingsPage = page({
  path: '/settings',
  section: 'settings',
  right: 'read',
  title: 'Settings',

  load: ({ tenants, tenantId }) => ({ tenant: tenants.find(tenantId) }),

  view({ tenant }) {
    const { may } = usePage()
    return (
      <>
        <PageHead title="Settings" state={STATES[tenant.status]} />
        <SettingsTabs current="general" />
        {tenant.status !== 'active' && <HowToResume tenant={tenant} />}
        <Section id="about" title="About" isCard>
          <About tenant={tenant} />
        </Section>
        {may('settings') ? (
          <Section id="profile" title="Profile">
            <Profile tenant={tenant} />
          </Section>
        ) : (
          <p class="hint">Only owners can change these settings.</p>
        )}
        <ChecklistSetting />
      </>
    )
  },

  actions: {
    '': {
      right: 'settings',
      form: { name: 'name', time_zone: 'time_zone' },
      flash: good('Settings saved.'),
      async run({ tenants, tenantId, actor, fields }) {
        const name = trimmedText(fields, 'name')
        const timeZone = trimmedText(fields, 'time_zone')
        checkAll([() => checkedName(name), () => checkedTimeZone(timeZone)])
        await tenants.change(actor, tenantId, { name, timeZone })
      },
    },
  },
})

/** Who resumes a suspended tenant. */
function HowToResume({ tenant }: { tenant: Tenant }) {
  const { operator, href } = usePage()
  return (
    <Section id="suspended" title="Resume this tenant" isCard>
      {operator.isAdmin ? (
        <>
          <p class="hint">Resume it once the bill is paid. Everything works again immediately.</p>
          <div class="actions">
            <LinkButton href={`${href(`/tenants/${tenant.id}`)}#danger`}>Open tenant</LinkButton>
          </div>
        </>
      ) : (
        <p class="hint">
          Pay the open bill, then ask an admin of the installation to resume the tenant. Everything
          works again immediately.
        </p>
      )}
    </Section>
  )
}

function About({ tenant }: { tenant: Tenant }) {
  const { href, may } = usePage()
  const facts: Fact[] = [
    ['ID', <Id id={tenant.id} what="tenant ID" />],
    [
      'Plan',
      <>
        {capitalized(tenant.plan)} · <a href={href('/usage')}>View usage</a>
      </>,
    ],
    ['Created', <Time at={Date.parse(tenant.created_at)} />],
  ]
  if (may('settings')) return <Facts facts={facts} />
  return (
    <Facts
      facts={[
        ['Name', <Text text={tenant.name} limit={64} />],
        ...facts,
        ['Time zone', tenant.time_zone],
      ]}
    />
  )
}

function Profile({ tenant }: { tenant: Tenant }) {
  const { now } = usePage()
  return (
    <PageForm action="" buttons={<Button weight="primary">Save settings</Button>}>
      <Field
        name="name"
        label="Name"
        isRequired
        value={tenant.name}
        help="Your users see it on sign-in pages and in emails."
      />
      <Field
        name="time_zone"
        label="Time zone"
        isRequired
        value={tenant.time_zone}
        choices={timeZones()}
        help={`For all times in the console, where it is now ${useTimes().minute(now)}. Jobs have a time zone of their own, and months of billing are in UTC.`}
      />
    </PageForm>
  )
}
