import { Cards } from '../../../../views/console/cards.tsx'
import { ExecutionStrip, type StripRun } from '../../../../views/console/charts/execution-strip.tsx'
import { Meter } from '../../../../views/console/charts/meter.tsx'
import { Sparkline } from '../../../../views/console/charts/sparkline.tsx'
import { Confirm, DangerZone } from '../../../../views/console/confirm.tsx'
import { CurlBlock } from '../../../../views/console/curl-block.tsx'
import { EmptyState } from '../../../../views/console/empty-state.tsx'
import { AllQuiet } from '../../../../views/console/events.tsx'
import { Facts } from '../../../../views/console/facts.tsx'
import { Button, LinkButton } from '../../../../views/console/form/button.tsx'
import { Checkbox, Checkboxes, Radios } from '../../../../views/console/form/choices.tsx'
import { Field } from '../../../../views/console/form/field.tsx'
import { FieldRow, Form } from '../../../../views/console/form/form.tsx'
import { Select } from '../../../../views/console/form/select.tsx'
import { Textarea } from '../../../../views/console/form/textarea.tsx'
import { BodyView, JsonView } from '../../../../views/console/json-view.tsx'
import { SearchPage } from '../../../../views/console/layout/palette.tsx'
import { PlainLayout } from '../../../../views/console/layout/plain-layout.tsx'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { SecretPanel } from '../../../../views/console/secret-panel.tsx'
import { Section } from '../../../../views/console/section.tsx'
import { StatusBadge } from '../../../../views/console/status-badge.tsx'
import { Tabs } from '../../../../views/console/tabs.tsx'
import { LongText, Text } from '../../../../views/console/text.tsx'
import { createNumbers, framed, HOSTILE } from './fixture.tsx'

const numbers = createNumbers(11)
const RUNS: StripRun[] = Array.from({ length: 100 }, (_, index) => {
  const when = `${String(Math.floor(index / 4) % 24).padStart(2, '0')}:${String((index % 4) * 15).padStart(2, '0')}`
  const href = `?run=${index}`
  if (index === 99) return { href, when, outcome: 'busy', word: 'runs', took: 900 }
  if ([31, 32].includes(index)) return { href, when, outcome: 'skipped', word: 'skipped' }
  if ([57, 58, 80].includes(index))
    return { href, when, outcome: 'bad', word: 'failed', took: 3000 + numbers(2000) }
  if (index === 44) return { href, when, outcome: 'warn', word: 'second attempt', took: 2400 }
  return {
    href,
    when,
    outcome: 'good',
    word: 'ok',
    took: 220 + numbers(700),
    isSelected: index === 90,
  }
})

