import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { gateAddresses, gateIdentities } from '../../../engines/gate/schema.ts'
import { consoleAdmins, consoleMemberships } from '../schema.ts'

/** More recipients than a team has; the number of members has no limit. */
const MAX_RECIPIENTS = 100

/** Email addresses of operators who can sign in and have verified them. */
export function createRecipientStore({ orm }: Db) {
  const $ = sql.placeholder
  const isReachable = and(
    eq(gateIdentities.state, 'active'),
    sql`${gateAddresses.verifiedAt} is not null`,
  )
  const members = orm
    .select({ email: gateIdentities.email })
    .from(consoleMemberships)
    .innerJoin(gateIdentities, eq(gateIdentities.id, consoleMemberships.operatorId))
    .innerJoin(gateAddresses, eq(gateAddresses.identityId, gateIdentities.id))
    .where(
      and(
        eq(consoleMemberships.tenantId, $('tenantId')),
        sql`(${$('role')} is null or ${consoleMemberships.role} = ${$('role')})`,
        isReachable,
      ),
    )
    .orderBy(asc(consoleMemberships.createdAt))
    .limit(MAX_RECIPIENTS)
    .prepare()
  const admins = orm
    .select({ email: gateIdentities.email })
    .from(consoleAdmins)
    .innerJoin(gateIdentities, eq(gateIdentities.id, consoleAdmins.operatorId))
    .innerJoin(gateAddresses, eq(gateAddresses.identityId, gateIdentities.id))
    .where(isReachable)
    .orderBy(asc(consoleAdmins.createdAt))
    .limit(MAX_RECIPIENTS)
    .prepare()

  const addresses = (tenantId: string | null, role: 'owner' | null): string[] =>
    (tenantId === null ? admins.all() : members.all({ tenantId, role })).map(({ email }) => email)

  return {
    /** Of a tenant's owners; of the admins for null. */
    ownerAddresses: (tenantId: string | null) => addresses(tenantId, 'owner'),
    /** Of a tenant's members; of the admins for null. */
    memberAddresses: (tenantId: string | null) => addresses(tenantId, null),
  }
}
