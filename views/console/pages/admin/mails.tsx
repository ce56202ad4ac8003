import type { MailSummary } from '../../../../src/platform/mail/index.ts'
import type { Column } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import type { Pages } from '../../pager.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { counted, numeral } from '../../words.ts'
import { SearchedList } from './searched-list.tsx'

type MailState = MailSummary['state']

const PATH = '/console/admin/mail'

/** Filters of the outbox, each with its states. */
export const MAIL_STATES = [
  { name: 'kept', label: 'Held', states: ['kept'] },
  { name: 'open', label: 'Queued', states: ['ready', 'leased', 'waiting'] },
  { name: 'sent', label: 'Sent', states: ['sent'] },
  { name: 'failed', label: 'Failed', states: ['failed'] },
] as const satisfies readonly { name: string; label: string; states: readonly MailState[] }[]

type StateName = (typeof MAIL_STATES)[number]['name']

export const MAIL_BADGES: Record<MailState, { tone: Tone; word: string }> = {
  kept: { tone: 'quiet', word: 'held' },
  ready: { tone: 'busy', word: 'queued' },
  leased: { tone: 'busy', word: 'sending' },
  waiting: { tone: 'warn', word: 'retrying' },
  sent: { tone: 'good', word: 'sent' },
  failed: { tone: 'bad', word: 'failed' },
}

/** An email and its owner, which has an ID if it is a tenant. */
export type MailRow = MailSummary & { owner: { id?: string; name: string } }

/** The email outbox. */
export const MailsPage = (page: {
  base: string
  rows: readonly MailRow[]
  /** Selected tenant. */
  tenant: { id: string; name: string } | undefined
  state: StateName | undefined
  q: string
  hasServer: boolean
  open: { ready: number; waiting: number }
  pages: Pages
  now: number
}) => {
  const { base, tenant, state, q } = page
  return (
    <>
      <PageHead title="Email outbox" state={sentenceOn(page)} />
      {tenant && (
        <p class="hint">
          Only emails of <Text text={tenant.name} limit={60} />.{' '}
          <a href={url(base, PATH)}>View all</a>
        </p>
      )}
      <SearchedList
        base={base}
        path={PATH}
        caption="Emails, newest first"
        search={{ label: 'Search by recipient', value: q }}
        filter={{
          name: 'state',
          label: 'Status',
          value: state,
          questions: [
            { label: 'All' },
            ...MAIL_STATES.map(({ name, label }) => ({ label, value: name })),
          ],
        }}
        kept={{ tenant: tenant?.id }}
        columns={columns(page.now)}
        rows={page.rows}
        pages={page.pages}
        none={<NoMails {...page} />}
      />
    </>
  )
}

/** Empty list. Rare states may be further back than one page searches. */
const NoMails = (page: {
  base: string
  state: StateName | undefined
  tenant: { id: string } | undefined
  q: string
  pages: Pages
}) => {
  const isNarrowed = page.state !== undefined || page.tenant !== undefined || page.q !== ''
  const { olderHref } = page.pages
  if (olderHref !== undefined)
    return (
      <EmptyState
        icon="mail"
        sentence="No matches among the newest emails"
        action={<LinkButton href={olderHref}>Search older emails</LinkButton>}
      />
    )
  return (
    <EmptyState
      icon="mail"
      sentence={isNarrowed ? 'No matching emails' : 'No emails yet'}
      next={isNarrowed ? undefined : 'Codes, notifications and invitations appear here.'}
      action={isNarrowed && <LinkButton href={url(page.base, PATH)}>View all emails</LinkButton>}
    />
  )
}

function sentenceOn(page: { hasServer: boolean; open: { ready: number; waiting: number } }): {
  tone: Tone
  sentence: string
} {
  const { hasServer, open } = page
  if (!hasServer)
    return {
      tone: 'warn',
      sentence:
        'No mail server is configured. Emails are held here until they expire, and you can read them.',
    }
  if (open.waiting > 0)
    return {
      tone: 'warn',
      sentence: `${counted(open.waiting, 'email')} retrying${open.ready > 0 ? `, ${numeral(open.ready)} queued` : ''}`,
    }
  return {
    tone: 'good',
    sentence: open.ready === 0 ? 'No emails queued' : `${counted(open.ready, 'email')} queued`,
  }
}

const columns = (now: number): Column<MailRow>[] => [
  {
    label: 'Recipient',
    isWide: true,
    cell: ({ recipient }) => (recipient === null ? 'Erased' : <Text text={recipient} limit={60} />),
  },
  { label: 'Kind', cell: ({ kind }) => <Text text={kind} limit={40} /> },
  { label: 'Tenant', cell: ({ owner }) => <Text text={owner.name} limit={30} /> },
  { label: 'Status', narrow: 'corner', cell: (mail) => <StateOf {...mail} /> },
  { label: 'Attempts', align: 'right', cell: ({ tries }) => numeral(tries) },
  { label: 'Created', align: 'right', cell: ({ createdAt: at }) => <Time at={at} now={now} /> },
]

const StateOf = ({ state, lastError }: MailSummary) => (
  <>
    <StatusBadge {...MAIL_BADGES[state]} />
    {lastError !== null && (
      <p class="hint">
        <Text text={lastError} limit={80} />
      </p>
    )}
  </>
)
