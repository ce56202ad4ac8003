import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { pbkdf2Sync } from 'node:crypto'
import { availableParallelism } from 'node:os'
import {
  createHashing,
  parseHash,
} from '../../../../../src/engines/gate/credentials/passwords/index.ts'

const MB = 1024 ** 2
const SETTINGS = { memoryBytes: 8 * MB, iterations: 1, queue: 50 }
const hashing = createHashing(SETTINGS)
const ACME = { tenantId: 'acme' }
const unavailable = { kind: 'unavailable' }

/** A PBKDF2 hash made elsewhere: with one round it is worked out in no time. */
const imported = (iterations: number) =>
  `$pbkdf2-sha256$i=${iterations}$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`

const argon2 = (name: string, costs: string) =>
  `$${name}$v=19$${costs}$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`

describe('a hash', () => {
  test('is argon2id at the configured cost, memory in KiB', async () => {
    const stored = await createHashing({ memoryBytes: 9 * MB, iterations: 3, queue: 0 }).hash(
      ACME,
      'a',
    )
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=9216,t=3,p=1\$[\w+/]{43}\$[\w+/]{43}$/)
  })

  test('verifies its own password and no other', async () => {
    const stored = await hashing.hash(ACME, 'correct horse')
    expect(await hashing.verify(ACME, 'correct horse', stored)).toBe(true)
    expect(await hashing.verify(ACME, 'correct horse ', stored)).toBe(false)
    expect(await hashing.verify(ACME, 'Correct horse', stored)).toBe(false)
  })

  test('has a salt of its own', async () => {
    expect(await hashing.hash(ACME, 'same')).not.toBe(await hashing.hash(ACME, 'same'))
  })

  test('is verified at the cost that it was made at, also when that has been lowered since', async () => {
    const stored = await createHashing({ ...SETTINGS, iterations: 20 }).hash(ACME, 'old')
    expect(await hashing.verify(ACME, 'old', stored)).toBe(true)
    expect(await hashing.verify(ACME, 'new', stored)).toBe(false)
  })

  test('from elsewhere is verified as well', async () => {
    const stored = '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'
    expect(await hashing.verify(ACME, 'correct horse batterÿ 🐎', stored)).toBe(true)
    expect(await hashing.verify(ACME, 'correct horse battery', stored)).toBe(false)
  })

  test('of an empty password opens nothing', async () => {
    const stored = `pbkdf2_sha1$1$saltsalt$${pbkdf2Sync('', 'saltsalt', 1, 20, 'sha1').toString('base64')}`
    expect(await parseHash(stored).matches('')).toBe(true)
    expect(await hashing.verify(ACME, '', stored)).toBe(false)
  })

  test('that cannot be read is a fault of ours, and not repeated', async () => {
    const failure = await hashing.verify(ACME, 'a', 'not a hash').catch((error: unknown) => error)
    expect(failure).toMatchObject({
      name: 'Error',
      message: 'a stored password hash cannot be read',
    })
  })
})

describe('Without a stored hash', () => {
  const verify = spyOn(Bun.password, 'verify')
  afterEach(() => verify.mockClear())

  test('nothing verifies', async () => {
    expect(await hashing.verifyDummy(ACME, 'correct horse')).toBe(false)
    expect(await hashing.verifyDummy(ACME, '')).toBe(false)
  })

  test('the same work is done as for a stored hash', async () => {
    const stored = await hashing.hash(ACME, 'correct horse')
    await hashing.verify(ACME, 'wrong', stored)
    await hashing.verifyDummy(ACME, 'wrong')

    const [known, nobody] = verify.mock.calls.map(([password, hash]) => [
      password,
      form(String(hash)),
    ])
    expect(known).toEqual(['wrong', '$argon2id$v=19$m=8192,t=1,p=1$ 43 43'])
    expect(nobody).toEqual(known)
  })

  test('a slot is taken like for anybody', async () => {
    const small = createHashing({ ...SETTINGS, queue: 0, workers: 1 })
    const calls = [
      small.verifyDummy(ACME, 'a'),
      small.verifyDummy(ACME, 'b'),
      small.hash(ACME, 'c'),
    ]
    expect(await Promise.all(calls.map(outcome))).toEqual([false, 'unavailable', 'unavailable'])
  })
})

/** What came of a call: all of them are made before the first can end. */
const outcome = (call: Promise<unknown>) => call.catch(({ kind }: { kind: string }) => kind)

