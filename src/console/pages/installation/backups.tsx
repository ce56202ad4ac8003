import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { bytes, capitalized } from '../../../../views/ui/words.ts'
import type { Archive } from '../../../platform/backup/index.ts'
import { good, page, usePage } from '../../page.tsx'

const PATH = '/backups'

/** Rows are kept for 90 days, so that failures can be seen. */
const MAX_SHOWN = 200

/** Backups of the installation: make one, and open one to download, check or restore it. */
export const backupList = page({
  path: PATH,
  section: 'backups',
  right: 'admin',
  title: 'Backups',

  load: async ({ backups }) => ({ archives: await backups.archives.list(MAX_SHOWN) }),

  view({ archives }) {
    const { config, href } = usePage()
    const isBusy = archives.some(({ endedAt }) => endedAt === null)
    return (
      <>
        <PageHead
          title="Backups"
          state={{ sentence: scheduleOf(config.backup) }}
          action={!isBusy && <BackUpNow weight="primary" />}
        />
        <div id="backups-now">
          <Section
            id="backups"
            title="Archives"
            note="Each contains the database and, unless left out, the master key."
          >
            <DataTable
              caption="Backups, newest first"
              columns={COLUMNS}
              rows={archives}
              idOf={({ id }) => id}
              hrefOf={({ id }) => href(`${PATH}/${id}`)}
              empty={
                <EmptyState
                  icon="backups"
                  sentence="No backups yet"
                  next="A backup is made while Gatehouse runs. You can also make one on the command line:"
                  action={<CodeBlock title="Terminal">gatehouse backup</CodeBlock>}
                />
              }
            />
          </Section>
          {isBusy && <AutoRefresh id="backups-now" here={href(PATH)} />}
        </div>
      </>
    )
  },

  actions: {
    now: {
      right: 'admin',
      flash: good('Backup started.'),
      /** Starts a backup, which can take minutes. The page shows its progress. */
      run: ({ backups, audit, actor }) =>
        backups.makeNow((file) => {
          const action = 'backup.asked_for'
          audit.recordForOperators({ actor, action, object: `backup:${file}` })
        }),
    },
  },
})

/** Starts a backup, from any page of the installation. */
export const BackUpNow = ({ weight }: { weight?: 'primary' }) => (
  <ActionButton
    isSmall={weight === undefined}
    weight={weight}
    action={useHere().href(`${PATH}/now`)}
  >
    Back up now
  </ActionButton>
)

const COLUMNS: Column<Archive>[] = [
  {
    label: 'File',
    isMono: true,
    isWide: true,
    cell: ({ name }) => <Text text={name} limit={80} />,
  },
  { label: 'Status', narrow: 'corner', cell: (archive) => <StatusBadge {...badgeOf(archive)} /> },
  { label: 'Trigger', cell: ({ origin }) => capitalized(origin) },
  { label: 'Size', align: 'right', cell: (row) => (row.bytes === null ? '–' : bytes(row.bytes)) },
  { label: 'Started', align: 'right', cell: ({ startedAt }) => <Time at={startedAt} /> },
]

/** State of a backup in a word. */
export function badgeOf({ endedAt, error, isThere }: Archive): { tone: Tone; word: string } {
  if (endedAt === null) return { tone: 'busy', word: 'in progress' }
  if (error !== null) return { tone: 'bad', word: 'failed' }
  return isThere ? { tone: 'good', word: 'completed' } : { tone: 'quiet', word: 'file removed' }
}

const scheduleOf = ({
  enabled,
  everyMs,
  keep,
}: {
  enabled: boolean
  everyMs: number
  keep: number
}): string =>
  enabled
    ? `Runs every ${duration(everyMs)} and keeps the last ${keep}.`
    : 'Scheduled backups are off. To turn them on, set enabled = true under [backup] and restart Gatehouse.'
