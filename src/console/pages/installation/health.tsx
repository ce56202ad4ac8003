import type { VNode } from 'preact'
import { AllQuiet, type Event, Events } from '../../../../views/ui/events.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { Columns, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Tiles } from '../../../../views/ui/tiles.tsx'
import { duration, Time, useTimes } from '../../../../views/ui/time.tsx'
import { bytes, numeral } from '../../../../views/ui/words.ts'
import type {
  BackupHealth,
  InstallationIssue,
  InstanceHealth,
  ProcessState,
  QueueHealth,
} from '../../instance-health.ts'
import { page } from '../../page.tsx'
import { BackUpNow } from './backups.tsx'
import { wordsOnPair } from './pair-words.tsx'

/** Queues are counted up to this number. */
const MAX_COUNTED = 10_000

/** Health of the installation: problems, queues, processes, storage and email. */
export const healthPage = page({
  path: '/health',
  section: 'health',
  right: 'admin',
  title: 'Health',

  load: ({ instanceHealth }) => instanceHealth.read(),

  view(health) {
    const { href } = useHere()
    const { relative } = useTimes()
    const { issues, now, backups, queues, mail } = health
    const longestMs = Math.max(...queues.map(({ lagMs }) => lagMs))
    return (
      <>
        <PageHead title="Health" state={sentenceOn(health)} />
        <Tiles
          label="Summary"
          tiles={[
            { label: 'Backlog', value: depth(sum(queues.map((one) => one.readyCount))) },
            { label: 'Longest wait', value: longestMs === 0 ? 'None' : duration(longestMs) },
            { label: 'Free disk', value: bytes(health.freeBytes) },
            {
              label: 'Last backup',
              value: backups.last?.endedAt ? relative(backups.last.endedAt) : 'Never',
            },
          ]}
        />
        <Section id="attention" title="Needs attention">
          {issues.length === 0 ? (
            <AllQuiet />
          ) : (
            <Events
              label="Needs attention"
              events={issues.map((one) => ({
                ...eventOf(one, href('/configuration', { q: 'backup' }), now),
                ...actionOf(one, backups),
              }))}
            />
          )}
        </Section>
        <Section id="queues" title="Queues" note="Backlog of all tenants.">
          <DataTable caption="Queues" columns={QUEUE_COLUMNS} rows={queues} />
        </Section>
        <Section
          id="processes"
          title="Processes"
          note="All that serve this data directory. They share the work."
        >
          <DataTable
            caption="Processes"
            columns={PROCESS_COLUMNS}
            rows={health.processes}
            idOf={({ id }) => id}
          />
        </Section>
        <Columns>
          <Section id="version" title="Version" isCard>
            <Facts
              facts={[
                ['Version', health.version],
                ['Commit', <code>{health.commit}</code>],
                ['Database schema', <code>{health.schema}</code>],
                ['Started', <Time at={health.startedAt} />],
              ]}
            />
          </Section>
          <Section id="storage" title="Storage" isCard>
            <Facts
              facts={[
                ['Data directory', <code>{health.dataDir}</code>],
                ['Database', bytes(health.databaseBytes)],
                ['Write-ahead log', bytes(health.logBytes)],
                ['Free disk', bytes(health.freeBytes)],
              ]}
            />
          </Section>
        </Columns>
        <Section
          id="mail"
          title="Email"
          isCard
          aside={
            <>
              <LinkButton href={href('/mail-server')}>Mail server</LinkButton>
              <LinkButton href={href('/mail')}>Email outbox</LinkButton>
            </>
          }
        >
          <Facts
            facts={[
              [
                'Server',
                mail.server === null ? (
                  'None. Emails are held in the outbox, where you can read them.'
                ) : (
                  <code>{mail.server}</code>
                ),
              ],
              ['Queued', depth(mail.ready)],
              ['Retrying', depth(mail.waiting)],
            ]}
          />
        </Section>
      </>
    )
  },
})

/** Problems that a backup solves. */
export const ABOUT_BACKUPS: ReadonlySet<InstallationIssue['what']> = new Set([
  'backup failed',
  'no backup',
  'backups off',
])

/** Button that fixes a problem, if there is one on this page. */
function actionOf({ what }: InstallationIssue, backups: BackupHealth): { aside?: VNode } {
  const isBeingMade = backups.made.some(({ endedAt }) => endedAt === null)
  if (!ABOUT_BACKUPS.has(what) || isBeingMade) return {}
  return { aside: <BackUpNow /> }
}

