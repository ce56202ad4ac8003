import { eq, sql } from 'drizzle-orm'
import type { AnyProvider } from '../../../../config/index.ts'
import type { Db } from '../../../../db/open.ts'
import { rowOf } from '../../../../db/placeholders.ts'
import { gateOAuthStates as states } from '../../schema.ts'

export type OAuthStateRow = typeof states.$inferSelect & { provider: AnyProvider }

/** OAuth states of browsers that are at a provider. */
export function createOAuthStateStore({ orm }: Db) {
  const $ = sql.placeholder
  const insert = orm.insert(states).values(rowOf(states)).prepare()
  const take = orm
    .delete(states)
    .where(eq(states.stateHash, $('stateHash')))
    .returning()
    .prepare()
  const find = orm
    .select()
    .from(states)
    .where(eq(states.stateHash, $('stateHash')))
    .prepare()

  const removeBeyond = orm
    .delete(states)
    .where(
      sql`state_hash in (select state_hash from gate_round_trips
        where tenant_id = ${$('tenantId')} and flow_id = ${$('flowId')}
        order by issued_at desc limit -1 offset ${$('kept')})`,
    )
    .prepare()

  return {
    insert: (row: OAuthStateRow) => void insert.run({ ...row }),
    /** Deletes all states of a flow except for the newest. */
    removeBeyond: (tenantId: string, flowId: string, kept: number) =>
      void removeBeyond.run({ tenantId, flowId, kept }),
    find: (stateHash: string) => find.get({ stateHash }) as OAuthStateRow | undefined,
    /** Each works once: of two concurrent returns, only one succeeds. */
    take: (stateHash: string) => take.get({ stateHash }) as OAuthStateRow | undefined,
  }
}
