import { DatabaseLostError } from '../../../../db/errors.ts'
import type { Db } from '../../../../db/open.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Log } from '../../../../platform/log.ts'
import { END } from '../../../../platform/scan.ts'
import type { Store } from '../../store.ts'
import type { IdentityRow, State } from '../store.ts'
import { entryOf, queryOf, scopeOf, wordsOf } from './terms.ts'

/** Identities per commit. */
const SLICE = 200
/** Entries per round whose identity may have gone with its tenant: a million are checked within 10 minutes. */
const CHECKED = 10_000
/** Removed entries per commit, each of which takes milliseconds in a large index. */
const REMOVED = 5
const BETWEEN_ROUNDS_MS = 5000
/** Identities that are compared one by one, because they are not in the index yet. */
const MAX_NEW = 500
/** Entries that one page compares with the words. */
const MAX_COMPARED = 1000

export type IdentitySearch = ReturnType<typeof createIdentitySearch>

/**
 * Finds identities by any part of their email and name. A round every 5 seconds adds new identities
 * to the index, so that a sign-up doesn't pay for it; until then, a search looks at them one by one.
 */
export function createIdentitySearch(parts: { db: Db; store: Store; clock: Clock; log: Log }) {
  const { db, store, clock, log } = parts
  const { search, identities } = store
  let cancel = () => {}
  let isStopped = false
  let checkedUpTo = 0

  const isComplete = () => search.isMade() && search.missing(search.lastSeq(), 1).length === 0

  function addSlice() {
    if (!search.isMade()) search.make()
    for (const row of search.missing(search.lastSeq(), SLICE)) search.put(entryOf(row))
  }

  /** Entries whose identity went with its tenant, among the next few. */
  function leftEntries(): number[] {
    const entries = search.checked(checkedUpTo, CHECKED)
    checkedUpTo = entries.length < CHECKED ? 0 : (entries.at(-1)?.seq ?? 0)
    return entries.filter(({ isLeft }) => isLeft).map(({ seq }) => seq)
  }

  async function round() {
    try {
      while (!isStopped && !isComplete()) await db.commit(addSlice)
      const left = leftEntries()
      while (!isStopped && left.length > 0)
        await db.commit(() => left.splice(0, REMOVED).forEach(search.remove))
    } catch (error) {
      if (!(error instanceof DatabaseLostError))
        log.error('search index is behind', { error: String(error) })
    }
  }

  function start() {
    cancel = clock.after(BETWEEN_ROUNDS_MS, () => void round().then(() => isStopped || start()))
  }

  function stop() {
    isStopped = true
    cancel()
  }

  /** The newest identities with all words of `text`, and the position of the next page. */
  function find(
    tenantId: string,
    text: string,
    of: { state?: State | undefined; before?: number | undefined; limit: number },
  ): { rows: IdentityRow[]; next: number | undefined } {
    const { state, before = END, limit } = of
    const words = wordsOf(text)
    if (words.length === 0) return { rows: [], next: undefined }
    const upTo = search.lastSeq()
    const isMatch = (row: IdentityRow) => {
      const entry = entryOf(row)
      return (!state || row.state === state) && words.every((word) => entry.text.includes(word))
    }
    const recent = identities
      .newer(tenantId, { after: upTo, before, limit: MAX_NEW })
      .filter(isMatch)
    const compared = search.isMade()
      ? search.candidates(queryOf(scopeOf(tenantId), state, words), {
          words,
          before: Math.min(before, upTo + 1),
          limit: MAX_COMPARED,
        })
      : []
    const indexed = compared.filter((one) => one.isMatch).map(({ seq }) => seq)
    const known = identities.among(tenantId, indexed.slice(0, limit + 1))
    const found = [...recent, ...known]
    const rows = found.slice(0, limit)
    const last = compared.length === MAX_COMPARED ? compared.at(-1)?.seq : undefined
    return { rows, next: found.length > limit ? rows.at(-1)?.seq : last }
  }

  return { start, stop, round, find }
}
