import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { Channel } from '../../../engines/notifications/index.ts'
import { TYPE_WORDS } from './words.ts'

/** Channels with the result of their last notice. */
export const ChannelTable = (of: {
  channels: readonly Channel[]
  hrefOf: (id: string) => string
  /** Page to create one; undefined for operators who can't. */
  newHref: string | undefined
  /** Who gets emails if there is no channel; undefined if none are sent. */
  builtIn: string | undefined
}) => (
  <DataTable
    caption="Channels"
    columns={COLUMNS}
    rows={of.channels}
    idOf={({ id }) => id}
    {...(of.newHref && { hrefOf: ({ id }: Channel) => of.hrefOf(id) })}
    empty={
      <EmptyState
        icon="notifications"
        sentence={of.builtIn ?? 'No notifications are sent'}
        next={
          of.builtIn
            ? 'Add a channel to choose where alerts are sent.'
            : 'Without a mail server, alerts are only shown in the console. Add a channel to be notified.'
        }
        action={of.newHref && <LinkButton href={of.newHref}>New channel</LinkButton>}
      />
    }
  />
)

export function stateOf({ isActive, lastError, lastAt }: Channel): { tone: Tone; word: string } {
  if (!isActive) return { tone: 'quiet', word: 'off' }
  if (lastError !== null) return { tone: 'bad', word: 'failing' }
  return lastAt === null ? { tone: 'quiet', word: 'not used yet' } : { tone: 'good', word: 'works' }
}

const COLUMNS: Column<Channel>[] = [
  { label: 'Name', isWide: true, cell: ({ name }) => <Text text={name} limit={60} /> },
  { label: 'Type', cell: ({ type }) => TYPE_WORDS[type].label },
  { label: 'Target', cell: ({ hint }) => <Text text={hint} limit={36} /> },
  {
    label: 'Alerts',
    cell: ({ kinds, minSeverity }) =>
      `${kinds === null ? 'All' : kinds.length}${minSeverity === 'critical' ? ', critical' : ''}`,
  },
  {
    label: 'Status',
    narrow: 'corner',
    cell: (channel) => (
      <>
        <StatusBadge {...stateOf(channel)} />
        {channel.isActive && channel.lastError !== null && (
          <p class="hint">
            <Text text={channel.lastError} limit={36} />
          </p>
        )}
      </>
    ),
  },
  {
    label: 'Last notification',
    align: 'right',
    cell: ({ lastAt }) => (lastAt === null ? 'Never' : <Time at={lastAt} />),
  },
]
