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
import { FindPage } from '../../../../views/console/frame/palette.tsx'
import { PlainFrame } from '../../../../views/console/frame/plain-frame.tsx'
import { BodyView, JsonView } from '../../../../views/console/json-view.tsx'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { SecretPanel } from '../../../../views/console/secret-panel.tsx'
import { Section } from '../../../../views/console/section.tsx'
import { StatusMark } from '../../../../views/console/status-mark.tsx'
import { Tabs } from '../../../../views/console/tabs.tsx'
import { LongText, Text } from '../../../../views/console/text.tsx'
import { createNumbers, framed, HOSTILE } from './world.tsx'

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

/** A detail page with every part that the three whole pages have no place for. */
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
      place: { id: 'x', name: HOSTILE.script, kind: 'tenant' },
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
              <StatusMark tone={tone} word={tone} />
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
            title: 'Pause the job',
            text: 'Its slots pass by until it is resumed.',
            control: (
              <Confirm
                id="pause"
                verb="Pause"
                question="Pause Refresh prices?"
                consequence="No slot runs until somebody resumes it."
                action="?"
                isHarmless
              />
            ),
          },
          {
            title: 'Delete the job',
            text: 'With its 2,411 executions. There is no way back.',
            control: (
              <Confirm
                id="delete"
                verb="Delete job"
                question="Delete Refresh prices?"
                consequence="Its schedule and 2,411 executions go with it, at once and for good."
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

/** A form that came back. */
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
        state={{ sentence: 'Calls an address on a schedule, and keeps what came back.' }}
      />
      <Form
        action="/console/jobs"
        errors={[
          { name: 'url', message: 'Address: http is not allowed for live data. Use https.' },
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
          help="As it appears in lists and mails."
        />
        <Field
          name="url"
          label="Address"
          type="url"
          value="http://erp.nordlicht.example/prices"
          isMono
          isRequired
          error="Address: http is not allowed for live data. Use https."
        />
        <FieldRow>
          <Field
            name="schedule"
            label="Schedule"
            value="0 6 1 * 1"
            isMono
            isRequired
            error="Schedule must not restrict both day of month and day of week; put * in one of them."
            help="Five fields: minute, hour, day, month, weekday."
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
        <Field name="timeout" label="Time limit" value="30" suffix="seconds" isRequired={false} />
        <Radios
          name="overlap"
          label="When the run before is not over"
          value="skip"
          options={[
            { value: 'skip', label: 'Skip', text: 'The slot passes by and is shown as a gap.' },
            { value: 'queue', label: 'Wait', text: 'It runs right after.' },
          ]}
        />
        <Checkboxes
          name="alerts"
          label="Send a mail"
          values={['failed']}
          options={[
            { value: 'failed', label: 'when it fails' },
            { value: 'late', label: 'when it is late by a minute' },
          ]}
        />
        <Textarea
          name="body"
          label="Body"
          isMono
          isRequired={false}
          value={'{\n  "currency": "NOK"\n}'}
        />
        <Checkbox name="paused" label="Create it paused" />
      </Form>
    </>,
  )

/** Lists with nothing in them, and a search. */
export const empty = () =>
  framed(
    { title: 'Search', crumbs: [{ label: 'Search' }], here: '/console/find' },
    <>
      <PageHead title="Search" />
      <FindPage
        base=""
        query="crm"
        found={[
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
          sentence="No message was sent yet."
          next="Send the first one; every endpoint that listens for its type gets it."
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

/** A key on the only page that shows it. */
export const secret = () =>
  framed(
    {
      title: 'New key',
      active: 'keys',
      crumbs: [{ label: 'Keys', href: '/console/keys' }, { label: 'New' }],
      here: '/console/keys/new',
    },
    <>
      <PageHead
        title="Relay key, live"
        state={{ tone: 'good', sentence: 'It works from now on.' }}
      />
      <SecretPanel
        title="Save this key now"
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
        Gatehouse keeps only a hash of it: this is the one time that it is shown.
      </SecretPanel>
    </>,
  )

/** Before there is anybody. */
export const setup = () => (
  <PlainFrame
    base=""
    windowTitle="Set up"
    title="Name your tenant"
    intro="Everything belongs to a tenant: people, jobs, bots, messages. There can be more later."
    steps={{ at: 1, names: ['You', 'Tenant', 'First key'] }}
  >
    <Form action="/setup" buttons={<Button weight="primary">Continue</Button>}>
      <Field
        name="tenant"
        label="Name"
        value="Nordlicht Coffee"
        isRequired
        help="People see it when they sign in."
        isFocused
      />
    </Form>
  </PlainFrame>
)
