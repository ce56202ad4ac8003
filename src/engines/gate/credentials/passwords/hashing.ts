import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { ALONE, partOf, type Siblings } from '../../../../platform/siblings.ts'
import { readArgon2 } from './argon2.ts'
import { unpadded } from './encoding.ts'
import { parseHash } from './formats.ts'
import { type Cost, createHashQueue, type Requester } from './hash-queue.ts'
import type { ImportedHash } from './imported-hash.ts'

export type Hashing = ReturnType<typeof createHashing>

/** With a single worker, a long job would block all others. */
const MIN_WORKERS = 2

/**
 * Hashes and verifies passwords at the configured cost. Hashing occupies a core and memory, so at
 * most as many jobs run as there are cores, shared by the processes of the server and among tenants by a queue each; when a queue is
 * full, everything here throws `unavailable`. Passwords are hashed as the UTF-8 of the input
 * without normalization, like those of imported hashes.
 */
export function createHashing({
  memoryBytes,
  iterations,
  queue,
  siblings = ALONE,
  workers = Math.max(MIN_WORKERS, partOf(availableParallelism(), siblings)),
}: {
  memoryBytes: number
  iterations: number
  /** Maximum number of waiting jobs per tenant. */
  queue: number
  siblings?: Siblings
  workers?: number
}) {
  const memoryCost = Math.floor(memoryBytes / 1024)
  const current = `$argon2id$v=19$m=${memoryCost},t=${iterations},p=1$`
  const dummyHash = `${current}${unpadded(randomBytes(32))}$${unpadded(randomBytes(32))}`

  const { run } = createHashQueue({ workers, capacity: partOf(queue, siblings) })

  /** An argon2id hash in PHC format. The password must not be empty. */
  const hash = (requester: Requester, password: string): Promise<string> =>
    run(requester, 'ordinary', () =>
      Bun.password.hash(password, { algorithm: 'argon2id', memoryCost, timeCost: iterations }),
    )

  /**
   * Whether `stored` is a hash of the password. Always false for an empty password. Rejects if
   * `stored` cannot be read, which `parseHash` would have refused.
   */
  async function verify(requester: Requester, password: string, stored: string): Promise<boolean> {
    if (password === '') return false
    const known = read(stored)
    return run(requester, costOf(stored, known), () => known.matches(password))
  }

  /** The duration of imported hash functions is unknown, so they count as costly. */
  function costOf(stored: string, { isHeavy, argon2Cost }: ImportedHash): Cost {
    const isOurs = !needsRehash(stored)
    if (isOurs || (argon2Cost ?? Number.POSITIVE_INFINITY) <= memoryCost * iterations)
      return 'ordinary'
    return isHeavy ? 'heavy' : 'costly'
  }

  /** Always false. Takes as long as `verify`, so timing does not reveal which accounts exist. */
  const verifyDummy = (requester: Requester, password: string): Promise<boolean> =>
    verify(requester, password, dummyHash)

  /**
   * Whether to rehash once the password is known: any hash that does not have the current cost,
   * lower or higher, so that all sign-ins take the same time.
   */
  const needsRehash = (stored: string): boolean => !stored.startsWith(current)

  return { hash, verify, verifyDummy, needsRehash }
}

/** Passes of hashes made here: every setting, so that lowering the cost locks no one out. */
const OUR_PASSES = [1, 20] as const

/** Stored hashes were validated on entry, so failing here is an internal error, not a 400. */
function read(stored: string) {
  try {
    return stored.startsWith('$argon2id$') ? readArgon2(stored, OUR_PASSES) : parseHash(stored)
  } catch {
    throw new Error('a stored password hash cannot be read')
  }
}
