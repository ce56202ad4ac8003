import type { BackupRow } from '../../../../src/platform/backup/index.ts'
import { AutoRefresh } from '../../auto-refresh.tsx'
import { CodeBlock } from '../../code-block.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { ActionButton } from '../../form/button.tsx'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { duration, Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { bytes, capitalized } from '../../words.ts'
import type { BackupHealth } from './health-view.ts'

const PATH = '/console/admin/health'

export const isBeingMade = ({ made }: BackupHealth): boolean =>
  made.some(({ endedAt }) => endedAt === null)

export const BackUpNow = ({ base, isSmall = false }: { base: string; isSmall?: boolean }) => (
  <ActionButton isSmall={isSmall} action={url(base, `${PATH}/back-up`)}>
    Back up now
  </ActionButton>
)

/** Backups, including one in progress. */
export const BackupsSection = (page: {
  base: string
  backups: BackupHealth
  now: number
  /** The page already shows a button above. */
  isButtonShown: boolean
}) => {
  const { base, backups, now } = page
  const isBusy = isBeingMade(backups)
  return (
    <div id="backups-now">
      <Section
        id="backups"
        title="Backups"
        note={scheduleOf(backups)}
        aside={!isBusy && !page.isButtonShown && <BackUpNow base={base} isSmall />}
      >
        <DataTable
          caption="Backups, newest first"
          columns={columns(now)}
          rows={backups.made}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              icon="configuration"
              sentence="No backups yet"
              next="A backup contains the database and the master key. You can create one while Gatehouse runs:"
              action={<CodeBlock title="Terminal">gatehouse backup</CodeBlock>}
            />
          }
        />
      </Section>
      {isBusy && <AutoRefresh id="backups-now" here={url(base, PATH)} />}
    </div>
  )
}

const columns = (now: number): Column<BackupRow>[] => [
  { label: 'File', isMono: true, isWide: true, cell: ({ file }) => <Text text={file} /> },
  {
    label: 'Status',
    cell: ({ endedAt, error }) => (
      <>
        <StatusBadge {...badgeOf(endedAt, error)} />
        {error !== null && (
          <p class="hint">
            <Text text={error} />
          </p>
        )}
      </>
    ),
  },
  { label: 'Trigger', cell: ({ origin }) => capitalized(origin) },
  { label: 'Size', align: 'right', cell: (row) => (row.bytes === null ? '–' : bytes(row.bytes)) },
  { label: 'Started', align: 'right', cell: ({ startedAt }) => <Time at={startedAt} now={now} /> },
]

function badgeOf(endedAt: number | null, error: string | null): { tone: Tone; word: string } {
  if (endedAt === null) return { tone: 'busy', word: 'in progress' }
  return error === null ? { tone: 'good', word: 'completed' } : { tone: 'bad', word: 'failed' }
}

const scheduleOf = ({ enabled, everyMs, keep }: BackupHealth): string =>
  enabled
    ? `Runs every ${duration(everyMs)} and keeps the last ${keep}.`
    : 'Scheduled backups are off.'
