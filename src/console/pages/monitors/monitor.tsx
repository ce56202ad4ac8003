import type { ComponentChildren } from 'preact'
import { CodeBlock, CurlBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Columns, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Monitor } from '../../../engines/clockwork/monitors/model.ts'
import type { TransitionRow } from '../../../engines/clockwork/monitors/queries.ts'
import { good, page, usePage } from '../../page.tsx'
import { MAX_TITLE_LENGTH } from '../jobs/job.tsx'
import { History, sinceOf } from './history.tsx'
import { instructionsFor, scheduleFor } from './instructions.ts'
import { Pings, type PingsView } from './pings.tsx'
import { expectationWords, STATE_WORDS, secondsText } from './words.ts'

interface MonitorView extends PingsView {
  transitions: readonly TransitionRow[]
}

/** One monitor: its state, history and pings, and lines for the job that pings it. */
export const monitorPage = page({
  path: '/monitors/:id',
  section: 'monitors',
  right: 'read',

  load({ clockwork, tenantId, caller, params, query, now }): MonitorView {
    const monitor = clockwork.monitors.get(caller('clockwork'), params.id)
    const pings = clockwork.monitors.pings(tenantId, params.id)
    return {
      monitor,
      pings,
      selected:
        pings.find(({ number }) => `${number}` === query.ping) ??
        pings.find(({ body }) => body !== null),
      transitions: clockwork.queries.monitors.transitions(tenantId, params.id, sinceOf(now)),
    }
  },

  title: ({ monitor }) => shorten(monitor.name, MAX_TITLE_LENGTH),

  view(view) {
    return (
      <>
        <div id="monitor-head">
          <Head {...view} />
        </div>
        <div id="monitor-past">
          <Past {...view} />
        </div>
        <div id="monitor-pings">
          <Pings {...view} />
        </div>
        <SetUp {...view} />
        <Columns>
          <About {...view} />
          <Badge {...view} />
        </Columns>
        <Api {...view} />
        {usePage().may('change') && <Danger {...view} />}
      </>
    )
  },

  live: (view) => ({
    'monitor-head': { facts: view.monitor, view: <Head {...view} /> },
    'monitor-past': { facts: [view.monitor, view.transitions], view: <Past {...view} /> },
    // A ping never changes, and its body can be long.
    'monitor-pings': {
      facts: [view.pings[0]?.number, view.selected?.number],
      view: <Pings {...view} />,
    },
  }),

  actions: {
    pause: {
      right: 'change',
      flash: { tone: 'quiet', text: 'Monitor paused. Pings are stored, but change nothing.' },
      run: ({ clockwork, caller, params }) =>
        clockwork.monitors.pause(caller('clockwork'), params.id).then(() => {}),
    },
    resume: {
      right: 'change',
      flash: good('Monitor resumed. It expects a ping from now on.'),
      run: ({ clockwork, caller, params }) =>
        clockwork.monitors.resume(caller('clockwork'), params.id).then(() => {}),
    },
    rotate: {
      right: 'change',
      flash: good('Ping URL rotated. Use the new one in the job.'),
      run: ({ clockwork, caller, params }) =>
        clockwork.monitors.rotateToken(caller('clockwork'), params.id).then(() => {}),
    },
    delete: {
      right: 'delete',
      flash: good('Monitor deleted with its pings.'),
      async run({ clockwork, caller, params }) {
        await clockwork.monitors.remove(caller('clockwork'), params.id)
        return { to: '/monitors' }
      },
    },
  },
})

function Head({ monitor }: MonitorView) {
  const { href, may } = usePage()
  const pathTo = (action: string) => href(`/monitors/${monitor.id}/${action}`)
  const isPaused = monitor.state === 'paused'
  return (
    <PageHead
      title={<Text text={monitor.name} limit={120} />}
      state={{ tone: STATE_WORDS[monitor.state].tone, sentence: <Sentence {...monitor} /> }}
      {...(may('change') && {
        aside: (
          <>
            <LinkButton href={pathTo('edit')}>Edit monitor</LinkButton>
            <ActionButton action={pathTo(isPaused ? 'resume' : 'pause')}>
              {isPaused ? 'Resume monitor' : 'Pause monitor'}
            </ActionButton>
          </>
        ),
      })}
    />
  )
}

const At = ({ at }: { at: string | null }) => (at === null ? null : <Time at={Date.parse(at)} />)

/** The state in a sentence, with what happens next. */
const Sentence = (monitor: Monitor) => (
  <>
    {STATE_SENTENCES[monitor.state](monitor)}
    {monitor.started_at !== null && (
      <>
        {' '}
        A run started <At at={monitor.started_at} />.
      </>
    )}
  </>
)

