import type { Health } from '../../../../src/console/instance-health.ts'
import type { BackupRow } from '../../../../src/platform/backup/index.ts'
import { CodeBlock } from '../../code-block.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { ActionButton } from '../../form/button.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { Text } from '../../text.tsx'
import { duration, Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { Watch } from '../clockwork/watch.tsx'

const PATH = '/console/admin/health'

type Backups = Health['backups']

export const isBeingMade = ({ made }: Backups): boolean =>
  made.some(({ endedAt }) => endedAt === null)

export const BackUpNow = ({ base, isSmall = false }: { base: string; isSmall?: boolean }) => (
  <ActionButton isSmall={isSmall} action={url(base, `${PATH}/back-up`)}>
    Back up now
  </ActionButton>
)

/** What there is to go back to, and the one that is being made. */
export const BackupsSection = (page: {
  base: string
  backups: Backups
  now: number
  /** It is asked for above already. */
  isAskedFor: boolean
  bytes: (count: number) => string
}) => {
  const { base, backups, now, bytes } = page
  const isBusy = isBeingMade(backups)
  return (
    <div id="backups-now">
      <Section
        id="backups"
        title="Backups"
        note={scheduleOf(backups)}
        aside={!isBusy && !page.isAskedFor && <BackUpNow base={base} isSmall />}
      >
        <DataTable
          caption="Backups, the newest first"
          columns={columns(now, bytes)}
          rows={backups.made}
          idOf={({ id }) => id}
          empty={
            <EmptyState
              icon="configuration"
              sentence="No backup yet."
              next="One archive holds the database and the master key. From a terminal, also while this runs:"
              action={<CodeBlock title="Terminal">gatehouse backup</CodeBlock>}
            />
          }
        />
      </Section>
      {isBusy && <Watch id="backups-now" here={url(base, PATH)} />}
    </div>
  )
}

const columns = (now: number, bytes: (count: number) => string): Column<BackupRow>[] => [
  { label: 'File', isMono: true, isWide: true, cell: ({ file }) => <Text text={file} /> },
  {
    label: 'Result',
    cell: ({ endedAt, error }) => (
      <>
        <StatusMark {...markOf(endedAt, error)} />
        {error !== null && (
          <p class="hint">
            <Text text={error} />
          </p>
        )}
      </>
    ),
  },
  { label: 'Made by', cell: ({ origin }) => origin },
  { label: 'Size', align: 'right', cell: (row) => (row.bytes === null ? '–' : bytes(row.bytes)) },
  { label: 'Began', align: 'right', cell: ({ startedAt }) => <Time at={startedAt} now={now} /> },
]

function markOf(endedAt: number | null, error: string | null): { tone: Tone; word: string } {
  if (endedAt === null) return { tone: 'busy', word: 'being made' }
  return error === null ? { tone: 'good', word: 'good' } : { tone: 'bad', word: 'failed' }
}

const scheduleOf = ({ enabled, everyMs, keep }: Backups): string =>
  enabled ? `One every ${duration(everyMs)}; the last ${keep} are kept.` : 'None is made by itself.'
