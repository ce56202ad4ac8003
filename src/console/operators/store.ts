import { and, asc, count, eq, lt, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { gateIdentities } from '../../engines/gate/schema.ts'
import { HOUSE_ID } from '../../platform/house.ts'
import { tenants } from '../../platform/schema.ts'
import {
  consoleAdmins,
  consoleInvitations,
  consoleLinks,
  consoleMemberships,
  consolePlaces,
} from '../schema.ts'
import type { Role } from './rights.ts'

export type InvitationRow = typeof consoleInvitations.$inferSelect
export type LinkRow = typeof consoleLinks.$inferSelect
export type PlaceRow = typeof consolePlaces.$inferSelect

/** Somebody who belongs to a tenant. */
export interface MemberRow {
  id: string
  email: string
  traits: string
  role: Role
  createdAt: number
}

/** A tenant that somebody belongs to. */
export interface MembershipRow {
  tenantId: string
  tenantName: string
  role: Role
}

export type OperatorStore = ReturnType<typeof createOperatorStore>

/** The only file with SQL on who operates what. */
export function createOperatorStore({ orm }: Db) {
  const $ = sql.placeholder
  const ofOperator = eq(consoleMemberships.operatorId, $('operatorId'))
  const ofTenant = eq(consoleMemberships.tenantId, $('tenantId'))
  const put = orm
    .insert(consoleMemberships)
    .values({
      tenantId: $('tenantId'),
      operatorId: $('operatorId'),
      role: $('role'),
      createdAt: $('now'),
    })
    .onConflictDoUpdate({
      target: [consoleMemberships.operatorId, consoleMemberships.tenantId],
      set: { role: sql`excluded.role` },
    })
    .prepare()
  const remove = orm.delete(consoleMemberships).where(and(ofOperator, ofTenant)).prepare()
  const roleIn = orm
    .select({ role: consoleMemberships.role })
    .from(consoleMemberships)
    .where(and(ofOperator, ofTenant))
    .prepare()
  const ofPerson = orm
    .select({
      tenantId: consoleMemberships.tenantId,
      tenantName: tenants.name,
      role: consoleMemberships.role,
    })
    .from(consoleMemberships)
    .innerJoin(tenants, eq(tenants.id, consoleMemberships.tenantId))
    .where(ofOperator)
    .orderBy(asc(tenants.name), asc(tenants.id))
    .prepare()
  const members = orm
    .select({
      id: gateIdentities.id,
      email: gateIdentities.email,
      traits: gateIdentities.traits,
      role: consoleMemberships.role,
      createdAt: consoleMemberships.createdAt,
    })
    .from(consoleMemberships)
    .innerJoin(gateIdentities, eq(gateIdentities.id, consoleMemberships.operatorId))
    .where(ofTenant)
    .orderBy(asc(consoleMemberships.createdAt), asc(gateIdentities.id))
    .prepare()
  const owners = orm
    .select({ count: count() })
    .from(consoleMemberships)
    .where(and(ofTenant, eq(consoleMemberships.role, 'owner')))
    .prepare()
  const anyAdmin = orm
    .select({ id: consoleAdmins.operatorId })
    .from(consoleAdmins)
    .limit(1)
    .prepare()
  const admin = orm
    .select({ id: consoleAdmins.operatorId })
    .from(consoleAdmins)
    .where(eq(consoleAdmins.operatorId, $('operatorId')))
    .prepare()
  const everybody = orm
    .select({
      id: gateIdentities.id,
      email: gateIdentities.email,
      traits: gateIdentities.traits,
      state: gateIdentities.state,
      createdAt: gateIdentities.createdAt,
    })
    .from(gateIdentities)
    .where(eq(gateIdentities.tenantId, HOUSE_ID))
    .orderBy(asc(gateIdentities.seq))
    .prepare()
  const place = orm
    .select()
    .from(consolePlaces)
    .where(eq(consolePlaces.sessionId, $('sessionId')))
    .prepare()
  const putPlace = orm
    .insert(consolePlaces)
    .values({ sessionId: $('sessionId'), tenantId: $('tenantId') })
    .onConflictDoUpdate({
      target: consolePlaces.sessionId,
      set: { tenantId: sql`excluded.tenant_id` },
    })
    .prepare()
  const invitation = orm
    .select()
    .from(consoleInvitations)
    .where(eq(consoleInvitations.tokenHash, $('tokenHash')))
    .prepare()
  const invitations = orm
    .select()
    .from(consoleInvitations)
    .where(eq(consoleInvitations.tenantId, $('tenantId')))
    .orderBy(asc(consoleInvitations.createdAt))
    .prepare()
  const removeInvitation = orm
    .delete(consoleInvitations)
    .where(and(eq(consoleInvitations.tenantId, $('tenantId')), eq(consoleInvitations.id, $('id'))))
    .returning()
    .prepare()
  const link = orm
    .select()
    .from(consoleLinks)
    .where(eq(consoleLinks.tokenHash, $('tokenHash')))
    .prepare()

  return {
    roleIn: (tenantId: string, operatorId: string): Role | undefined =>
      roleIn.get({ tenantId, operatorId })?.role,
    /** Of one operator, by name of the tenant. */
    membershipsOf: (operatorId: string): MembershipRow[] => ofPerson.all({ operatorId }),
    /** Of one tenant, in the order in which they came. */
    members: (tenantId: string): MemberRow[] => members.all({ tenantId }),
    owners: (tenantId: string): number => owners.get({ tenantId })?.count ?? 0,
    put: (tenantId: string, operatorId: string, role: Role, now: number) =>
      void put.run({ tenantId, operatorId, role, now }),
    remove: (tenantId: string, operatorId: string) => void remove.run({ tenantId, operatorId }),

    hasAdmin: (): boolean => anyAdmin.get() !== undefined,
    isAdmin: (operatorId: string): boolean => admin.get({ operatorId }) !== undefined,
    addAdmin: (operatorId: string, createdAt: number) =>
      void orm.insert(consoleAdmins).values({ operatorId, createdAt }).onConflictDoNothing().run(),
    removeAdmin: (operatorId: string) =>
      void orm.delete(consoleAdmins).where(eq(consoleAdmins.operatorId, operatorId)).run(),
    everybody: () => everybody.all(),

    place: (sessionId: string): PlaceRow | undefined => place.get({ sessionId }),
    putPlace: (row: PlaceRow) => void putPlace.run(row),

    invitation: (tokenHash: string): InvitationRow | undefined => invitation.get({ tokenHash }),
    invitations: (tenantId: string): InvitationRow[] => invitations.all({ tenantId }),
    /** One for each address: the last one counts. */
    putInvitation: (row: InvitationRow) =>
      void orm
        .insert(consoleInvitations)
        .values(row)
        .onConflictDoUpdate({
          target: [consoleInvitations.tenantId, consoleInvitations.email],
          set: row,
        })
        .run(),
    removeInvitation: (tenantId: string, id: string): InvitationRow | undefined =>
      removeInvitation.get({ tenantId, id }),

    link: (tokenHash: string): LinkRow | undefined => link.get({ tokenHash }),
    addLink: (row: LinkRow) => void orm.insert(consoleLinks).values(row).run(),
    removeLink: (tokenHash: string) =>
      void orm.delete(consoleLinks).where(eq(consoleLinks.tokenHash, tokenHash)).run(),
    /** Of set-up: none of them is needed once somebody has used one. */
    removeSetUpLinks: () =>
      void orm.delete(consoleLinks).where(sql`${consoleLinks.operatorId} is null`).run(),

    removeExpired: (now: number, limit: number): number => {
      const over = { before: now, limit }
      return (
        removeSlice(consoleLinks, 'token_hash', over) + removeSlice(consoleInvitations, 'id', over)
      )
    },
  }

  function removeSlice(
    table: typeof consoleLinks | typeof consoleInvitations,
    key: 'token_hash' | 'id',
    { before, limit }: { before: number; limit: number },
  ): number {
    const name = sql.raw(key)
    const old = sql`select ${name} from ${table} where ${lt(table.expiresAt, before)} limit ${limit}`
    return orm.all(sql`delete from ${table} where ${name} in (${old}) returning ${name}`).length
  }
}
