import type { Db } from '../../db/open.ts'
import { normaliseEmail } from '../../engines/gate/email.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import { createBuckets } from '../../platform/buckets.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { AppError, conflict, fail, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Mail } from '../../platform/mail/index.ts'
import { letter } from '../../platform/mail/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import type { Grantee } from './grantee.ts'
import type { Memberships } from './memberships.ts'
import type { Role } from './rights.ts'
import type { OperatorStore } from './store/index.ts'
import type { InvitationRow } from './store/invitations.ts'

const INVITATION_MS = 7 * 86_400_000
/** Of one tenant: each can be a mail to somebody who has never heard of it. */
const MOST_OPEN = 100
/** Of one tenant, however many it revokes: all tenants share the queue that these mails wait in. */
const MAX_MAILS_PER_HOUR = 100
/**
 * Of one tenant to one address. Fewer than all tenants together may send there, so that no tenant
 * keeps an address from getting the invitations of others.
 */
const MAX_MAILS_TO_ADDRESS_PER_HOUR = 5
/** Far more than send at once. */
const MAX_BUCKETS = 20_000

/** As mails are counted by it. */
const KIND = 'invitation'

export interface Invitation {
  id: string
  email: string
  role: Role
  created_at: string
  expires_at: string
}

export type Invitations = ReturnType<typeof createInvitations>

/** Asks people to join a tenant, by a link that is good once. A second one replaces the first. */
export function createInvitations(parts: {
  db: Db
  clock: Clock
  audit: Audit
  mail: Mail
  store: OperatorStore
  tenants: Tenants
  memberships: Memberships
  /** The page that a token leads to. */
  pageOf: (token: string) => string
}) {
  const { db, clock, audit, mail, store, tenants, memberships, pageOf } = parts
  const bucketsOf = (perHour: number) => createBuckets({ clock, perHour, most: MAX_BUCKETS })
  const sentByTenant = bucketsOf(MAX_MAILS_PER_HOUR)
  const sentToAddress = bucketsOf(MAX_MAILS_TO_ADDRESS_PER_HOUR)

  /**
   * Where mails go out, the link is for the mailbox alone, and using it verifies the address.
   * Without a mail server the inviter hands `url` over, and using it proves nothing. Throws
   * `conflict` for a member, for an address that has had enough of such mails, and for a tenant that
   * has sent too many.
   */
  async function invite(
    inviter: { actor: Actor; id: string; name: string },
    tenantId: string,
    wanted: { email: string; role: Role },
  ): Promise<Invitation & { url: string; isMailed: boolean }> {
    const email = normaliseEmail(wanted.email, 'email')
    const token = mintSecret()
    const url = pageOf(token)
    return db.commitFor(tenantId, () => {
      if (store.members(tenantId).some((member) => member.email === email))
        throw conflict('is already on the team', { field: 'email', rule: 'taken' })
      if (list(tenantId).filter((one) => one.email !== email).length >= MOST_OPEN)
        throw conflict(`cannot be invited: ${MOST_OPEN} invitations are open. Revoke one first`, {
          field: 'email',
          rule: 'limit',
        })
      const now = clock.now()
      const isMailed = mail.hasServer
      const refusal = mailRefusal(tenantId, email, now)
      if (isMailed && refusal !== undefined)
        throw conflict(`${refusal}. Try again later`, { field: 'email', rule: 'limit' })
      const row: InvitationRow = {
        id: newId(),
        tenantId,
        email,
        role: wanted.role,
        tokenHash: sha256(token),
        isMailed,
        invitedBy: inviter.id,
        createdAt: now,
        expiresAt: now + INVITATION_MS,
      }
      store.putInvitation(row)
      record(inviter.actor, 'invitation.created', row, { role: row.role })
      if (refusal === undefined) post(row, inviter.name, url)
      return { ...present(row), url, isMailed }
    })
  }

  /** Why an invitation cannot be mailed now. */
  function mailRefusal(tenantId: string, email: string, now: number): string | undefined {
    const isTooSoon =
      !mail.sharedAllowance(null, email, now, KIND).allowed ||
      sentToAddress.peek(pairOf(tenantId, email)) > 0
    if (isTooSoon) return 'was sent an invitation recently'
    if (sentByTenant.peek(tenantId) > 0)
      return `cannot be invited now: your team has sent ${MAX_MAILS_PER_HOUR} invitations within an hour`
    return undefined
  }

  /** A matter of the installation: those whom a tenant writes to are its people, not its team. */
  function post(
    { id, tenantId, email, createdAt, expiresAt }: InvitationRow,
    by: string,
    url: string,
  ) {
    const { name } = tenants.find(tenantId)
    const body = letter({
      language: 'en',
      tenantName: name,
      heading: `Join ${name}`,
      paragraphs: [
        `${by} would like you to help run ${name}. The link is good once, for seven days.`,
      ],
      link: { label: 'Accept the invitation', url, orOpen: 'Or open this address:' },
      footer:
        'You got this because somebody typed in your address. Without a click nothing happens.',
    })
    const subject = `${by} invites you to ${name}`
    const about = `invitation:${id}`
    const of = { tenantId: null, about, kind: KIND, recipient: email }
    mail.post({ ...of, ...body, subject, expiresAt }, createdAt)
    // At once, so that no two invitations of one commit get the same allowance.
    sentByTenant.take(tenantId)
    sentToAddress.take(pairOf(tenantId, email))
  }

  const list = (tenantId: string): Invitation[] =>
    store
      .invitations(tenantId)
      .filter(({ expiresAt }) => clock.now() < expiresAt)
      .map(present)

  const revoke = (actor: Actor, tenantId: string, id: string): Promise<void> =>
    db.commitFor(tenantId, () => {
      const row = store.removeInvitation(tenantId, id) ?? fail(notFound('invitation not found'))
      record(actor, 'invitation.revoked', row)
    })

  /** While it is good. Looking at it does not use it up. */
  function look(token: string): InvitationRow | undefined {
    const row = isMinted(token) ? store.invitation(sha256(token)) : undefined
    return row && clock.now() < row.expiresAt ? row : undefined
  }

  /**
   * Within a commit: the operator who holds the link joins, by whatever address. `granteeOf` says
   * as whom, once the invitation is known to give them anything.
   */
  function accept(
    token: string,
    operatorId: string,
    granteeOf: (invitation: InvitationRow) => Grantee,
  ): InvitationRow {
    const row = look(token) ?? fail(usedUp())
    store.removeInvitation(row.tenantId, row.id)
    // Whoever is there already does not lose what they have.
    if (store.roleIn(row.tenantId, operatorId) === undefined)
      memberships.give({ kind: 'operator', id: operatorId }, row.tenantId, granteeOf(row), row.role)
    return row
  }

  const record = (
    actor: Actor,
    action: string,
    { tenantId, id }: InvitationRow,
    detail: Record<string, unknown> = {},
  ) => audit.record({ tenantId, actor, action, object: `invitation:${id}`, detail })

  return { invite, list, revoke, look, accept }
}

const pairOf = (tenantId: string, email: string): string => JSON.stringify([tenantId, email])

const present = ({ id, email, role, createdAt, expiresAt }: InvitationRow): Invitation => ({
  id,
  email,
  role,
  created_at: isoTime(createdAt),
  expires_at: isoTime(expiresAt),
})

const usedUp = () =>
  new AppError('not_found', 'the invitation was used or has expired', {
    code: 'link_used_up',
  })