const STATE_SENTENCES: Record<Monitor['state'], (monitor: Monitor) => ComponentChildren> = {
  new: ({ expected_at }) =>
    expected_at === null ? (
      'Waiting for the first ping.'
    ) : (
      <>
        Resumed; a ping is expected <At at={expected_at} />.
      </>
    ),
  up: ({ last_ping_at, expected_at }) => (
    <>
      Up. Last ping <At at={last_ping_at} />, the next is expected <At at={expected_at} />.
    </>
  ),
  late: ({ expected_at, down_at }) => (
    <>
      Late: a ping was expected <At at={expected_at} />. Down <At at={down_at} /> without one.
    </>
  ),
  down: ({ state_since, last_ping_at }) => (
    <>
      Went down <At at={state_since} />
      {last_ping_at !== null && (
        <>
          ; last ping <At at={last_ping_at} />
        </>
      )}
      .
    </>
  ),
  paused: ({ state_since }) => (
    <>
      Paused <At at={state_since} />. Pings change nothing until you resume it.
    </>
  ),
}

function SetUp({ monitor }: MonitorView) {
  const { ping_url: url } = monitor
  if (url === null) return null
  return (
    <Section id="set-up" title="Ping URL" note="Anyone who has it can ping, without a key." isCard>
      <p class="hint">
        Request it when the job has succeeded. Add /start when it starts, /fail when it fails, or
        its exit code.
      </p>
      <CodeBlock title="URL" what="ping URL" wraps>
        {url}
      </CodeBlock>
      {instructionsFor(url, scheduleFor(monitor)).map(({ title, text }, index) => (
        <details class="fold" open={index === 0}>
          <summary>{title}</summary>
          <CodeBlock title={title}>{text}</CodeBlock>
        </details>
      ))}
    </Section>
  )
}

const Past = ({ monitor, transitions }: MonitorView) =>
  monitor.last_ping_at === null ? null : (
    <History transitions={transitions} state={monitor.state} now={usePage().now} />
  )

const About = ({ monitor }: MonitorView) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['ID', <Id id={monitor.id} what="monitor ID" />],
        ['Expected', capitalized(expectationWords(monitor))],
        ...(monitor.schedule === null
          ? []
          : [
              ['Schedule', <code>{monitor.schedule}</code>] as const,
              ['Time zone', monitor.time_zone] as const,
            ]),
        ['Grace time', secondsText(monitor.grace_seconds)],
        ['Tags', <Text text={monitor.tags.join(' ') || '–'} limit={200} />],
        ['Notes', <Text text={monitor.notes || '–'} limit={2000} />],
        ['Created', <At at={monitor.created_at} />],
      ]}
    />
  </Section>
)

const Badge = ({ monitor }: MonitorView) => (
  <Section
    id="badge"
    title="Public badge"
    note="Shows the state and your label, and nothing else."
    isCard
  >
    <p class="badgeimage">
      <img src={new URL(monitor.badge_url).pathname} alt={`Badge: ${monitor.state}`} height={20} />
    </p>
    <CodeBlock title="Markdown" wraps>
      {`![Status](${monitor.badge_url}?label=status)`}
    </CodeBlock>
  </Section>
)

const Api = ({ monitor }: MonitorView) => (
  <Section id="program" title="API">
    <details class="fold">
      <summary>View JSON</summary>
      <JsonView title="Monitor" value={monitor} isOpen />
    </details>
    <CurlBlock
      title="List pings"
      url={`${usePage().baseUrl()}/v1/clockwork/monitors/${monitor.id}/pings`}
      headers={{ Authorization: 'Bearer $GATEHOUSE_KEY' }}
    />
  </Section>
)

function Danger({ monitor }: MonitorView) {
  const { href, may } = usePage()
  const rotation = {
    text: 'For a URL that others have seen.',
    id: 'rotate',
    verb: 'Rotate ping URL',
    question: 'Rotate the ping URL?',
    consequence: 'The current URL stops working immediately, and the job needs the new one.',
    action: href(`/monitors/${monitor.id}/rotate`),
  }
  const deletion = {
    text: "This can't be undone.",
    id: 'delete',
    verb: 'Delete monitor',
    question: 'Delete this monitor?',
    consequence: 'Its URL and badge stop working, and its pings are deleted.',
    action: href(`/monitors/${monitor.id}/delete`),
  }
  return <DangerZone items={may('delete') ? [rotation, deletion] : [rotation]} />
}
