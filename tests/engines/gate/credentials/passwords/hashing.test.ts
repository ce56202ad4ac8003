import { expect, spyOn, test } from 'bun:test'
import { pbkdf2Sync } from 'node:crypto'
import { availableParallelism } from 'node:os'
import {
  createHashing,
  parseHash,
} from '../../../../../src/engines/gate/credentials/passwords/index.ts'

const MB = 1024 ** 2
const SETTINGS = { memoryBytes: MB, iterations: 1, queue: 50 }
const hashing = createHashing(SETTINGS)
const ACME = { tenantId: 'acme' }

/** A PBKDF2 hash made elsewhere: with one iteration it is verified immediately. */
const imported = (iterations: number) =>
  `$pbkdf2-sha256$i=${iterations}$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`
const scrypt = (costs: string) => `$scrypt$${costs}$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`
const argon2 = (costs: string, name = 'argon2id') =>
  `$${name}$v=19$${costs}$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`

/** The results of calls made at once. */
const resultsOf = (...calls: Promise<unknown>[]) =>
  Promise.all(calls.map((call) => call.catch(({ kind }: { kind: string }) => kind)))

test('A hash is argon2id at the configured cost with its own salt, and verifies one password', async () => {
  const dear = createHashing({ memoryBytes: 3 * MB, iterations: 3, queue: 0 })
  const stored = await dear.hash(ACME, 'correct horse')
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=3072,t=3,p=1\$[\w+/]{43}\$[\w+/]{43}$/)
  expect(await dear.hash(ACME, 'correct horse')).not.toBe(stored)
  // Also after the cost was lowered.
  for (const [password, isRight] of [
    ['correct horse', true],
    ['correct horse ', false],
    ['Correct horse', false],
  ] as const)
    expect(await hashing.verify(ACME, password, stored)).toBe(isRight)
  const many = await createHashing({ ...SETTINGS, iterations: 20 }).hash(ACME, 'old')
  expect(await hashing.verify(ACME, 'old', many)).toBe(true)
})

test('Imported hashes are verified, but never with an empty password', async () => {
  const bcrypt = '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'
  expect(await hashing.verify(ACME, 'correct horse batterÿ 🐎', bcrypt)).toBe(true)
  expect(await hashing.verify(ACME, 'correct horse battery', bcrypt)).toBe(false)
  const digest = pbkdf2Sync('', 'saltsalt', 1, 20, 'sha1').toString('base64')
  const empty = `pbkdf2_sha1$1$saltsalt$${digest}`
  expect(await parseHash(empty).matches('')).toBe(true)
  expect(await hashing.verify(ACME, '', empty)).toBe(false)
})

test('A stored hash that is unreadable is an internal error, which does not repeat it', async () => {
  const failure = await hashing.verify(ACME, 'a', 'not a hash').catch((error: unknown) => error)
  const message = 'a stored password hash cannot be read'
  expect(failure).toMatchObject({ name: 'Error', message })
})

test('Without a stored hash nothing verifies, with the same work', async () => {
  const verify = spyOn(Bun.password, 'verify')
  const stored = await hashing.hash(ACME, 'correct horse')
  await hashing.verify(ACME, 'wrong', stored)
  expect(await hashing.verifyDummy(ACME, 'wrong')).toBe(false)
  expect(await hashing.verifyDummy(ACME, '')).toBe(false)
  const form = (hash: unknown) =>
    String(hash).replace(
      /([^$]+)\$([^$]+)$/,
      (_, salt, digest) => ` ${salt.length} ${digest.length}`,
    )
  const calls = verify.mock.calls.map(([password, hash]) => [password, form(hash)])
  expect(calls).toEqual(Array(2).fill(['wrong', '$argon2id$v=19$m=1024,t=1,p=1$ 43 43']))
  verify.mockRestore()
})