/** State of the installation in a sentence. */
export function sentenceOn({ issues, queues }: InstanceHealth): { tone: Tone; sentence: string } {
  if (issues.length > 0)
    return {
      tone: issues.some((one) => TONES[one.what] === 'bad') ? 'bad' : 'warn',
      sentence:
        issues.length === 1
          ? 'Running. 1 problem needs attention.'
          : `Running. ${issues.length} problems need attention.`,
    }
  const readyCount = sum(queues.map((one) => one.readyCount))
  return {
    tone: 'good',
    sentence:
      readyCount === 0
        ? 'Everything works. The backlog is empty, and the last backup succeeded.'
        : 'Everything works. Work starts within a minute, and the last backup succeeded.',
  }
}

const TONES: Record<InstallationIssue['what'], Tone> = {
  room: 'bad',
  queue: 'warn',
  versions: 'warn',
  'backup failed': 'bad',
  'no backup': 'bad',
  replica: 'bad',
  lease: 'bad',
  failover: 'warn',
  'no standby': 'warn',
  'set aside': 'warn',
  'backups off': 'warn',
}

/** Describes a problem. */
export function eventOf(issue: InstallationIssue, configurationHref: string, now: number): Event {
  return { tone: TONES[issue.what], ...wordsOn(issue, configurationHref, now) }
}

function wordsOn(
  issue: InstallationIssue,
  configurationHref: string,
  _now: number,
): Omit<Event, 'tone'> {
  switch (issue.what) {
    case 'room':
      return {
        title: `${bytes(issue.freeBytes)} of disk space left`,
        text: "Without free space, Gatehouse can't store data. Free up space or move the data directory.",
      }
    case 'queue':
      return {
        title: `${QUEUES[issue.name]} are delayed by ${duration(issue.lagMs)}`,
        text: "More work arrives than is processed, or its targets don't respond.",
      }
    case 'versions':
      return {
        title: 'Processes run different versions',
        text: `Restart ${issue.others.map(({ pid, host, version }) => `process ${pid} on ${host} (${version})`).join(', ')}: the newest process runs ${issue.newest}.`,
      }
    case 'backup failed':
      return {
        title: 'The last backup failed',
        text: <Text text={issue.row.error ?? ''} />,
        aside: <Time at={issue.row.startedAt} />,
      }
    case 'no backup':
      return {
        title: issue.lastAt === undefined ? 'No backup yet' : 'The last backup is overdue',
        text: 'The scheduled backup did not run. Check the server log for the reason.',
      }
    case 'replica':
      return {
        title: "The replica can't be reached",
        text: `${issue.stall.reason}. ${
          issue.stall.onTimeout === 'refuse'
            ? 'Writes answer 503, and no jobs, deliveries or emails start.'
            : 'Writes are acknowledged from this disk alone.'
        }`,
        aside: <Time at={issue.stall.since} />,
      }
    case 'lease':
    case 'failover':
    case 'no standby':
    case 'set aside':
      return wordsOnPair(issue)
    case 'backups off':
      return {
        title: 'No backup in the last day, and scheduled backups are off',
        text: 'Set enabled = true under [backup], or run gatehouse backup.',
        aside: <a href={configurationHref}>Configuration</a>,
      }
  }
}

const QUEUES: Record<QueueHealth['name'], string> = {
  runs: 'Job runs',
  deliveries: 'Deliveries',
  'repeated deliveries': 'Delivery retries',
}

const QUEUE_COLUMNS: Column<QueueHealth>[] = [
  { label: 'Queue', isWide: true, cell: ({ name }) => QUEUES[name] },
  { label: 'Backlog', align: 'right', cell: ({ readyCount }) => depth(readyCount) },
  {
    label: 'Longest wait',
    align: 'right',
    cell: ({ lagMs }) => (lagMs === 0 ? '–' : duration(lagMs)),
  },
]

const PROCESS_COLUMNS: Column<ProcessState>[] = [
  {
    label: 'Host',
    isWide: true,
    cell: ({ host, isThis }) => (
      <Text text={isThis ? `${host} (shows this page)` : host} limit={80} />
    ),
  },
  { label: 'Process ID', cell: ({ pid }) => <code>{pid}</code> },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ isSilent }) =>
      isSilent ? (
        <StatusBadge tone="warn" word="no heartbeat" />
      ) : (
        <StatusBadge tone="good" word="running" />
      ),
  },
  { label: 'Version', isMono: true, cell: ({ version }) => <Text text={version} limit={40} /> },
  { label: 'Started', align: 'right', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { label: 'Last heartbeat', align: 'right', cell: ({ heartbeatAt }) => <Time at={heartbeatAt} /> },
]

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

/** A count up to the counting limit. */
export const depth = (count: number): string =>
  count >= MAX_COUNTED ? `${numeral(MAX_COUNTED)} or more` : numeral(count)
