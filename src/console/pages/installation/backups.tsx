import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { bytes, capitalized } from '../../../../views/ui/words.ts'
import type { BackupRow } from '../../../platform/backup/index.ts'
import type { BackupHealth } from '../../instance-health.ts'

export const isBeingMade = ({ made }: BackupHealth): boolean =>
  made.some(({ endedAt }) => endedAt === null)

export const BackUpNow = () => (
  <ActionButton isSmall action={useHere().actionHref('back-up')}>
    Back up now
  </ActionButton>
)

/** Backups, including one in progress. */
export const BackupsSection = (page: {
  backups: BackupHealth
  /** The page already shows a button above. */
  isButtonShown: boolean
}) => {
  const { backups } = page
  const isBusy = isBeingMade(backups)
  return (
    <div id="backups-now">
      <Section
        id="backups"
        title="Backups"
        note={scheduleOf(backups)}
        aside={!isBusy && !page.isButtonShown && <BackUpNow />}
      >
        <DataTable
          caption="Backups, newest first"
          columns={COLUMNS}
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
      {isBusy && <AutoRefresh id="backups-now" here={useHere().href('/health')} />}
    </div>
  )
}

const COLUMNS: Column<BackupRow>[] = [
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
  { label: 'Started', align: 'right', cell: ({ startedAt }) => <Time at={startedAt} /> },
]

function badgeOf(endedAt: number | null, error: string | null): { tone: Tone; word: string } {
  if (endedAt === null) return { tone: 'busy', word: 'in progress' }
  return error === null ? { tone: 'good', word: 'completed' } : { tone: 'bad', word: 'failed' }
}

const scheduleOf = ({ enabled, everyMs, keep }: BackupHealth): string =>
  enabled
    ? `Runs every ${duration(everyMs)} and keeps the last ${keep}.`
    : 'Scheduled backups are off.'
