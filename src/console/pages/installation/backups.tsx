import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { bytes, capitalized } from '../../../../views/ui/words.ts'
import type { Archive } from '../../../platform/backup/index.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ListChips, NoMatches, useList } from '../../list.tsx'
import { good, type OperatorPageContext, page, usePage } from '../../page.tsx'
import { sortRows } from '../../short-list.ts'

/** Rows are kept for 90 days, so that failures can be seen. */
const MAX_SHOWN = 200
const SORTS = { started: 'desc', size: 'desc' } as const

const STATES = ['failed', 'completed', 'removed'] as const
type State = (typeof STATES)[number] | 'in_progress'

const BADGES: Record<State, { tone: Tone; word: string }> = {
  in_progress: { tone: 'busy', word: 'in progress' },
  failed: { tone: 'bad', word: 'failed' },
  completed: { tone: 'good', word: 'completed' },
  removed: { tone: 'quiet', word: 'file removed' },
}

function stateOf({ endedAt, error, isThere }: Archive): State {
  if (endedAt === null) return 'in_progress'
  if (error !== null) return 'failed'
  return isThere ? 'completed' : 'removed'
}

/** State of a backup in a word. */
export const badgeOf = (archive: Archive) => BADGES[stateOf(archive)]

/** Deletes a backup and its file. */
export const deleteBackup = ({ backups, audit, actor }: OperatorPageContext, id: string) =>
  backups.archives.remove(id, ({ file }) =>
    audit.recordForOperators({
      ...{ actor, action: 'backup.deleted', object: `backup:${id}` },
      detail: { file },
    }),
  )

const BULK = {
  'selected/delete': bulk({
    right: 'admin',
    verb: 'Delete',
    noun: ['backup', 'backups'],
    done: 'deleted',
    confirm: "The files are deleted. This can't be undone.",
    each: deleteBackup,
  }),
}

/** Backups of the installation: make one, and open one to download, check or restore it. */
export const backupList = page({
  path: '/backups',
  section: 'backups',
  right: 'admin',
  title: 'Backups',

  load: async ({ backups }) => ({ archives: await backups.archives.list(MAX_SHOWN) }),

  view({ archives }) {
    const { config, href, query } = usePage()
    const { hrefOf, isFiltered, sortedBy } = useList()
    const isBusy = archives.some(({ endedAt }) => endedAt === null)
    const shown = archives.filter(
      (archive) => stateOf(archive) === (query.state || stateOf(archive)),
    )
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
            {archives.length > 0 && (
              <ListChips
                name="state"
                all={archives.length}
                chips={STATES.map((value) => ({
                  value,
                  label: capitalized(BADGES[value].word),
                  count: archives.filter((archive) => stateOf(archive) === value).length,
                  tone: BADGES[value].tone,
                }))}
              />
            )}
            <DataTable
              caption="Backups"
              columns={COLUMNS}
              rows={sortRows(shown, sortingIn(query.sort, SORTS), {
                started: ({ startedAt }) => startedAt,
                size: (row) => row.bytes ?? 0,
              })}
              idOf={({ id }) => id}
              hrefOf={({ id }) => href(`/backups/${id}`)}
              sorting={sortedBy(SORTS)}
              selection={useSelection(BULK)}
              empty={
                isFiltered ? (
                  <NoMatches icon="backups" noun="backups" />
                ) : (
                  <EmptyState
                    icon="backups"
                    sentence="No backups yet"
                    next="A backup is made while Gatehouse runs. You can also make one on the command line:"
                    action={<CodeBlock title="Terminal">gatehouse backup</CodeBlock>}
                  />
                )
              }
            />
          </Section>
          {isBusy && <AutoRefresh id="backups-now" here={hrefOf()} />}
        </div>
      </>
    )
  },

  actions: {
    ...BULK,
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
    action={useHere().href('/backups/now')}
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
  {
    label: 'Size',
    align: 'right',
    sort: 'size',
    cell: (row) => (row.bytes === null ? '–' : bytes(row.bytes)),
  },
  {
    label: 'Started',
    align: 'right',
    sort: 'started',
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
]

const scheduleOf = ({
  enabled,
  everyMs,
  keep,
  to,
}: {
  enabled: boolean
  everyMs: number
  keep: number
  to?: string | undefined
}): string =>
  enabled
    ? `Runs every ${duration(everyMs)} and keeps the last ${keep}${to === undefined ? '' : ` in ${to}`}.`
    : 'Scheduled backups are off. To turn them on, set enabled = true under [backup] and restart Gatehouse.'
