import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import { foldEmail } from '../../../engines/gate/identities/email.ts'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import type { MailSummary, Whose } from '../../../platform/mail/index.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { type OperatorPageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'

type MailState = MailSummary['state']

const ON_A_PAGE = 50
/** Failed emails are counted up to this number. */
const MAX_COUNTED = 1000
const SORTS = { created: 'desc' } as const

/** Value of the tenant filter for emails of the installation. */
const INSTALLATION = 'installation'

/** Filters of the outbox, each with its states. */
const MAIL_STATES = [
  { name: 'kept', label: 'Held', states: ['kept'] },
  { name: 'open', label: 'Queued', states: ['ready', 'leased', 'waiting'] },
  { name: 'sent', label: 'Sent', states: ['sent'] },
  { name: 'failed', label: 'Failed', states: ['failed'] },
] as const satisfies readonly { name: string; label: string; states: readonly MailState[] }[]

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

interface Outbox {
  found: Page<MailRow>
  /** Selected tenant. */
  tenant: { id: string; name: string } | undefined
  time: TimeFilter
  hasServer: boolean
  open: { ready: number; waiting: number; kept: number }
  /** Number of failed emails. */
  failed: number
}

/** Changes an email, with an audit entry that doesn't name the recipient. */
const changeMail = (
  { db, audit, actor }: OperatorPageContext,
  action: string,
  change: () => MailSummary,
): Promise<void> =>
  db.commit(() => {
    const { id, tenantId, kind, state } = change()
    const detail = { kind, state, ...(tenantId !== null && { tenant_id: tenantId }) }
    audit.recordForOperators({ actor, action, object: `mail:${id}`, detail })
  })

export const sendNow = (context: OperatorPageContext, id: string) =>
  changeMail(context, 'mail.hastened', () => context.mail.outbox.hasten(id))

export const deleteMail = (context: OperatorPageContext, id: string) =>
  changeMail(context, 'mail.deleted', () => context.mail.outbox.remove(id))

const NOUN = ['email', 'emails'] as const
const BULK = {
  'selected/send': bulk({
    right: 'admin',
    verb: 'Send now',
    noun: NOUN,
    done: 'queued to be sent now',
    each: sendNow,
  }),
  'selected/delete': bulk({
    right: 'admin',
    verb: 'Delete',
    noun: NOUN,
    done: 'deleted',
    confirm:
      "Emails that are not sent yet never arrive: their recipients have to request new ones. This can't be undone.",
    each: deleteMail,
  }),
}

/** Email outbox of all tenants and of the installation. */
export const outboxPage = page({
  path: '/mail',
  section: 'mail',
  right: 'admin',
  title: 'Email outbox',

  load(context): Outbox {
    const { mail, query, position } = context
    const tenant = query.tenant || undefined
    const named = tenant && { id: tenant, name: nameOf(context, tenant) }
    const found = matching(context, { cursor: position.cursor, limit: ON_A_PAGE })
    return {
      found: {
        ...found,
        data: found.data.map((one) => ({ ...one, owner: ownerOf(context, one) })),
      },
      tenant: named || undefined,
      time: timeFilterIn(context),
      hasServer: mail.hasServer,
      open: mail.outbox.open(),
      failed: mail.outbox.countFailed(MAX_COUNTED),
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  view(outbox) {
    const { href } = usePage()
    const { isFiltered, isFirst, pagesTo, sortedBy, hrefOf } = useList()
    const { found, tenant, time } = outbox
    const pages = pagesTo(found.next_cursor)
    const isEmpty = found.data.length === 0 && !isFiltered && isFirst
    return (
      <>
        <PageHead
          title="Email outbox"
          state={sentenceOn(outbox)}
          aside={!isEmpty && <ExportMenu />}
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
            Only emails of <Text text={tenant.name} limit={60} />.{' '}
            <a href={hrefOf({ tenant: undefined })}>View all</a>
          </p>
        )}
        {!isEmpty && (
          <>
            <ListChips name="state" most={MAX_COUNTED} chips={chipsOf(outbox)} />
            <ListFilters search={{ label: 'Search by recipient' }} time={time} />
          </>
        )}
        <DataTable
          caption="Emails"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/mail/${id}`)}
          idOf={({ id }) => id}
          pages={pages}
          sorting={sortedBy(SORTS)}
          selection={useSelection(BULK)}
          empty={
            isEmpty ? (
              <EmptyState
                icon="mail"
                sentence="No emails yet"
                next="Codes, notifications and invitations appear here."
              />
            ) : (
              <NoMatches icon="mail" noun="emails" olderHref={pages.olderHref} />
            )
          }
        />
      </>
    )
  },

  actions: BULK,

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
      slices: (context: OperatorPageContext) => pagesOf((of) => matching(context, of)),
    }),
  },
})

/** Emails that match the filter of the query string, in its order. */
function matching(
  context: OperatorPageContext,
  of: { cursor: string | undefined; limit: number },
): Page<MailSummary> {
  const { mail, query } = context
  const { since, until } = timeFilterIn(context)
  return mail.outbox.list(whoseOf(query.tenant || undefined), {
    ...{ ...of, since, until },
    states: MAIL_STATES.find(({ name }) => name === query.state)?.states,
    recipient: query.q ? foldEmail(query.q) : undefined,
    isAscending: !sortingIn(query.sort, SORTS).isDescending,
  })
}

/** Only those of all tenants are counted. */
function chipsOf({ tenant, failed }: Outbox) {
  const isCounted = tenant === undefined
  return MAIL_STATES.map(({ name: value, label }) => ({
    ...{ value, label },
    ...(value === 'failed' && isCounted && { count: failed, tone: 'bad' as const }),
  }))
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
  {
    label: 'Created',
    align: 'right',
    sort: 'created',
    cell: ({ createdAt: at }) => <Time at={at} />,
  },
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
