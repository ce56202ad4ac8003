import { unavailable } from '../errors.ts'
import { newId } from '../ids.ts'
import { type ObjectStorage, objectUrlIn } from '../object-storage/index.ts'

/** Storages without atomic conditions let several win in nearly every round. */
const ROUNDS = 5
const RIVALS = 8

/**
 * Checks that of several conditional writes at once only one succeeds, which some storages don't
 * ensure although they know the conditions. Throws `unavailable` for one that can't hold a lease.
 */
export async function requireAtomicWrites(parts: { storage: ObjectStorage; to: string }) {
  const { storage, to } = parts
  const url = objectUrlIn(to, `probe-${newId()}.json`)
  try {
    let etag: string | undefined
    for (let round = 0; round < ROUNDS; round++) {
      const condition = etag === undefined ? 'absent' : { etag }
      const outcomes = await Promise.all(
        Array.from({ length: RIVALS }, (_, rival) =>
          storage.write(url, JSON.stringify({ round, rival }), condition),
        ),
      )
      const winners = outcomes.filter((outcome) => outcome !== undefined)
      if (winners.length !== 1)
        throw unavailable(
          `${to}: ${winners.length} of ${RIVALS} conditional writes at once succeeded, instead of 1. ` +
            'This storage cannot tell servers which of them is active',
        )
      etag = winners[0]
    }
  } finally {
    await storage.remove(url).catch(() => {})
  }
}
