import type { Commit } from '../../db/commit.ts'
import type { Db } from '../../db/open.ts'

/** Puts off what cannot be taken back, such as a count, a line of the log, or waking a loop. */
export type AfterCommit = (tell: () => void) => void

/**
 * The database for a loop that does its work again when a commit fails. What the work puts off is
 * done once that commit is through, and never if it was lost.
 */
export function tellingAfterCommit(db: Db) {
  let put: (() => void)[] = []
  const afterCommit: AfterCommit = (tell) => void put.push(tell)

  const commit: Commit = async (work) => {
    const own: typeof put = []
    const value = await db.commit(() => {
      put = own
      return work()
    })
    for (const tell of own) tell()
    return value
  }

  return { db: { ...db, commit }, afterCommit }
}
