import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { readArgon2 } from './argon2.ts'
import { unpadded } from './encoding.ts'
import { parseHash } from './formats.ts'
import { createLine } from './line.ts'

export type Hashing = ReturnType<typeof createHashing>

/**
 * Passwords to hashes and back, at the cost that is configured. A hash keeps a core busy and
 * memory taken, so no more are at work than there are cores, and a bounded line waits; beyond
 * that everything here throws `unavailable`.
 *
 * A password is the UTF-8 of what was typed, without any normalisation: hashes made elsewhere
 * were made over those bytes too.
 */
export function createHashing({
  memoryBytes,
  iterations,
  queue,
  atOnce = availableParallelism(),
}: {
  memoryBytes: number
  iterations: number
  /** How many may wait for a core. */
  queue: number
  atOnce?: number
}) {
  const memoryCost = Math.floor(memoryBytes / 1024)
  const current = `$argon2id$v=19$m=${memoryCost},t=${iterations},p=1$`
  const nobody = `${current}${unpadded(randomBytes(32))}$${unpadded(randomBytes(32))}`

  const line = createLine({ atOnce, places: queue })
  /**
   * Hashes made elsewhere may take seconds and a gigabyte. They wait here first, so that one at a
   * time is in the line proper: else a few would take all cores, and the threads for names with them.
   */
  const heavyLine = createLine({ atOnce: 1, places: queue })

  /**
   * An argon2id hash in PHC form. The password must not be empty. `whose` has no more than half of
   * the line, so that nobody who creates people by the hundred keeps others from signing in.
   */
  const hash = (password: string, whose?: string): Promise<string> =>
    line.run(
      () =>
        Bun.password.hash(password, { algorithm: 'argon2id', memoryCost, timeCost: iterations }),
      whose,
    )

  /**
   * Whether it is the password that `stored` was made of. An empty one never is, whatever was
   * imported. Rejects when `stored` cannot be read, which parseHash would have refused.
   */
  async function verify(password: string, stored: string, whose?: string): Promise<boolean> {
    if (password === '') return false
    const { isHeavy, matches } = read(stored)
    const work = () => line.run(() => matches(password), whose)
    return isHeavy && needsRehash(stored) ? heavyLine.run(work) : work()
  }

  /**
   * The work of `verify` where there is nothing to verify, so that the time an answer takes does
   * not tell who has an account. Always false.
   */
  const verifyNobody = (password: string): Promise<boolean> => verify(password, nobody)

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
