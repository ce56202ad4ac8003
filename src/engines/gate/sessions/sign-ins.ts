import type { Db } from '../../../db/open.ts'
import { rowsBetween } from '../../../db/seq-from.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCursor, type Page, page } from '../../../platform/cursor.ts'
import { type Device, deviceOf } from '../../../platform/device.ts'
import { restOf } from '../../../platform/scan.ts'
import type { IdentityRow } from '../identities/store.ts'
import { SIGN_INS_KEPT } from '../limits.ts'
import type { Store } from '../store.ts'
import type { SignInRow } from './sign-ins-store.ts'

/** An attempt of a user to sign in. */
export interface SignIn {
  /** Position in the list. */
  seq: number
  at: number
  isSuccess: boolean
  method: string
  provider: string | null
  /** Undefined for a success. */
  reason: FailureReason | null
  device: Device | null
  ipAddress: string | null
}

export type FailureReason = 'wrong' | 'inactive'

/** How and from where a user tried to sign in. */
interface Attempt {
  method: string
  provider?: string | undefined
  ipAddress: string | null
  userAgent: string | null
}

interface SignInQuery {
  isSuccess?: boolean | undefined
  isAscending?: boolean
  since?: number | undefined
  until?: number | undefined
  cursor?: string | undefined
  limit: number
}

type Person = Pick<IdentityRow, 'tenantId' | 'id'>

export type SignIns = ReturnType<typeof createSignIns>

/** The sign-in attempts of each identity, for its tenant. Attempts for unknown accounts are not kept. */
export function createSignIns({ db, store, clock }: { db: Db; store: Store; clock: Clock }) {
  /** Stores a success within its commit. */
  const succeeded = (person: Person, attempt: Attempt) => add(person, attempt, null)

  /**
   * Stores a failure in a commit of its own, after the answer: the commit of a failed attempt is undone,
   * and waiting for another one would tell whether the account exists.
   */
  function failed(person: Person, attempt: Attempt, reason: FailureReason) {
    const stored = db.commitFor(person.tenantId, () => {
      if (store.identities.find(person.tenantId, person.id)) add(person, attempt, reason)
    })
    // An attempt that isn't stored must not fail the answer about it.
    stored.catch(() => {})
  }

  function add({ tenantId, id }: Person, attempt: Attempt, reason: FailureReason | null) {
    const isSuccess = reason === null
    store.signIns.insert({
      tenantId,
      identityId: id,
      at: clock.now(),
      isSuccess,
      method: attempt.method,
      provider: attempt.provider ?? null,
      reason,
      ipAddress: attempt.ipAddress,
      userAgent: attempt.userAgent,
    })
    // Each result by itself, so that a stranger's failures don't push out the user's sign-ins.
    store.signIns.trim(tenantId, id, { isSuccess, kept: SIGN_INS_KEPT })
  }

  /** Newest first unless ascending. */
  function list({ tenantId }: Caller, identityId: string, query: SignInQuery): Page<SignIn> {
    const { isSuccess, isAscending, cursor, limit } = query
    const cursors = createCursor(`sign-ins of ${tenantId} ${identityId}`)
    const range = rowsBetween(store.signIns.seqFrom, query)
    const rest = restOf({ ...range, isAscending, limit: limit + 1 }, cursors.positionOf(cursor))
    const rows = store.signIns.list({ tenantId, id: identityId }, isSuccess, rest)
    const listed = page(rows, limit, ({ seq }) => cursors.encode(seq))
    return { ...listed, data: listed.data.map(present) }
  }

  return { succeeded, failed, list }
}

const present = ({ userAgent, reason, ...row }: SignInRow): SignIn => ({
  seq: row.seq,
  at: row.at,
  isSuccess: row.isSuccess,
  method: row.method,
  provider: row.provider,
  reason,
  device: deviceOf(userAgent),
  ipAddress: row.ipAddress,
})
