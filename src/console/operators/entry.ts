import type { Db } from '../../db/open.ts'
import type { House } from '../../engines/gate/house/index.ts'
import type { IdentityRow } from '../../engines/gate/store/identities.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { fail, notFound } from '../../platform/errors.ts'
import { HOUSE_ID } from '../../platform/house.ts'
import { checkedName, type Plan, type Tenants } from '../../platform/tenants.ts'
import { firstTenantName } from './first-name.ts'
import type { Invitations } from './invitations.ts'
import type { Links } from './links.ts'
import type { Memberships } from './memberships.ts'
import type { OperatorStore } from './store/index.ts'

/** Where somebody comes from. */
export interface Device {
  ipAddress: string | null
  userAgent: string | null
}

/** Who somebody says they are, as typed into a form. */
export interface Newcomer {
  email: string
  displayName: string
  password: string
}

export type Entry = ReturnType<typeof createEntry>

/** The ways into the console by a link that is good once. Each ends in the token of a session. */
export function createEntry(parts: {
  db: Db
  clock: Clock
  audit: Audit
  house: House
  store: OperatorStore
  links: Links
  invitations: Invitations
  memberships: Memberships
  tenants: Tenants
}) {
  const { db, clock, audit, house, store, links, invitations, memberships, tenants } = parts

  /** The first operator: owns the first tenant, and runs the installation. */
  async function setUp(
    token: string,
    { tenantName, ...newcomer }: Newcomer & { tenantName: string },
    device: Device,
  ): Promise<string> {
    checkedName(tenantName)
    if (!links.isForSetUp(token)) throw notFound('the link was used before, or is too old')
    let session = ''
    await house.create(SYSTEM, { ...newcomer, isVerified: false }, (operator) => {
      links.useSetUp(token)
      const actor: Actor = { kind: 'operator', id: operator.id }
      store.addAdmin(operator.id, clock.now())
      audit.record({
        tenantId: HOUSE_ID,
        actor,
        action: 'admin.added',
        object: `operator:${operator.id}`,
      })
      const tenant = tenants.add(actor, { name: tenantName, plan: 'unlimited' })
      memberships.add(actor, tenant.id, operator.id, 'owner')
      session = house.open(operator, { method: 'link', ...device }).token
    })
    return session
  }

  /** Somebody who has lost the way in. */
  const signIn = (token: string, device: Device): Promise<string> =>
    db.commit(() => {
      const id = links.useSignIn(token)
      return house.open({ id }, { method: 'link', ...device }).token
    })

  /** Somebody with an account accepts an invitation. Returns the tenant that they belong to now. */
  const join = (token: string, operatorId: string): Promise<string> =>
    db.commit(() => invitations.accept(token, operatorId).tenantId)

  /**
   * Somebody without one, by the address that was invited. That it is theirs is not proven: the
   * inviter has seen the link too, and could have taken an address of somebody else.
   */
  async function joinAsNewcomer(
    token: string,
    { displayName, password }: Omit<Newcomer, 'email'>,
    device: Device,
  ): Promise<string> {
    const invitation =
      invitations.look(token) ?? fail(notFound('the invitation was used before, or is too old'))
    let session = ''
    const account = { email: invitation.email, displayName, password, isVerified: false }
    await house.create(SYSTEM, account, (operator) => {
      invitations.accept(token, operator.id)
      session = house.open(operator, { method: 'link', ...device }).token
    })
    return session
  }

  /** Within the commit of an open sign-up: a tenant of their own, which they may name later. */
  function welcome({ id, email, traits }: IdentityRow, plan: Plan) {
    const actor: Actor = { kind: 'operator', id }
    const { display_name: name } = JSON.parse(traits) as { display_name?: string }
    const tenant = tenants.add(actor, { name: firstTenantName({ name, email }), plan })
    memberships.add(actor, tenant.id, id, 'owner')
  }

  return { setUp, signIn, join, joinAsNewcomer, welcome }
}

const SYSTEM: Actor = { kind: 'system' }
