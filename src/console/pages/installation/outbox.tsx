import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import type { Pages } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import type { Column } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import { foldEmail } from '../../../engines/gate/identities/email.ts'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import type { MailSummary, Whose } from '../../../platform/mail/index.ts'
import type { Scan } from '../../../platform/scan.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { type OperatorPageContext, page } from '../../page.tsx'
import { SearchedList, searchIn } from './searched-list.tsx'

type MailState = MailSummary['state']

const PATH = '/mail'
/** Value of the tenant filter for emails of the installation. */
const INSTALLATION = 'installation'

/** Filters of the outbox, each with its states. */
const MAIL_STATES = [
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

const cursor = createCursor('console mails')

/** Email outbox of all tenants and of the installation. */
export const outboxPage = page({
  path: PATH,
  section: 'mail',
  right: 'admin',
  title: 'Email outbox',

  load(context): Outbox {
    const { mail } = context
    const { q, after: before, rows, pagesTo } = searchIn(context, PATH, cursor)
    const { tenant, state, page: pageFrom } = matching(context)
    const found = pageFrom({ before, limit: rows })
    return {
      rows: found.mails.map((one) => ({ ...one, owner: ownerOf(context, one) })),
      tenant: tenant === undefined ? undefined : { id: tenant, name: nameOf(context, tenant) },
      state: state?.name,
      q,
      hasServer: mail.hasServer,
      open: mail.outbox.open(),
      pages: pagesTo(found.next, { state: state?.name, tenant }),
    }
  },

  view(outbox) {
    const { href } = useHere()
    const { tenant, state, q } = outbox
    return (
      <>
        <PageHead
          title="Email outbox"
          state={sentenceOn(outbox)}
          aside={outbox.rows.length > 0 && <ExportMenu />}
          action={
            !outbox.hasServer && (
              <LinkButton weight="primary" href={href('/mail-server')}>
                Set up mail server
              </LinkButton>
            )
          }
        />
        {tenant && (
          <p class="hint">
            Only emails of <Text text={tenant.name} limit={60} />. <a href={href(PATH)}>View all</a>
          </p>
        )}
        <SearchedList
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
          columns={COLUMNS}
          rows={outbox.rows}
          pages={outbox.pages}
          none={<NoMails {...outbox} />}
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'emails',
      columns: {
        id: ({ id }) => id,
        kind: ({ kind }) => kind,
        recipient: ({ recipient }) => recipient,
        state: ({ state }) => state,
        attempts: ({ tries }) => tries,
        last_error: ({ lastError }) => lastError,
        created_at: ({ createdAt }) => isoTime(createdAt),
        ended_at: ({ endedAt }) => isoOrNull(endedAt),
      },
      slices: (context: OperatorPageContext) => allOf(matching(context)),
    }),
  },
})

/** The filter of the query string, and the emails that match it. */
function matching(context: OperatorPageContext) {
  const { mail, query } = context
  const { search } = searchIn(context, PATH, cursor)
  const state = MAIL_STATES.find(({ name }) => name === query.state)
  const tenant = query.tenant || undefined
  const recipient = search === undefined ? undefined : foldEmail(search)
  const filter = { states: state?.states, recipient }
  const page = (scan: Scan) => mail.outbox.page(whoseOf(tenant), filter, scan)
  return { tenant, state, page }
}

/** All matching emails, in slices. */
function* allOf({ page }: ReturnType<typeof matching>) {
  for (let before: number | undefined; ; ) {
    const { mails, next } = page({ before, limit: EXPORTED_AT_ONCE })
    yield mails
    if (next === undefined) return
    before = next
  }
}

const EXPORTED_AT_ONCE = 100

interface Outbox {
  rows: readonly MailRow[]
  /** Selected tenant. */
  tenant: { id: string; name: string } | undefined
  state: StateName | undefined
  q: string
  hasServer: boolean
  open: { ready: number; waiting: number }
  pages: Pages
}

const whoseOf = (tenant: string | undefined): Whose =>
  tenant === undefined ? 'all' : { tenantId: tenant === INSTALLATION ? null : tenant }

const nameOf = ({ tenants }: OperatorPageContext, tenant: string): string =>
  tenant === INSTALLATION ? 'Installation' : tenants.nameOf(tenant)

/** Owner of an email. Operators belong to no tenant that has a page. */
export function ownerOf({ tenants }: OperatorPageContext, { tenantId }: MailSummary) {
  if (tenantId === null) return { name: 'Installation' }
  return tenants.exists(tenantId)
    ? { id: tenantId, name: tenants.nameOf(tenantId) }
    : { name: 'Operators' }
}

/** Empty list. Rare states may be further back than one page searches. */
const NoMails = (page: Outbox) => {
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
      action={isNarrowed && <LinkButton href={useHere().href(PATH)}>View all emails</LinkButton>}
    />
  )
}

function sentenceOn({ hasServer, open }: Outbox): { tone: Tone; sentence: string } {
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

const COLUMNS: Column<MailRow>[] = [
  {
    label: 'Recipient',
    isWide: true,
    cell: ({ recipient }) => (recipient === null ? 'Erased' : <Text text={recipient} limit={60} />),
  },
  { label: 'Kind', cell: ({ kind }) => <Text text={kind} limit={40} /> },
  { label: 'Tenant', cell: ({ owner }) => <Text text={owner.name} limit={30} /> },
  { label: 'Status', narrow: 'corner', cell: (mail) => <StateOf {...mail} /> },
  { label: 'Attempts', align: 'right', cell: ({ tries }) => numeral(tries) },
  { label: 'Created', align: 'right', cell: ({ createdAt: at }) => <Time at={at} /> },
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