/** A hash with the lengths of salt and digest in their place. */
const form = (hash: string) =>
  hash.replace(/([^$]+)\$([^$]+)$/, (_, salt, digest) => ` ${salt.length} ${digest.length}`)

describe('the queue', () => {
  test('has one at work a core, and two at least, unless told otherwise', async () => {
    const workers = Math.max(2, availableParallelism())
    const plain = createHashing({ ...SETTINGS, queue: 0 })
    const all = Array.from({ length: workers }, () => plain.hash(ACME, 'a'))
    await expect(plain.hash(ACME, 'b')).rejects.toMatchObject(unavailable)
    expect(await Promise.all(all)).toHaveLength(workers)
  })

  test('is bounded, for imported hashes too; beyond it everything is unavailable', async () => {
    const small = createHashing({ ...SETTINGS, queue: 2, workers: 1 })
    const stored = await small.hash(ACME, 'a')
    const calls = [
      small.verify(ACME, 'a', stored),
      small.verify(ACME, 'a', imported(1)),
      small.verifyDummy(ACME, 'a'),
      small.verify(ACME, 'a', stored),
      small.verify(ACME, 'a', imported(1)),
      small.verifyDummy(ACME, 'a'),
      small.hash(ACME, 'a'),
    ]

    expect(await Promise.all(calls.map(outcome))).toEqual([
      true,
      false,
      false,
      ...Array(4).fill('unavailable'),
    ])
    expect(await small.verify(ACME, 'a', stored)).toBe(true)
  })

  test('goes on after a hash that fails', async () => {
    const small = createHashing({ ...SETTINGS, queue: 0, workers: 1 })
    await expect(small.hash(ACME, '')).rejects.toThrow()
    await expect(small.verify(ACME, 'a', 'nonsense')).rejects.toThrow()
    expect(await small.hash(ACME, 'a')).toStartWith('$argon2id$')
  })

  test('keeps a worker for what costs no more than a hash is to cost: the others alone take what was hashed elsewhere', async () => {
    const two = createHashing({ ...SETTINGS, iterations: 2, queue: 0, workers: 2 })
    const slow = two.verify(ACME, 'a', imported(2_000_001))

    await expect(two.verify(ACME, 'a', imported(1))).rejects.toMatchObject(unavailable)
    const dearer = argon2('argon2id', 'm=8192,t=3,p=1')
    await expect(two.verify(ACME, 'a', dearer)).rejects.toMatchObject(unavailable)
    expect(await two.verify(ACME, 'a', argon2('argon2id', 'm=16384,t=1,p=1'))).toBe(false)
    expect(await two.verifyDummy(ACME, 'a')).toBe(false)
    expect(await slow).toBe(false)
    expect(await two.verify(ACME, 'a', imported(1))).toBe(false)
  })

  test('takes no hash for heavy that has the configured cost', async () => {
    const dear = createHashing({ memoryBytes: 25 * MB, iterations: 16, queue: 0, workers: 2 })
    const both = [dear.verifyDummy(ACME, 'a'), dear.verifyDummy(ACME, 'b')]
    expect(await Promise.all(both)).toEqual([false, false])
  })
})

describe('a hash is made anew at the next sign-in', () => {
  const current = createHashing({ memoryBytes: 19 * MB, iterations: 2, queue: 0 })

  test.each([
    ['less memory', argon2('argon2id', 'm=19455,t=2,p=1')],
    ['fewer passes', argon2('argon2id', 'm=19456,t=1,p=1')],
    ['more memory', argon2('argon2id', 'm=65536,t=2,p=1')],
    ['more passes', argon2('argon2id', 'm=19456,t=20,p=1')],
    ['more lanes', argon2('argon2id', 'm=19456,t=2,p=10')],
    ['argon2i', argon2('argon2i', 'm=19456,t=2,p=1')],
    ['bcrypt', `$2b$12$${'.'.repeat(53)}`],
    ['scrypt', `$scrypt$ln=14,r=8,p=1$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`],
    ['PBKDF2', imported(600_000)],
    ['Django', 'pbkdf2_sha256$600000$salt$AAAA'],
  ])('if it is of %s', (_, stored) => {
    expect(current.needsRehash(stored)).toBe(true)
  })

  test('but not if it is as hashes are made now, here or elsewhere', async () => {
    expect(current.needsRehash(await current.hash(ACME, 'a'))).toBe(false)
    expect(current.needsRehash(argon2('argon2id', 'm=19456,t=2,p=1'))).toBe(false)
  })
})
