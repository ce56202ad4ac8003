import type { MailSummary } from '../../../../src/platform/mail/index.ts'
import type { Column } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import type { Pages } from '../../pager.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { numeral } from '../../words.ts'
import { SearchedList } from './searched-list.tsx'

type MailState = MailSummary['state']

const PATH = '/console/admin/mail'

/** What people ask of the outbox, each about one or more of its states. */
export const MAIL_STATES = [
  { name: 'kept', label: 'Kept', states: ['kept'] },
  { name: 'open', label: 'To be sent', states: ['ready', 'leased', 'waiting'] },
  { name: 'sent', label: 'Sent', states: ['sent'] },
  { name: 'failed', label: 'Not sent', states: ['failed'] },
] as const satisfies readonly { name: string; label: string; states: readonly MailState[] }[]

type StateName = (typeof MAIL_STATES)[number]['name']

export const MAIL_MARKS: Record<MailState, { tone: Tone; word: string }> = {
  kept: { tone: 'quiet', word: 'kept' },
  ready: { tone: 'busy', word: 'due' },
  leased: { tone: 'busy', word: 'being sent' },
  waiting: { tone: 'warn', word: 'waits for a retry' },
  sent: { tone: 'good', word: 'sent' },
  failed: { tone: 'bad', word: 'not sent' },
}

/** A mail, and whose matter it is; without an id that is no tenant. */
export type MailLine = MailSummary & { owner: { id?: string; name: string } }

/** What was written to whom. */
export const MailsPage = (page: {
  base: string
  lines: readonly MailLine[]
  /** Whose mails alone are shown. */
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
      <PageHead title="Mail outbox" state={sentenceOn(page)} />
      {tenant && (
        <p class="hint">
          Only of <Text text={tenant.name} limit={60} />. <a href={url(base, PATH)}>Show all</a>
        </p>
      )}
      <SearchedList
        base={base}
        path={PATH}
        caption="Mails, the newest first"
        search={{ label: 'E-mail of the recipient', value: q }}
        filter={{
          name: 'state',
          label: 'State',
          value: state,
          questions: [
            { label: 'All' },
            ...MAIL_STATES.map(({ name, label }) => ({ label, value: name })),
          ],
        }}
        kept={{ tenant: tenant?.id }}
        columns={columns(page.now)}
        rows={page.lines}
        pages={page.pages}
        none={<NoMails {...page} />}
      />
    </>
  )
}

/** Rare states may be further back than one page looks. */
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
        sentence="None among the newest of these mails."
        action={<LinkButton href={olderHref}>Look further back</LinkButton>}
      />
    )
  return (
    <EmptyState
      icon="mail"
      sentence={isNarrowed ? 'No mail is like that.' : 'No mail has been written yet.'}
      next={
        isNarrowed ? undefined : 'Codes, notices and invitations stand here once there are any.'
      }
      action={isNarrowed && <LinkButton href={url(page.base, PATH)}>Show all mails</LinkButton>}
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
      sentence: 'There is no mail server: mails are kept here to be read, until they expire.',
    }
  if (open.waiting > 0)
    return {
      tone: 'warn',
      sentence:
        `${mails(open.waiting)} could not be sent yet and will be tried again` +
        `${open.ready > 0 ? `; ${numeral(open.ready)} more due` : ''}.`,
    }
  return {
    tone: 'good',
    sentence: open.ready === 0 ? 'Nothing waits to be sent.' : `${mails(open.ready)} to be sent.`,
  }
}

const mails = (count: number): string => (count === 1 ? 'One mail' : `${numeral(count)} mails`)

const columns = (now: number): Column<MailLine>[] => [
  {
    label: 'Recipient',
    isWide: true,
    cell: ({ recipient }) => (recipient === null ? 'erased' : <Text text={recipient} limit={60} />),
  },
  { label: 'Kind', cell: ({ kind }) => <Text text={kind} limit={40} /> },
  { label: 'Tenant', cell: ({ owner }) => <Text text={owner.name} limit={30} /> },
  { label: 'State', narrow: 'corner', cell: (mail) => <StateOf {...mail} /> },
  { label: 'Tries', align: 'right', cell: ({ tries }) => numeral(tries) },
  { label: 'Written', align: 'right', cell: ({ createdAt: at }) => <Time at={at} now={now} /> },
]

const StateOf = ({ state, lastError }: MailSummary) => (
  <>
    <StatusMark {...MAIL_MARKS[state]} />
    {lastError !== null && (
      <p class="hint">
        <Text text={lastError} limit={80} />
      </p>
    )}
  </>
)