test('The queue is bounded for every kind of work, and goes on after failures', async () => {
  const small = createHashing({ ...SETTINGS, queue: 2, workers: 1 })
  const stored = await small.hash(ACME, 'a')
  const results = await resultsOf(
    small.verify(ACME, 'a', stored),
    small.verify(ACME, 'a', imported(1)),
    small.verifyDummy(ACME, 'a'),
    small.verify(ACME, 'a', stored),
    small.verify(ACME, 'a', imported(1)),
    small.verifyDummy(ACME, 'a'),
    small.hash(ACME, 'a'),
  )
  expect(results).toEqual([true, false, false, ...Array(4).fill('unavailable')])
  await expect(small.hash(ACME, '')).rejects.toThrow()
  await expect(small.verify(ACME, 'a', 'nonsense')).rejects.toThrow()
  expect(await small.verify(ACME, 'a', stored)).toBe(true)
})

test('There is one worker per core, and two at least', async () => {
  const workers = Math.max(2, availableParallelism())
  const plain = createHashing({ ...SETTINGS, queue: 0 })
  const results = await resultsOf(
    ...Array.from({ length: workers + 1 }, () => plain.hash(ACME, 'a')),
  )
  expect(results.filter((result) => result === 'unavailable')).toHaveLength(1)
  expect(results.at(-1)).toBe('unavailable')
})

test('Imported and dearer hashes leave one worker to hashes of the configured cost', async () => {
  const two = createHashing({ ...SETTINGS, iterations: 4, queue: 0, workers: 2 })
  const isTaken = async (stored: string) =>
    (await resultsOf(two.verify(ACME, 'a', stored)))[0] !== 'unavailable'
  const slow = two.verify(ACME, 'a', imported(1_000_000))
  expect(await isTaken(imported(1))).toBe(false)
  expect(await isTaken(argon2('m=1024,t=5,p=1'))).toBe(false)
  expect(await isTaken(argon2('m=2048,t=2,p=1'))).toBe(true)
  expect(await two.verifyDummy(ACME, 'a')).toBe(false)
  expect(await slow).toBe(false)
  expect(await isTaken(imported(1))).toBe(true)
})

test('A hash that takes seconds is heavy, unless it has the configured cost', async () => {
  for (const [heavy, light] of [
    [`$2b$14$${'.'.repeat(53)}`, `$2b$13$${'.'.repeat(53)}`],
    [scrypt('ln=17,r=8,p=2'), scrypt('ln=17,r=8,p=1')],
    [imported(2_000_001), imported(2_000_000)],
    [argon2('m=393217,t=1,p=1'), argon2('m=393216,t=1,p=1')],
  ] as const)
    expect([parseHash(heavy).isHeavy, parseHash(light).isHeavy]).toEqual([true, false])
  const verify = spyOn(Bun.password, 'verify').mockResolvedValue(false)
  const dear = createHashing({ memoryBytes: 25 * MB, iterations: 16, queue: 0, workers: 2 })
  const results = await resultsOf(dear.verifyDummy(ACME, 'a'), dear.verifyDummy(ACME, 'b'))
  expect(results).toEqual([false, false])
  verify.mockRestore()
})

test('A hash is made anew at the next sign-in unless it has the current cost', async () => {
  const current = createHashing({ memoryBytes: 19 * MB, iterations: 2, queue: 0 })
  const SAME = 'm=19456,t=2,p=1'
  for (const stored of [
    ...['m=19455,t=2,p=1', 'm=19456,t=1,p=1', 'm=65536,t=2,p=1', 'm=19456,t=20,p=1'].map((costs) =>
      argon2(costs),
    ),
    ...[argon2('m=19456,t=2,p=10'), argon2(SAME, 'argon2i'), imported(600_000)],
    ...[`$2b$12$${'.'.repeat(53)}`, 'pbkdf2_sha256$600000$salt$AAAA'],
  ])
    expect([stored, current.needsRehash(stored)]).toEqual([stored, true])
  expect(current.needsRehash(argon2(SAME))).toBe(false)
  expect(hashing.needsRehash(await hashing.hash(ACME, 'a'))).toBe(false)
})
