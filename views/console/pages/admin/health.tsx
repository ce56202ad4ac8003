import type { VNode } from 'preact'
import type { Health, QueueHealth, Trouble } from '../../../../src/console/instance-health.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { AllQuiet, type Event, Events } from '../../events.tsx'
import { Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import { Columns, Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { Tiles } from '../../tiles.tsx'
import { duration, relative, Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { numeral } from '../../words.ts'
import { BackUpNow, BackupsSection, isBeingMade } from './backups.tsx'

/** Beyond it a queue is not counted on. */
const MOST_COUNTED = 10_000

/** How the installation does. */
export const HealthPage = (page: { base: string; health: Health }) => {
  const { base, health } = page
  const { troubles, now, backups, queues, mail } = health
  const longestMs = Math.max(...queues.map(({ lagMs }) => lagMs))
  return (
    <>
      <PageHead title="Health" state={sentenceOn(health)} />
      <Tiles
        label="In short"
        tiles={[
          { label: 'Due and not begun', value: depth(sum(queues.map((one) => one.standing))) },
          { label: 'Longest wait', value: longestMs === 0 ? 'none' : duration(longestMs) },
          { label: 'Free disk', value: bytes(health.freeBytes) },
          {
            label: 'Last backup',
            value: backups.last?.endedAt ? relative(backups.last.endedAt, now) : 'never',
          },
        ]}
      />
      <Section id="attention" title="Needs attention">
        {troubles.length === 0 ? (
          <AllQuiet />
        ) : (
          <Events
            label="Needs attention"
            events={troubles.map((one) => ({ ...eventOf(one, base, now), ...endingOf(one, page) }))}
          />
        )}
      </Section>
      <Section id="queues" title="Queues" note="What is due, over all tenants.">
        <DataTable caption="Queues" columns={QUEUE_COLUMNS} rows={queues} />
      </Section>
      <Columns>
        <Section id="process" title="This process" isCard>
          <Facts
            facts={[
              ['Version', health.version],
              ['Commit', <code>{health.commit}</code>],
              ['Running since', <Time at={health.startedAt} now={now} />],
              ['Processes alive', numeral(health.instances)],
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
        title="Mail"
        isCard
        aside={<LinkButton href={url(base, '/console/admin/mail')}>Mail outbox</LinkButton>}
      >
        <Facts
          facts={[
            [
              'Server',
              mail.server === null ? (
                'none: mails are kept in the outbox, to be read there'
              ) : (
                <code>{mail.server}</code>
              ),
            ],
            ['Due', depth(mail.ready)],
            ['Waiting for a retry', depth(mail.waiting)],
          ]}
        />
      </Section>
      <BackupsSection
        base={base}
        backups={backups}
        now={now}
        bytes={bytes}
        isAskedFor={troubles.some(({ what }) => ABOUT_BACKUPS.has(what))}
      />
    </>
  )
}

const ABOUT_BACKUPS: ReadonlySet<Trouble['what']> = new Set([
  'backup failed',
  'no backup',
  'backups off',
])

/** The one thing to do about a trouble, where it can be done here. */
function endingOf(
  { what }: Trouble,
  { base, health }: { base: string; health: Health },
): { aside?: VNode } {
  if (!ABOUT_BACKUPS.has(what) || isBeingMade(health.backups)) return {}
  return { aside: <BackUpNow base={base} isSmall /> }
}

/** How the installation is, in a sentence. */
export function sentenceOn({ troubles, queues }: Health): { tone: Tone; sentence: string } {
  if (troubles.length > 0)
    return {
      tone: troubles.some((one) => TONES[one.what] === 'bad') ? 'bad' : 'warn',
      sentence:
        troubles.length === 1
          ? 'Runs, and one thing needs attention.'
          : `Runs, and ${troubles.length} things need attention.`,
    }
  const standing = sum(queues.map((one) => one.standing))
  return {
    tone: 'good',
    sentence:
      standing === 0
        ? 'All is well: nothing waits, and the last backup is good.'
        : 'All is well: work begins within a minute, and the last backup is good.',
  }
}

const TONES: Record<Trouble['what'], Tone> = {
  room: 'bad',
  queue: 'warn',
  'backup failed': 'bad',
  'no backup': 'bad',
  'backups off': 'warn',
}

/** What somebody should see to, in words. */
export function eventOf(trouble: Trouble, base: string, now: number): Event {
  return { tone: TONES[trouble.what], ...wordsOn(trouble, base, now) }
}

function wordsOn(trouble: Trouble, base: string, now: number): Omit<Event, 'tone'> {
  switch (trouble.what) {
    case 'room':
      return {
        title: `${bytes(trouble.freeBytes)} of disk are left.`,
        text: 'Without room nothing can be stored: make some, or move the data directory.',
      }
    case 'queue':
      return {
        title: `${QUEUES[trouble.name]} wait for ${duration(trouble.lagMs)}.`,
        text: 'More is due than is done, or its targets do not answer.',
      }
    case 'backup failed':
      return {
        title: 'The last backup has failed.',
        text: <Text text={trouble.row.error ?? ''} />,
        aside: <Time at={trouble.row.startedAt} now={now} />,
      }
    case 'no backup':
      return {
        title:
          trouble.lastAt === undefined ? 'No backup has been made.' : 'The last backup is too old.',
        text: 'The schedule should have made one: the log of the server says why not.',
      }
    case 'backups off':
      return {
        title: 'No backup of the last day, and none is made by itself.',
        text: 'Set enabled = true under [backup], or make them by command.',
        aside: (
          <a href={url(base, '/console/admin/configuration', { q: 'backup' })}>Configuration</a>
        ),
      }
  }
}

const QUEUES: Record<QueueHealth['name'], string> = {
  runs: 'Runs of jobs',
  deliveries: 'Deliveries',
  'repeated deliveries': 'Repeated deliveries',
}

const QUEUE_COLUMNS: Column<QueueHealth>[] = [
  { label: 'Queue', isWide: true, cell: ({ name }) => QUEUES[name] },
  { label: 'Due', align: 'right', cell: ({ standing }) => depth(standing) },
  {
    label: 'Longest wait',
    align: 'right',
    cell: ({ lagMs }) => (lagMs === 0 ? '–' : duration(lagMs)),
  },
]

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

/** A count that ends somewhere. */
export const depth = (count: number): string =>
  count >= MOST_COUNTED ? `${numeral(MOST_COUNTED)} or more` : numeral(count)

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A size in the digits that matter. */
export function bytes(count: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(count, 1)) / 3))
  const value = count / 1000 ** power
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${UNITS[power]}`
}
