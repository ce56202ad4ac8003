import type { MailSummary } from '../../../../src/platform/mail/index.ts'
import { CodeBlock } from '../../code-block.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { type Fact, Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { FilterChips } from '../../tabs.tsx'
import { LongText, Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { numeral } from './tenants.tsx'

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

const MARKS: Record<MailState, { tone: Tone; word: string }> = {
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
  hasServer: boolean
  open: { ready: number; waiting: number }
  newerHref: string | undefined
  olderHref: string | undefined
  now: number
}) => {
  const { base, lines, tenant, state, now } = page
  const href = (of?: StateName) => url(base, PATH, { state: of, tenant: tenant?.id })
  return (
    <>
      <PageHead title="Mail outbox" state={sentenceOn(page)} />
      {tenant && (
        <p class="hint">
          Only of <Text text={tenant.name} limit={60} />. <a href={url(base, PATH)}>Show all</a>
        </p>
      )}
      <FilterChips
        label="State"
        tabs={[
          { label: 'All', href: href(), isCurrent: !state },
          ...MAIL_STATES.map(({ name, label }) => ({
            label,
            href: href(name),
            isCurrent: name === state,
          })),
        ]}
      />
      <DataTable
        caption="Mails, the newest first"
        columns={columns(now)}
        rows={lines}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        pages={{ newerHref: page.newerHref, olderHref: page.olderHref }}
        empty={<NoMails {...page} />}
      />
    </>
  )
}

/** Rare states may be further back than one page looks. */
const NoMails = (page: {
  base: string
  state: StateName | undefined
  tenant: { id: string } | undefined
  olderHref: string | undefined
}) => {
  const isNarrowed = page.state !== undefined || page.tenant !== undefined
  if (page.olderHref !== undefined)
    return (
      <EmptyState
        icon="mail"
        sentence="None among the newest of these mails."
        action={<LinkButton href={page.olderHref}>Look further back</LinkButton>}
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
      sentence: `${mails(open.waiting)} could not be sent yet and will be tried again; ${numeral(open.ready)} more due.`,
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
    <StatusMark {...MARKS[state]} />
    {lastError !== null && (
      <p class="hint">
        <Text text={lastError} limit={80} />
      </p>
    )}
  </>
)

/** One mail: what became of it, and where nobody sends it, what it says. */
export const MailPage = (page: {
  base: string
  mail: MailLine
  /** Null where it is not to be shown, or not there any more. */
  text: string | null
  hasServer: boolean
  now: number
}) => {
  const { base, mail, text, now } = page
  return (
    <>
      <PageHead
        title={mail.subject === null ? 'Mail' : <Text text={mail.subject} />}
        state={{ tone: MARKS[mail.state].tone, sentence: sentenceOnState(mail, now) }}
      />
      <Section id="about" title="About" isCard>
        <Facts facts={factsOf(base, mail, now)} />
      </Section>
      <Section id="letter" title="Letter">
        {text === null ? (
          <p class="hint">{whyUnread(mail, page.hasServer)}</p>
        ) : (
          <>
            <p class="hint">
              Its codes and links work: whoever reads them can sign in as the recipient.
            </p>
            <CodeBlock title="Text" what="letter" wraps>
              <LongText text={text} />
            </CodeBlock>
          </>
        )}
      </Section>
    </>
  )
}

const factsOf = (base: string, mail: MailLine, now: number): Fact[] => [
  ['Id', <Id id={mail.id} what="mail id" />],
  ['Recipient', mail.recipient === null ? 'erased' : <Text text={mail.recipient} />],
  ['Kind', <Text text={mail.kind} />],
  [
    'Tenant',
    mail.owner.id === undefined ? (
      mail.owner.name
    ) : (
      <a href={url(base, `/console/admin/tenants/${mail.owner.id}`)}>
        <Text text={mail.owner.name} limit={60} />
      </a>
    ),
  ],
  ['State', <StatusMark {...MARKS[mail.state]} />],
  ['Tries', numeral(mail.tries)],
  ['Last error', mail.lastError === null ? 'none' : <LongText text={mail.lastError} />],
  ['Written', <Time at={mail.createdAt} now={now} />],
  ['Expires', <Time at={mail.expiresAt} now={now} />],
  ...(mail.endedAt === null ? [] : [['Ended', <Time at={mail.endedAt} now={now} />] as const]),
]

function sentenceOnState(mail: MailSummary, now: number) {
  switch (mail.state) {
    case 'kept':
      return 'Kept until there is a mail server, or until it expires.'
    case 'ready':
      return 'Due: it is sent as soon as its turn comes.'
    case 'leased':
      return 'Being handed to the mail server.'
    case 'waiting':
      return (
        <>
          Could not be sent; tried again <Time at={mail.dueAt} now={now} />.
        </>
      )
    case 'sent':
      return 'The mail server has taken it.'
    case 'failed':
      return 'Not sent, and not tried again.'
  }
}

function whyUnread({ endedAt }: MailSummary, hasServer: boolean): string {
  if (endedAt !== null) return 'What it said is erased: that is so once a mail has ended.'
  return hasServer
    ? 'It goes to its recipient alone. Letters are shown here only where there is no mail server.'
    : 'It cannot be opened: another master key has sealed it.'
}
