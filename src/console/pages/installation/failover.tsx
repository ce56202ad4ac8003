import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { Confirm } from '../../../../views/ui/confirm.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { Events } from '../../../../views/ui/events.tsx'
import { Select } from '../../../../views/ui/form/choices.tsx'
import { type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { capitalized, counted } from '../../../../views/ui/words.ts'
import type { Config } from '../../../config/index.ts'
import { conflict } from '../../../platform/errors.ts'
import { requestHandover } from '../../../platform/replication/handover.ts'
import {
  openSharedFolder,
  type PairState,
  reasonAgainst,
} from '../../../platform/replication/pair.ts'
import type { Report } from '../../../platform/replication/reports.ts'
import { VERSION } from '../../../platform/version.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { type PairIssue, pairIssuesIn } from '../../pair-issues.ts'
import { eventOf } from './health.tsx'

/** A standby, with the reason why it can't take over, if there is one. */
type Standby = Report & { against: string | undefined }

interface Pair extends PairState {
  standbys: Standby[]
  issues: PairIssue[]
  settings: Config['replication']
}

/** Which server is active, which ones could take over, and a way to let one of them. */
export const failoverPage = page({
  path: '/failover',
  section: 'failover',
  right: 'admin',
  title: 'Failover',

  load: ({ replication, config, now }) => {
    const settings = config.replication
    const state = replication.pair()
    return { isSingle: settings.role === 'single', pair: state && pairOf(state, settings, now) }
  },

  view: ({ isSingle, pair }) => (
    <>
      <div id="failover-now">
        <PageHead title="Failover" state={stateOf(isSingle, pair)} />
        {pair ? <Servers {...pair} /> : isSingle && <OneServer />}
        {!isSingle && <AutoRefresh id="failover-now" here={usePage().href('/failover')} />}
      </div>
      {pair?.standbys.some(isReady) && <StepDown {...pair} />}
    </>
  ),

  actions: {
    'step-down': {
      right: 'admin',
      flash: good('Stepping down. A standby answers within seconds.'),
      async run({ config, fields, operator, clock, db, audit, actor }) {
        if (config.replication.role === 'single') throw conflict('this server has no standby')
        const name = trimmedText(fields, 'to')
        const to = name === '' ? undefined : name
        const request = { to, by: `operator:${operator.id}`, now: clock.now() }
        const { server } = await requestHandover(openSharedFolder(config), request)
        const entry = { actor, action: 'server.stepped_down', object: `server:${server.id}` }
        const detail = { server: server.name, ...(to !== undefined && { to }) }
        await db.commit(() => audit.recordForOperators({ ...entry, detail }))
      },
    },
  },
})

const pairOf = (state: PairState, settings: Config['replication'], now: number): Pair => ({
  ...state,
  standbys: state.standbys.map((report) => ({
    ...report,
    against: reasonAgainst(report, now, state.lease.ttlMs),
  })),
  issues: pairIssuesIn(state, now),
  settings,
})

const isReady = ({ against }: Standby) => against === undefined

function stateOf(isSingle: boolean, pair: Pair | undefined): { tone?: Tone; sentence: string } {
  if (isSingle) return { sentence: 'One server. If it stops, nothing is served until it is back.' }
  if (!pair) return { tone: 'busy', sentence: 'Looking for the other servers.' }
  const { lease, problem, standbys } = pair
  const ready = standbys.filter(isReady).length
  const tone = problem === undefined ? (ready > 0 ? 'good' : 'warn') : 'bad'
  return {
    tone,
    sentence: `${lease.server.name} is active. ${ready === 0 ? 'No standby is' : `${counted(ready, 'standby', 'standbys')} ${ready === 1 ? 'is' : 'are'}`} ready to take over.`,
  }
}

const OneServer = () => (
  <EmptyState
    icon="failover"
    sentence="No standby"
    next={
      <>
        Run a second server on another machine, and it takes over within seconds if this one stops.
        Both share a folder in object storage. The steps are in <code>docs/failover.md</code>.
      </>
    }
    action={
      <CodeBlock title="gatehouse.toml">
        {`[database]
external_checkpoint = true

[replication]
role = "auto"
to = "s3://bucket/gatehouse"
acknowledge = "replicated"`}
      </CodeBlock>
    }
  />
)

const Servers = (pair: Pair) => (
  <>
    {pair.issues.length > 0 && (
      <Section id="attention" title="Needs attention">
        <Events
          label="Needs attention"
          events={pair.issues.map((issue) => eventOf(issue, '', 0))}
        />
      </Section>
    )}
    <Section id="active" title="Active server" isCard>
      <Facts facts={factsOf(pair)} />
    </Section>
    <Section id="standbys" title="Standbys" note="Each reports what it has copied.">
      <DataTable
        caption="Standbys"
        columns={STANDBY_COLUMNS}
        rows={pair.standbys}
        idOf={({ id }) => id}
        empty={
          <EmptyState
            icon="failover"
            sentence="No standbys yet"
            next="On another machine with the same settings and key, run:"
            action={<CodeBlock title="Terminal">gatehouse serve --standby</CodeBlock>}
          />
        }
      />
    </Section>
  </>
)

const factsOf = ({ lease, settings }: Pair): Fact[] => [
  ['Server', <Text text={lease.server.name} limit={100} />],
  ['Version', VERSION],
  ['Active since', <Time at={lease.since} />],
  ['Became active', <LongText text={causeOf(lease)} />],
  ...(lease.lossMs
    ? [
        [
          'Possible loss',
          `Writes of the last ${duration(lease.lossMs)} before the failover`,
        ] as const,
      ]
    : []),
  [
    'Acknowledges writes',
    settings.acknowledge === 'replicated'
      ? 'Once they are in object storage'
      : 'Once they are on its disk; a failover can lose the last seconds',
  ],
  ['Generation', lease.generation],
  ['Failover after', duration(lease.ttlMs)],
  ['Shared folder', <LongText text={settings.to ?? ''} />],
]

function causeOf({ cause, from }: PairState['lease']): string {
  const before = from?.name ?? 'another server'
  switch (cause) {
    case 'first':
      return 'First start'
    case 'restart':
      return 'Restarted'
    case 'handover':
      return `Handed over by ${before}`
    case 'expiry':
      return `Took over from ${before}, which had stopped`
  }
}

const STANDBY_COLUMNS: Column<Standby>[] = [
  { label: 'Server', cell: ({ name }) => <Text text={name} limit={60} /> },
  {
    label: 'Status',
    narrow: 'corner',
    cell: (standby) =>
      isReady(standby) ? (
        <StatusBadge tone="good" word="ready" />
      ) : (
        <StatusBadge tone="warn" word="not ready" />
      ),
  },
  {
    label: 'Reason',
    isWide: true,
    cell: ({ against }) => (against === undefined ? '–' : <LongText text={capitalized(against)} />),
  },
  { label: 'Behind by', align: 'right', cell: ({ lagMs }) => duration(lagMs) },
  { label: 'Version', isMono: true, cell: ({ version }) => <Text text={version} limit={40} /> },
  { label: 'Last report', align: 'right', cell: ({ reportedAt }) => <Time at={reportedAt} /> },
]

/** Outside the part that is refreshed, which would close the dialog. */
const StepDown = ({ lease, standbys }: Pair) => (
  <Section
    id="step-down"
    title="Step down"
    isCard
    note="Let a standby take over, such as before you restart or upgrade this server."
  >
    <Confirm
      id="step-down"
      verb="Step down"
      question={
        <>
          Let a standby take over from <Text text={lease.server.name} limit={60} />?
        </>
      }
      consequence="Requests are answered with 503 for a few seconds. Nothing is lost."
      action={usePage().actionHref('step-down')}
      isHarmless
    >
      <Select
        name="to"
        label="Standby"
        value=""
        options={[
          { value: '', label: 'Any that is ready' },
          ...standbys.filter(isReady).map(({ name }) => ({ value: name, label: name })),
        ]}
      />
    </Confirm>
  </Section>
)
