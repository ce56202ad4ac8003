import type { Db } from '../../../db/open.ts'
import { rowsBetween } from '../../../db/seq-from.ts'
import type { Caller, KeyCaller } from '../../../platform/caller.ts'
import { type Clock, isoTime } from '../../../platform/clock.ts'
import { createCursor, type Page, page } from '../../../platform/cursor.ts'
import type { Environment } from '../../../platform/engines.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { restOf } from '../../../platform/scan.ts'
import type { Store } from '../store.ts'
import type { DecisionRow } from './decisions-store.ts'
import type { Decision } from './model.ts'

/** A decision with everything it was based on. */
export type Made = Pick<
  DecisionRow,
  'subject' | 'action' | 'resource' | 'isAllowed' | 'reason' | 'policiesVersion'
> & { context: object; policies: readonly string[] }

/** Maximum number of deciding policies stored by name; a decision can involve hundreds. */
const MAX_POLICIES = 20

interface DecisionQuery {
  subject?: string | undefined
  isAllowed?: boolean | undefined
  cursor?: string | undefined
  limit: number
  /** Oldest first. */
  isAscending?: boolean
  since?: number | undefined
  until?: number | undefined
}

export type Decisions = ReturnType<typeof createDecisions>

/** Stores every decision, so that it can be looked up by id. */
export function createDecisions({ db, clock, store }: { db: Db; clock: Clock; store: Store }) {
  /** Resolves with the decision's id once it is committed. */
  async function keep(caller: KeyCaller, { context, policies, ...made }: Made): Promise<string> {
    const id = newId()
    const row = {
      ...made,
      id,
      tenantId: caller.tenantId,
      environment: caller.environment as Environment,
      keyId: caller.keyId,
      at: clock.now(),
      context: JSON.stringify(context),
      policies: JSON.stringify(policies.slice(0, MAX_POLICIES)),
    }
    await db.commitFor(caller.tenantId, () => store.decisions.insert(row))
    return id
  }

  /** Decisions, newest first unless ascending: those with either result, merged. */
  function list({ tenantId }: Caller, query: DecisionQuery): Page<Decision> {
    const { subject, isAllowed, cursor, limit, isAscending } = query
    const cursors = createCursor(`gate decisions of ${tenantId}`)
    const range = rowsBetween(store.decisions.seqFrom, query)
    const window = { ...range, isAscending, limit: limit + 1 }
    const rest = restOf(window, cursors.positionOf(cursor))
    const rows = (isAllowed === undefined ? [true, false] : [isAllowed])
      .flatMap((one) => store.decisions.page(tenantId, { subject, isAllowed: one }, rest))
      .toSorted((a, b) => (isAscending ? a.seq - b.seq : b.seq - a.seq))
    const listed = page(rows, limit, ({ seq }) => cursors.encode(seq))
    return { ...listed, data: listed.data.map(present) }
  }

  const get = ({ tenantId }: Caller, id: string): Decision =>
    present(store.decisions.find(tenantId, id) ?? fail(notFound('decision not found')))

  const countDenied = ({ tenantId }: Caller, most: number): number =>
    store.decisions.countDenied(tenantId, most)

  return { keep, list, get, countDenied }
}

const present = (row: DecisionRow): Decision => ({
  decision_id: row.id,
  at: isoTime(row.at),
  environment: row.environment,
  key_id: row.keyId,
  subject: row.subject,
  action: row.action,
  resource: row.resource,
  context: JSON.parse(row.context),
  allowed: row.isAllowed,
  reason: row.reason,
  policies: JSON.parse(row.policies),
  policies_version: row.policiesVersion,
})
