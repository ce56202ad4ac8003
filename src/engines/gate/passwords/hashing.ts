import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { readArgon2 } from './argon2.ts'
import { unpadded } from './encoding.ts'
import { parseHash } from './formats.ts'
import { type Asker, type Cost, createHashQueue } from './hash-queue.ts'
import type { ImportedHash } from './imported-hash.ts'

export type Hashing = ReturnType<typeof createHashing>

/** With one alone, whatever takes long would keep all others waiting. */
const FEWEST_WORKERS = 2

/**
 * Passwords to hashes and back, at the cost that is configured. A hash keeps a core busy and
 * memory taken, so no more are at work than there are cores, shared among tenants by a queue for
 * each; beyond its places everything here throws `unavailable`.
 *
 * A password is the UTF-8 of what was typed, without any normalisation: hashes made elsewhere
 * were made over those bytes too.
 */
export function createHashing({
  memoryBytes,
  iterations,
  queue,
  workers = Math.max(FEWEST_WORKERS, availableParallelism()),
}: {
  memoryBytes: number
  iterations: number
  /** How many of a tenant may wait for a core. */
  queue: number
  workers?: number
}) {
  const memoryCost = Math.floor(memoryBytes / 1024)
  const current = `$argon2id$v=19$m=${memoryCost},t=${iterations},p=1$`
  const nobody = `${current}${unpadded(randomBytes(32))}$${unpadded(randomBytes(32))}`

  const { run } = createHashQueue({ workers, places: queue })

  /** An argon2id hash in PHC form. The password must not be empty. */
  const hash = (asker: Asker, password: string): Promise<string> =>
    run(asker, 'ordinary', () =>
      Bun.password.hash(password, { algorithm: 'argon2id', memoryCost, timeCost: iterations }),
    )

  /**
   * Whether it is the password that `stored` was made of. An empty one never is, whatever was
   * imported. Rejects when `stored` cannot be read, which parseHash would have refused.
   */
  async function verify(asker: Asker, password: string, stored: string): Promise<boolean> {
    if (password === '') return false
    const known = read(stored)
    return run(asker, costOf(stored, known), () => known.matches(password))
  }

  /** Of another function than ours nothing tells how long it takes here. */
  function costOf(stored: string, { isHeavy, argon2Cost }: ImportedHash): Cost {
    const isOurs = !needsRehash(stored)
    if (isOurs || (argon2Cost ?? Number.POSITIVE_INFINITY) <= memoryCost * iterations)
      return 'ordinary'
    return isHeavy ? 'heavy' : 'costly'
  }

  /**
   * The work of `verify` where there is nothing to verify, so that the time an answer takes does
   * not tell who has an account. Always false.
   */
  const verifyNobody = (asker: Asker, password: string): Promise<boolean> =>
    verify(asker, password, nobody)

  /**
   * Whether to hash anew once the password is known: whatever was not made at today's cost,
   * be that lower or higher. Only then do all sign-ins take the same time.
   */
  const needsRehash = (stored: string): boolean => !stored.startsWith(current)

  return { hash, verify, verifyNobody, needsRehash }
}

/** As many as the setting allows: a lower one must not lock out those who are hashed already. */
const OUR_PASSES = [1, 20] as const

/** What is stored was checked when it came: not to understand it is a fault of ours, not a 400. */
function read(stored: string) {
  try {
    return stored.startsWith('$argon2id$') ? readArgon2(stored, OUR_PASSES) : parseHash(stored)
  } catch {
    throw new Error('a stored password hash cannot be read')
  }
}
