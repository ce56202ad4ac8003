import type { ComponentChildren } from 'preact'
import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { ExecutionStrip } from '../../../../views/ui/charts/execution-strip.tsx'
import { CodeBlock, CurlBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { BodyView, JsonView } from '../../../../views/ui/json.tsx'
import { Columns, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { duration, Time, useTimes } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Monitor, Ping } from '../../../engines/clockwork/monitors/model.ts'
import type { TransitionRow } from '../../../engines/clockwork/monitors/queries.ts'
import { good, page, usePage } from '../../page.tsx'
import { MAX_TITLE_LENGTH } from '../jobs/job.tsx'
import { History, sinceOf } from './history.tsx'
import { instructionsFor, scheduleFor } from './instructions.ts'
import { expectationWords, STATE_WORDS, secondsText, signalWords } from './words.ts'

/** Pings in the table. The API lists all that are kept. */
const LISTED = 25

interface MonitorView {
  monitor: Monitor
  pings: readonly Ping[]
  /** The ping whose body is shown: the one in the address, or the last that has one. */
  selected: Ping | undefined
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
    const { href, may, query } = usePage()
    const { monitor } = view
    return (
      <>
        <div id="monitor">
          <AutoRefresh id="monitor" here={href(`/monitors/${monitor.id}`, { ping: query.ping })} />
          <Head {...view} />
          <Past {...view} />
          <Pings {...view} />
        </div>
        <SetUp {...view} />
        <Columns>
          <About {...view} />
          <Badge {...view} />
        </Columns>
        <Api {...view} />
        {may('change') && <Danger {...view} />}
      </>
    )
  },

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

function Pings({ pings, selected, monitor }: MonitorView) {
  const { href } = usePage()
  const { second } = useTimes()
  const hrefOf = ({ number }: Ping) => href(`/monitors/${monitor.id}`, { ping: `${number}` })
  if (pings.length === 0) return null
  const ended = pings.filter(({ signal }) => signal === 'success' || signal === 'fail').toReversed()
  return (
    <>
      {ended.some(({ duration_ms }) => duration_ms !== null) && (
        <Section id="durations" title="Durations" isCard>
          <ExecutionStrip
            label={`Last ${ended.length} runs`}
            runs={ended.map((ping) => ({
              href: hrefOf(ping),
              when: second(Date.parse(ping.received_at)),
              outcome: ping.signal === 'fail' ? 'bad' : 'good',
              word: signalWords(ping).word,
              ...(ping.duration_ms !== null && { took: ping.duration_ms }),
              isSelected: ping.number === selected?.number,
            }))}
          />
        </Section>
      )}
      {selected && <SelectedPing ping={selected} />}
      <Section id="pings" title="Last pings">
        <DataTable
          caption="Last pings"
          columns={COLUMNS}
          rows={pings.slice(0, LISTED)}
          hrefOf={hrefOf}
          idOf={({ number }) => `ping-${number}`}
        />
      </Section>
    </>
  )
}

const COLUMNS: Column<Ping>[] = [
  { label: 'Received', isWide: true, cell: ({ received_at }) => <At at={received_at} /> },
  { label: 'Signal', narrow: 'corner', cell: (ping) => <StatusBadge {...signalWords(ping)} /> },
  {
    label: 'Duration',
    align: 'right',
    cell: ({ duration_ms }) => (duration_ms === null ? '–' : duration(duration_ms)),
  },
  {
    label: 'Run ID',
    isMono: true,
    narrow: 'hidden',
    cell: ({ run_id }) => (run_id === null ? '–' : <Text text={run_id} limit={24} />),
  },
  {
    label: 'IP address',
    isMono: true,
    narrow: 'hidden',
    cell: ({ ip_address }) => ip_address ?? '–',
  },
]

const SelectedPing = ({ ping }: { ping: Ping }) => (
  <Section
    id="ping"
    title={`Ping ${ping.number}`}
    aside={<StatusBadge {...signalWords(ping)} />}
    note={<At at={ping.received_at} />}
    isCard
  >
    {ping.body === null ? (
      <p class="hint">Without a body.</p>
    ) : (
      <BodyView title="Body" text={ping.body} />
    )}
  </Section>
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