/** A detail page with every part that the three whole pages have no room for. */
export const detail = () =>
  framed(
    {
      title: 'Refresh prices',
      active: 'jobs',
      crumbs: [
        { label: 'Clockwork' },
        { label: 'Jobs', href: '/console/jobs' },
        { label: HOSTILE.long },
      ],
      here: '/console/jobs/3',
      operator: { name: HOSTILE.long, email: HOSTILE.turned },
      scope: { id: 'x', name: HOSTILE.script, kind: 'tenant' },
    },
    <>
      <PageHead
        title={<Text text={`Refresh prices ${HOSTILE.long}`} />}
        state={{
          tone: 'good',
          sentence: <>Every 15 minutes, Europe/Oslo. {<LongText text={HOSTILE.turned} />}</>,
        }}
        aside={<LinkButton href="/console/jobs/3/edit">Edit</LinkButton>}
        action={<Button weight="primary">Run now</Button>}
      />
      <Tabs
        label="Job"
        tabs={[
          { label: 'Executions', href: '?', count: 2411, isCurrent: true },
          { label: 'Settings', href: '?view=settings' },
          { label: 'Raw', href: '?view=raw' },
        ]}
      />
      <Section id="strip" title="Last 100 runs" isCard>
        <ExecutionStrip label="The last 100 runs: 3 failed, 2 skipped" runs={RUNS} />
      </Section>
      <Section id="states" title="States">
        <Cards label="States" items={['good', 'warn', 'bad', 'busy', 'quiet'] as const}>
          {(tone) => (
            <>
              <StatusBadge tone={tone} word={tone} />
              <Sparkline values={[1, 4, 2, 6, 3]} tone={tone} label={`A line that is ${tone}`} />
            </>
          )}
        </Cards>
      </Section>
      <Section id="meters" title="Allowance">
        <Meter
          label="Requests in November"
          value={8120}
          max={10_000}
          tone="warn"
          amount="8,120 of 10,000"
        />
      </Section>
      <Section id="quiet" title="Needs attention">
        <AllQuiet />
      </Section>
      <Section id="raw" title="Raw">
        <div class="stack">
          <JsonView
            title="Job"
            value={{
              rows: Array.from({ length: 30 }, (_, row) => ({ row, name: HOSTILE.script })),
            }}
          />
          <BodyView title="Answer" text={HOSTILE.long} />
        </div>
      </Section>
      <Section id="hostile" title="Hostile">
        <Facts
          facts={[
            ['Script', <Text text={HOSTILE.script} />],
            ['Turned', <Text text={HOSTILE.turned} />],
            ['Long', <Text text={HOSTILE.long} />],
            ['Whole', <LongText text={HOSTILE.long.slice(0, 400)} />],
          ]}
        />
      </Section>
      <DangerZone
        items={[
          {
            title: 'Pause job',
            text: 'Runs are skipped until you resume it.',
            control: (
              <Confirm
                id="pause"
                verb="Pause job"
                question="Pause Refresh prices?"
                consequence="Runs are skipped until you resume the job."
                action="?"
                isHarmless
              />
            ),
          },
          {
            title: 'Delete job',
            text: 'Deletes the job and its 2,411 runs.',
            control: (
              <Confirm
                id="delete"
                verb="Delete job"
                question="Delete Refresh prices?"
                consequence="Deletes the job and its 2,411 runs. This can't be undone."
                action="?"
              >
                <Field name="confirm_name" label="Type Refresh prices" isRequired />
              </Confirm>
            ),
          },
        ]}
      />
    </>,
  )

/** A form with errors. */
export const form = () =>
  framed(
    {
      title: 'New job',
      active: 'jobs',
      crumbs: [{ label: 'Jobs', href: '/console/jobs' }, { label: 'New' }],
      here: '/console/jobs/new',
    },
    <>
      <PageHead
        title="New job"
        state={{ sentence: 'Sends an HTTP request on a schedule (UTC).' }}
      />
      <Form
        action="/console/jobs"
        errors={[
          { name: 'url', message: "URL: Use https. Live data can't be sent over http." },
          {
            name: 'schedule',
            message:
              'Schedule must not restrict both day of month and day of week; put * in one of them.',
          },
        ]}
        buttons={
          <>
            <Button weight="primary">Create job</Button>
            <LinkButton href="/console/jobs" weight="bare">
              Cancel
            </LinkButton>
          </>
        }
      >
        <Field
          name="name"
          label="Name"
          value="Refresh prices"
          isRequired
          help="Shown in lists and emails."
        />
        <Field
          name="url"
          label="URL"
          type="url"
          value="http://erp.nordlicht.example/prices"
          isMono
          isRequired
          error="URL: Use https. Live data can't be sent over http."
        />
        <FieldRow>
          <Field
            name="schedule"
            label="Schedule"
            value="0 6 1 * 1"
            isMono
            isRequired
            error="Schedule: Day of month and day of week are both set. Replace one with *."
            help="Five fields: minute, hour, day of month, month, day of week."
          />
          <Select
            name="zone"
            label="Time zone"
            value="Europe/Oslo"
            options={[
              { value: 'UTC', label: 'UTC' },
              { value: 'Europe/Oslo', label: 'Europe/Oslo' },
            ]}
          />
        </FieldRow>
        <Field name="timeout" label="Timeout" value="30" suffix="seconds" isRequired={false} />
        <Radios
          name="overlap"
          label="If the previous run is in progress"
          value="skip"
          options={[
            { value: 'skip', label: 'Skip', text: 'The run is skipped and shown as a gap.' },
            { value: 'queue', label: 'Queue', text: 'It starts when the previous run ends.' },
          ]}
        />
        <Checkboxes
          name="alerts"
          label="Email alerts"
          values={['failed']}
          options={[
            { value: 'failed', label: 'The job fails' },
            { value: 'late', label: 'The job starts a minute late' },
          ]}
        />
        <Textarea
          name="body"
          label="Body"
          isMono
          isRequired={false}
          value={'{\n  "currency": "NOK"\n}'}
        />
        <Checkbox name="paused" label="Create paused" />
      </Form>
    </>,
  )

