import type { Db } from '../../db/open.ts'
import type { GateOperators } from '../../engines/gate/operators/index.ts'
import type { Operator } from '../../engines/gate/operators/list.ts'
import type { Actor } from '../../platform/audit/index.ts'
import { AppError, conflict, fail, notFound } from '../../platform/errors.ts'
import type { Mail } from '../../platform/mail/index.ts'
import { checkedName, type Tenants } from '../../platform/tenants.ts'
import type { Admins } from './admins.ts'
import { newcomer } from './grantee.ts'
import type { Grantees } from './grantees.ts'
import type { Invitations } from './invitations.ts'
import type { Links } from './links.ts'
import type { Memberships } from './memberships.ts'
import type { InvitationRow } from './store/invitations.ts'

/** Client of a request. */
export interface Device {
  ipAddress: string | null
  userAgent: string | null
}

/** Account data from a form. */
export interface Newcomer {
  email: string
  displayName: string
  password: string
}

/** Result of a sign-in with a link. */
interface SignedIn {
  session: string
  /** Whether the account was unverified, and lost its credentials and other sessions. */
  isSecured: boolean
}

/** A session just opened, with the token that only its browser gets. */
type OpenedSession = ReturnType<GateOperators['open']>

/** To accept, an unverified account verifies by mail or, without mail, loses its sign-in methods. */
export type AcceptanceIssue = 'must verify' | 'loses credentials'

/** Result of an accepted invitation. */
interface Joined {
  /** The joined tenant. */
  tenantId: string
  /** The only session of an account that was not verified. */
  renewed: OpenedSession | undefined
}

export type Entry = ReturnType<typeof createEntry>

/** Set-up, sign-in and invitations with one-time links. Each opens a session. */
export function createEntry(parts: {
  db: Db
  gateOperators: GateOperators
  links: Links
  invitations: Invitations
  memberships: Memberships
  admins: Admins
  grantees: Grantees
  tenants: Tenants
  mail: Pick<Mail, 'hasServer'>
}) {
  const { db, gateOperators, links, invitations, memberships, admins, grantees, tenants, mail } =
    parts

  /** Creates the first operator, as an admin and owner of the first tenant. */
  async function setUp(
    token: string,
    { tenantName, ...account }: Newcomer & { tenantName: string },
    device: Device,
  ): Promise<string> {
    checkedName(tenantName)
    if (!links.isForSetUp(token)) throw notFound('the link was used or has expired')
    gateOperators.admit(device.ipAddress)
    let session = ''
    await gateOperators.create(SYSTEM, { ...account, isVerified: false }, (operator) => {
      links.useSetUp(token)
      const actor: Actor = { kind: 'operator', id: operator.id }
      admins.add(actor, newcomer(operator))
      const tenant = tenants.add(actor, { name: tenantName, plan: 'unlimited' })
      memberships.give(actor, tenant.id, newcomer(operator), 'owner')
      session = gateOperators.open(operator, { method: 'link', ...device }).token
    })
    return session
  }

  /**
   * Signs in an operator who lost access. A mailed link verifies the address; an unverified account
   * loses its other sign-in methods. Throws `conflict` if the address has changed since.
   */
  const signIn = (token: string, device: Device): Promise<SignedIn> =>
    db.commit(() => {
      const { operatorId: id, mailedTo, createdAt: at } = links.useSignIn(token)
      const { email, isVerified } = existing(id)
      const isMailed = mailedTo !== null
      grantees.secured({ kind: 'operator', id }, { id, email: mailedTo ?? email, at })
      if (isMailed) gateOperators.verify(id)
      const { token: session } = gateOperators.open(
        { id },
        { method: isMailed ? 'code' : 'link', ...device },
      )
      return { session, isSecured: !isVerified }
    })

  /**
   * Accepts an invitation. Throws `conflict` for an unverified account that a mail can verify.
   * Without a mail server, such an account gets only a new session.
   */
  const join = (token: string, id: string, device: Device): Promise<Joined> =>
    db.commit(() => {
      let renewed: Joined['renewed']
      const { tenantId } = invitations.accept(token, id, (invitation) => {
        if (isOfMailbox(invitation, id)) gateOperators.verify(id)
        const operator = existing(id)
        if (mail.hasServer && !operator.isVerified) throw conflict(NOT_VERIFIED)
        const grantee = grantees.secured({ kind: 'operator', id }, operator)
        if (!operator.isVerified)
          renewed = gateOperators.open({ id }, { method: 'link', ...device })
        return grantee
      })
      return { tenantId, renewed }
    })

  /** Why an account can't accept an invitation yet; undefined if it can. */
  function acceptanceIssue(invitation: InvitationRow, id: string): AcceptanceIssue | undefined {
    const isMember = memberships.of(id).some(({ tenantId }) => tenantId === invitation.tenantId)
    if (existing(id).isVerified || isOfMailbox(invitation, id) || isMember) return undefined
    return mail.hasServer ? 'must verify' : 'loses credentials'
  }

  /** Whether the invitation was only emailed to the account's own address, which verifies it. */
  const isOfMailbox = ({ isMailed, email }: InvitationRow, id: string): boolean =>
    isMailed && existing(id).email === email

  const existing = (id: string): Operator =>
    gateOperators.operatorList.find(id) ?? fail(notFound('operator not found'))

  /** Accepts an invitation with a new account of the invited address, which is verified if the link was only
   * emailed. Undefined if the address already has an account, whose owner has to sign in first.
   */
  async function joinAsNewcomer(
    token: string,
    { displayName, password }: Omit<Newcomer, 'email'>,
    device: Device,
  ): Promise<string | undefined> {
    const { email, isMailed: isVerified } =
      invitations.peek(token) ?? fail(notFound('the invitation was used or has expired'))
    gateOperators.admit(device.ipAddress)
    let session: string | undefined
    try {
      await gateOperators.create(
        SYSTEM,
        { email, displayName, password, isVerified },
        (operator) => {
          invitations.accept(token, operator.id, () => newcomer(operator))
          session = gateOperators.open(operator, { method: 'link', ...device }).token
        },
      )
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'conflict')) throw error
    }
    return session
  }

  return { setUp, signIn, join, acceptanceIssue, joinAsNewcomer }
}

const NOT_VERIFIED = 'your address is not verified; verify it, then open the invitation again'

const SYSTEM: Actor = { kind: 'system' }
