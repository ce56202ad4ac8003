import type { Db } from '../../db/open.ts'
import { normaliseEmail } from '../../engines/gate/identities/email.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import { createBuckets } from '../../platform/buckets.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { isMinted, mintSecret, sha256 } from '../../platform/crypto.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { AppError, conflict, fail, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type Mail, renderMail } from '../../platform/mail/index.ts'
import type { SharedLimit } from '../../platform/shared-memory.ts'
import type { Siblings } from '../../platform/siblings.ts'
import type { Tenants } from '../../platform/tenants.ts'
import type { Grantee } from './grantee.ts'
import type { Memberships } from './memberships.ts'
import type { Role } from './rights.ts'
import type { OperatorStore } from './store/index.ts'
import type { InvitationRow } from './store/invitations.ts'

const INVITATION_MS = 7 * DAY_MS
/** Open invitations per tenant. Each can be an unsolicited email, so their number is limited. */
const MAX_OPEN = 100
/** Per tenant, including revoked invitations, because all tenants share the queue of these mails. */
const MAX_MAILS_PER_HOUR = 100
/** Per tenant and address; below the overall limit, so no tenant can block others' invitations. */
const MAX_MAILS_TO_ADDRESS_PER_HOUR = 5
/** More than the number of tenants that send at the same time. */
const MAX_BUCKETS = 20_000

/** The mail kind that the throttle counts by. */
const KIND = 'invitation'

export interface Invitation {
  id: string
  email: string
  role: Role
  created_at: string
  expires_at: string
}

export type Invitations = ReturnType<typeof createInvitations>

/** Invitations to a tenant by one-time links. A second one for an address replaces the first. */
export function createInvitations(parts: {
  db: Db
  clock: Clock
  audit: Audit
  mail: Mail
  store: OperatorStore
  tenants: Tenants
  memberships: Memberships
  /** The URL of the page for a token. */
  pageOf: (token: string) => string
  siblings: Siblings
}) {
  const { db, clock, audit, mail, store, tenants, memberships, pageOf, siblings } = parts
  const bucketsOf = (limit: SharedLimit, perHour: number) =>
    createBuckets({ clock, perHour, most: MAX_BUCKETS, shared: { siblings, limit } })
  const sentByTenant = bucketsOf('invitations of a tenant', MAX_MAILS_PER_HOUR)
  const sentToAddress = bucketsOf('invitations to an address', MAX_MAILS_TO_ADDRESS_PER_HOUR)

  /**
   * With a mail server, the link is sent to the mailbox only, and accepting it verifies the address.
   * Without one, the inviter passes on `url`, and accepting it verifies nothing. Throws `conflict`
   * for a member, for an address that has reached the limit of invitation mails, and for a tenant
   * that has sent too many.
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
      if (list(tenantId).filter((one) => one.email !== email).length >= MAX_OPEN)
        throw conflict(`cannot be invited: ${MAX_OPEN} invitations are pending. Revoke one first`, {
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

  /** Sent on behalf of the installation: a tenant's own mails go to its users, not to its team. */
  function post(
    { id, tenantId, email, createdAt, expiresAt }: InvitationRow,
    by: string,
    url: string,
  ) {
    const { name } = tenants.find(tenantId)
    const body = renderMail({
      language: 'en',
      tenantName: name,
      heading: `Join ${name}`,
      paragraphs: [`${by} invited you to join ${name}. The link works once and expires in 7 days.`],
      link: { label: 'Accept invitation', url, orOpen: 'Or copy this link into your browser:' },
      footer:
        "If you weren't expecting this invitation, ignore this email. Nothing happens unless you open the link.",
    })
    const subject = `${by} invited you to join ${name}`
    const about = `invitation:${id}`
    const of = { tenantId: null, about, kind: KIND, recipient: email }
    mail.post({ ...of, ...body, subject, expiresAt }, createdAt)
    // The allowance is used immediately, so that two invitations in one commit do not share it.
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

  /** The invitation, if it is valid. Reading it does not use it up. */
  function peek(token: string): InvitationRow | undefined {
    const row = isMinted(token) ? store.invitation(sha256(token)) : undefined
    return row && clock.now() < row.expiresAt ? row : undefined
  }

  /** Within a commit. Any operator may use the link; `granteeOf` runs only for a new membership. */
  function accept(
    token: string,
    operatorId: string,
    granteeOf: (invitation: InvitationRow) => Grantee,
  ): InvitationRow {
    const row = peek(token) ?? fail(usedUp())
    store.removeInvitation(row.tenantId, row.id)
    // An existing member keeps their role.
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

  return { invite, list, revoke, peek, accept }
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
  new AppError('not_found', 'the invitation was used or has expired', { code: 'link_used_up' })