/** Empty lists and a search. */
export const empty = () =>
  framed(
    { title: 'Search', crumbs: [{ label: 'Search' }], here: '/console/find' },
    <>
      <PageHead title="Search" />
      <SearchPage
        base=""
        query="crm"
        results={[
          {
            kind: 'Endpoint',
            name: 'crm.nordlicht.example',
            id: '0192f3a1-5b7c-7e44-8f10-9d2c41b7c41b',
            href: '/console/endpoints/1',
          },
          { kind: 'Job', name: HOSTILE.long, href: '/console/jobs/1' },
        ]}
      />
      <Section id="none" title="Messages">
        <EmptyState
          icon="messages"
          sentence="No messages yet"
          next="Gatehouse delivers each message to every endpoint that subscribes to its event type."
          action={
            <LinkButton href="/console/messages/new" weight="primary">
              Send a message
            </LinkButton>
          }
          curl={{
            url: 'https://gatehouse.nordlicht.example/relay/messages',
            headers: { authorization: 'Bearer $RELAY_KEY', 'content-type': 'application/json' },
            body: { type: 'order.created', payload: { id: 'o_1842', total: 4900 } },
          }}
        />
      </Section>
    </>,
  )

/** The page that shows a new key. */
export const secret = () =>
  framed(
    {
      title: 'New key',
      active: 'keys',
      crumbs: [{ label: 'Keys', href: '/console/keys' }, { label: 'New' }],
      here: '/console/keys/new',
    },
    <>
      <PageHead title="Relay key, live" state={{ tone: 'good', sentence: 'The key works now.' }} />
      <SecretPanel
        title="Your API key"
        secret="svc_relay_live_sk_4f9Q2mZt7XcVb1LpR8sKdW3nYh6JgTe5UaC0iMo2qBx"
        doneHref="/console/keys"
        example={
          <CurlBlock
            title="Try it"
            url="https://gatehouse.nordlicht.example/relay/messages"
            headers={{
              authorization: 'Bearer svc_relay_live_sk_4f9Q2mZt7XcVb1LpR8sKdW3nYh6JgTe5UaC0iMo2qBx',
            }}
            body={{ type: 'order.created', payload: { id: 'o_1842' } }}
          />
        }
      >
        Gatehouse stores only a hash of the key, so it is shown only once.
      </SecretPanel>
    </>,
  )

/** The first page of the setup. */
export const setup = () => (
  <PlainLayout
    base=""
    windowTitle="Set up"
    title="Name your tenant"
    intro="Your product or company. All data belongs to a tenant."
    steps={{ at: 1, names: ['You', 'Tenant', 'API key'] }}
  >
    <Form action="/setup" buttons={<Button weight="primary">Continue</Button>}>
      <Field
        name="tenant"
        label="Name"
        value="Nordlicht Coffee"
        isRequired
        help="Your users see it on sign-in pages and in emails."
        isFocused
      />
    </Form>
  </PlainLayout>
)
