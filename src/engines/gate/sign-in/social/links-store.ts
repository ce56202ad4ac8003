import { and, asc, eq, sql } from 'drizzle-orm'
import type { AnyProvider } from '../../../../config/index.ts'
import type { Db } from '../../../../db/open.ts'
import { rowOf } from '../../../../db/placeholders.ts'
import { gateSocialLinks as links } from '../../schema.ts'

export type SocialLinkRow = typeof links.$inferSelect & { provider: AnyProvider }

/** Social accounts, each connected to one identity of the tenant. */
export function createSocialLinkStore({ orm }: Db) {
  const $ = sql.placeholder
  const account = and(
    eq(links.tenantId, $('tenantId')),
    eq(links.provider, $('provider')),
    eq(links.subject, $('subject')),
  )
  const ofIdentity = and(eq(links.tenantId, $('tenantId')), eq(links.identityId, $('identityId')))
  const insert = orm.insert(links).values(rowOf(links)).prepare()
  const find = orm.select().from(links).where(account).prepare()
  const all = orm
    .select()
    .from(links)
    .where(ofIdentity)
    .orderBy(asc(links.createdAt), asc(links.provider))
    .prepare()
  const removeProvider = orm
    .delete(links)
    // Selects by identity: the other index would scan all the tenant's accounts at the provider.
    .where(and(ofIdentity, sql`+${links.provider} = ${$('provider')}`))
    .prepare()
  const removeAll = orm.delete(links).where(ofIdentity).prepare()

  return {
    insert: (row: SocialLinkRow) => void insert.run({ ...row }),
    find: (tenantId: string, provider: AnyProvider, subject: string) =>
      find.get({ tenantId, provider, subject }) as SocialLinkRow | undefined,
    /** In the order in which they were connected. */
    of: (tenantId: string, identityId: string) =>
      all.all({ tenantId, identityId }) as SocialLinkRow[],
    removeProvider: (tenantId: string, identityId: string, provider: AnyProvider) =>
      void removeProvider.run({ tenantId, identityId, provider }),
    removeAll: (tenantId: string, identityId: string) =>
      void removeAll.run({ tenantId, identityId }),
  }
}
