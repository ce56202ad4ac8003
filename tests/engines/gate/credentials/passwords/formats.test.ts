import { expect, test } from 'bun:test'
import { parseHash } from '../../../../../src/engines/gate/credentials/passwords/index.ts'
import { refusalOf, ruleOf } from '../../identities/documents/support.ts'

/**
 * Hashes made by other programs, or from a standard.
 *
 * - `argon2`: the test vectors of the reference implementation.
 * - `crypt_blowfish`: the test vectors of its author.
 * - RFC 6070 and 7914: the raw vectors, in base64.
 * - `passlib`: the example of its manual.
 * - All for PASSWORD: made once with Python's hashlib (pbkdf2_hmac, scrypt) and crypt (libxcrypt),
 *   over the salt fb ef be 00 01 … 0c, whose base64 has the characters that alphabets differ in.
 */
const PASSWORD = 'correct horse batterÿ 🐎'

/** Hashes by their password. */
const VECTORS: Record<string, string[]> = {
  password: [
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8',
    '$argon2i$v=19$m=256,t=2,p=2$c29tZXNhbHQ$T/XOJ2mh1/TIpJHfCdQan76Q5esCFVoT5MAeIM1Oq2E',
    '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ=$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8=',
    '$pbkdf2-sha1$i=4096,l=20$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE',
    '$pbkdf2-sha256$6400$0ZrzXitFSGltTQnBWOsdAw$Y11AchqV4b0sUisdZd0Xr97KWoymNE0LNNrnEgY4H9M',
  ],
  'U*U': ['$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  [PASSWORD]: [
    '$2a$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e',
    '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e',
    '$2y$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e',
    '$scrypt$ln=10,r=8,p=2$++++AAECAwQFBgcICQoLDA$aV5O9DfB8duSXAzWS71zk8x3GmKmY1RYxHVR2XCELT8',
    '$scrypt$ln=1024,r=8,p=2$++++AAECAwQFBgcICQoLDA==$aV5O9DfB8duSXAzWS71zk8x3GmKmY1RYxHVR2XCELT8=',
    '$pbkdf2-sha256$i=1000,l=32$++++AAECAwQFBgcICQoLDA$RyvK75pftgqWrBW5Mg1NvBeLGxvym2f98TEI2ufzroU',
    '$pbkdf2-sha256$i=1000$++++AAECAwQFBgcICQoLDA$RyvK75pftgqWrBW5Mg1NvBeLGxvym2f98TEI2ufzroU',
    '$pbkdf2-sha512$i=1000,l=64$++++AAECAwQFBgcICQoLDA$0cft7LEpIuvYd9JFeDBtPlf0OuaFEc46dlFjp+R2DTwmgG78FToVMhz7MMuxib96dx/I4rre/6EyCkxvDescJQ',
    '$pbkdf2$1000$....AAECAwQFBgcICQoLDA$VXYfF6dDTtG8HOMw6UrUZBSKq3I',
    '$pbkdf2-sha256$1000$....AAECAwQFBgcICQoLDA$RyvK75pftgqWrBW5Mg1NvBeLGxvym2f98TEI2ufzroU',
    '$pbkdf2-sha512$1000$....AAECAwQFBgcICQoLDA$0cft7LEpIuvYd9JFeDBtPlf0OuaFEc46dlFjp.R2DTwmgG78FToVMhz7MMuxib96dx/I4rre/6EyCkxvDescJQ',
    'pbkdf2_sha1$1000$seasalt22charsXYZ12345$n27dP0ZDYw14BQYTHa2f2F4dPwY=',
    'pbkdf2_sha256$1000$seasalt22charsXYZ12345$1k6fV0t68ctnXFOsQpAe45fuqAHd5ImXB2GkIPmLd2o=',
    'pbkdf2_sha512$1000$seasalt22charsXYZ12345$bh75GjYCvPchysUgJflDujD58XieoJC3JWaIrnLaBbCG4d7ccfqLVNzoq8efQ7vDDt7NB10BXSIlpdRAqWVvGw==',
  ],
  passwd: [
    '$pbkdf2-sha256$i=1,l=64$c2FsdA$VawEblbjCJ/sFpHCJUS2BflBhSFt3gRl5oudV8INrLxJypzM8Xm2RZkWZLOdd+8xfHG4RbHjC9UJESBB06GXgw',
  ],
}
const ROWS = Object.entries(VECTORS).flatMap(([password, hashes]) =>
  hashes.map((hash) => [hash, password] as const),
)

test.each(ROWS)('%s verifies its password, and no other', async (hash, password) => {
  const { matches } = parseHash(hash)
  expect(await matches(password)).toBe(true)
  for (const wrong of [`${password} `, password.slice(1)]) expect(await matches(wrong)).toBe(false)

  const last = hash.replace(/=*$/, '').length - 2
  const other = hash[last] === 'A' ? 'B' : 'A'
  const changed = hash.slice(0, last) + other + hash.slice(last + 1)
  expect(await parseHash(changed).matches(password)).toBe(false)
})

const bytes = (count: number) => Buffer.alloc(count, 0xfb).toString('base64').replace(/=+$/, '')
const SALT = bytes(16)
const HASH = bytes(32)

/** The broken rule of the field for imported hashes. */
function refusal(hash: string): string | undefined {
  const broken = ruleOf(() => parseHash(hash))
  if (broken) expect(broken).toStartWith('credentials.password.config.hashed_password ')
  return broken?.split(' ').at(-1)
}

test.each([
  `$argon2id$v=19$m=16384,t=2,p=1$${SALT}$${HASH}`,
  `$2b$08$${'.'.repeat(53)}`,
  `$scrypt$ln=13,r=8,p=1$${SALT}$${HASH}`,
  `$pbkdf2-sha256$i=200000$${SALT}$${HASH}`,
])('The event loop keeps running while %s is verified', async (hash) => {
  let [turns, isDone] = [0, false]
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await parseHash(hash).matches('password')
  isDone = true
  expect(turns).toBeGreaterThan(2)
})

test('bcrypt verifies the first 72 bytes of a password, other formats all', async () => {
  const long = `${'é'.repeat(30)}tail-past-72-bytes-xyz`
  // Made with libxcrypt.
  const whole = parseHash('$2b$04$abcdefghijklmnopqrstuuyU1XQQGeNDjIRun9SWFEi7CEvZMWE5O')
  const split = parseHash('$2b$04$abcdefghijklmnopqrstuuoVx8RufeJl2sf6nnK3ltb8OHjZZZsny')
  const other = parseHash(await Bun.password.hash(long, CHEAP))
  for (const [hash, password, isRight] of [
    [whole, long, true],
    [whole, `${long} and more`, true],
    [whole, `e${long}`, false],
    [split, `${'a'.repeat(71)}ébc`, true],
    [split, `${'a'.repeat(71)}bc`, false],
    [other, long, true],
    [other, `${long}!`, false],
  ] as const)
    expect(await hash.matches(password)).toBe(isRight)
})

const CHEAP = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

test('Passwords are compared as typed: not normalized, and not cut at a NUL', async () => {
  for (const options of [CHEAP, { algorithm: 'bcrypt', cost: 4 } as const])
    for (const [password, other] of [
      ['caf\u00e9', 'cafe\u0301'],
      ['one\0two', 'one\0three'],
      ['one\0two', 'one'],
    ] as const) {
      const { matches } = parseHash(await Bun.password.hash(password, options))
      expect([await matches(password), await matches(other)]).toEqual([true, false])
    }
})

test.each([
  `$argon2id$v=19$m=1048576,t=10,p=16$${bytes(128)}$${bytes(128)}`,
  `$argon2i$v=19$m=128,t=1,p=16$${SALT}$${HASH}`,
  `$2b$16$${'.'.repeat(53)}`,
  `$scrypt$ln=17,r=8,p=10$${bytes(128)}$${bytes(128)}`,
  `$scrypt$ln=131072,r=8,p=10$${SALT}$${HASH}`,
  `$pbkdf2-sha256$i=10000000,l=32$${bytes(128)}$${HASH}`,
  `$pbkdf2-sha256$i=2500000,l=128$${SALT}$${bytes(128)}`,
  `$pbkdf2-sha512$10000000$${SALT}$${bytes(64)}`,
  `pbkdf2_sha256$10000000$salt$${HASH}=`,
])('%s is at the limits of cost and length', (hash) => expect(refusal(hash)).toBeUndefined())

test.each([
  `$argon2id$v=19$m=8,t=1,p=1$${bytes(8)}$${bytes(16)}`,
  `$argon2i$v=19$m=128,t=10,p=16$${bytes(128)}$${bytes(128)}`,
  `$argon2id$v=19$m=64,t=1,p=3$${bytes(63)}$${bytes(65)}`,
  `$2b$04$${'.'.repeat(53)}`,
  `$scrypt$ln=1,r=1,p=1$${bytes(4)}$${bytes(16)}`,
  `$scrypt$ln=32,r=8,p=10$${bytes(128)}$${bytes(128)}`,
  `$pbkdf2-sha1$i=1$${bytes(128)}$${bytes(128)}`,
  `$pbkdf2-sha512$1$${bytes(4)}$${bytes(16)}`,
])('%s can be verified', async (hash) => {
  expect(await parseHash(hash).matches('password')).toBe(false)
})

const argon2 = (costs: string) => `$argon2id$${costs}$${SALT}$${HASH}`
const bcrypt = (rest: string) => `$2b$${rest}`
const scrypt = (costs: string) => `$scrypt$${costs}$${SALT}$${HASH}`
const pbkdf2 = (costs: string) => `$pbkdf2-sha256$${costs}$${SALT}$${HASH}`
const dots = (count: number) => '.'.repeat(count)

test.each([
  ...['', 'hunter2', '$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/', 'a'.repeat(64)],
  ...[`$argon2d$v=19$m=64,t=1,p=1$${SALT}$${HASH}`, `$argon2i$m=64,t=1,p=1$${SALT}$${HASH}`],
  ...['v=16$m=64,t=1,p=1', 'v=19$t=1,m=64,p=1', 'v=19$m=64,t=1,p=1,keyid=a'].map(argon2),
  ...['v=19$m=1048577,t=1,p=1', 'v=19$m=31,t=1,p=4', 'v=19$m=64,t=11,p=1'].map(argon2),
  ...['v=19$m=64,t=0,p=1', 'v=19$m=999,t=1,p=17', 'v=19$m=64,t=1,p=0'].map(argon2),
  ...['v=19$m=064,t=1,p=1', `v=19$m=${'9'.repeat(99)},t=1,p=1`].map(argon2),
  ...[`$argon2id$v=19$m=64,t=1,p=1$${SALT}`, `${argon2('v=19$m=64,t=1,p=1')}$`],
  `$argon2id$v=19$m=64,t=1,p=1$${bytes(7)}$${HASH}`,
  ...[`$2x$10$${dots(53)}`, ` $2b$10$${dots(53)}`, `$2b$10$${dots(53)}\n`, `$2b$9$${dots(53)}`],
  ...[`10$${dots(52)}`, `10$${dots(54)}`, `10$${dots(52)}+`, `10$_${dots(52)}`].map(bcrypt),
  ...[`10$${dots(21)}/${dots(31)}`, `10$${dots(52)}/`].map(bcrypt),
  ...[`03$${dots(53)}`, `00$${dots(53)}`, `17$${dots(53)}`].map(bcrypt),
  ...[`$scrypt$${'a'.repeat(1e6)}`, `$scrypt$ln=14,r=8,p=1$${SALT}`, scrypt('N=16,r=8,p=1')],
  ...['ln=18,r=8,p=1', 'ln=31,r=8,p=1', 'ln=0,r=8,p=1', 'ln=262144,r=8,p=1'].map(scrypt),
  ...['ln=16385,r=8,p=1', 'ln=14,r=9,p=1', 'ln=14,r=0,p=1'].map(scrypt),
  ...['ln=14,r=8,p=11', 'ln=14,r=8,p=0'].map(scrypt),
  ...['I=1000', 'many', 'i=1000,l=31', 'i=0,l=32', 'i=10000001,l=32'].map(pbkdf2),
  `$pbkdf2-md5$i=1000,l=16$${SALT}$${bytes(16)}`,
  `$pbkdf2-sha256$i=1000,l=32$${SALT}`,
  `$pbkdf2-sha256$i=2500001,l=128$${SALT}$${bytes(128)}`,
  ...[`$pbkdf2$0$${SALT}$${bytes(20)}`, `$pbkdf2$10$a_b_$${bytes(20)}`],
  ...[`pbkdf2_md5$10$salt$${bytes(16)}`, `pbkdf2_sha256$10000001$salt$${HASH}`],
  ...[`pbkdf2_sha256$10$abc$${HASH}`, `pbkdf2_sha256$10$$${HASH}`],
])('%j is refused', (hash) => expect(refusal(hash)).toBeString())

test.each([
  ['argon2', (salt: string, hash: string) => `$argon2id$v=19$m=64,t=1,p=1$${salt}$${hash}`],
  ['scrypt', (salt: string, hash: string) => `$scrypt$ln=10,r=8,p=1$${salt}$${hash}`],
  ['PHC', (salt: string, hash: string) => `$pbkdf2-sha256$i=10$${salt}$${hash}`],
  ['passlib', (salt: string, hash: string) => `$pbkdf2-sha256$10$${salt}$${hash}`],
])('A salt or hash must be base64 of a sensible length: %s', (_, spell) => {
  for (const text of ['AAAAA', 'AAAAAA=', 'AAAAAAAA=', 'AAAA AAAA', 'AAAA-_AA', 'AAAB=', '=']) {
    expect(refusal(spell(text, HASH))).toBe('format')
    expect(refusal(spell(SALT, text))).toBe('format')
  }
  // The last character of 16 bytes has four unused bits.
  for (const last of ['_', 'x'])
    expect(refusal(spell(`${bytes(16).slice(0, -1)}${last}`, HASH))).toBe('format')
  for (const count of [3, 129]) expect(refusal(spell(bytes(count), HASH))).toBe('format')
  for (const count of [15, 129]) expect(refusal(spell(SALT, bytes(count)))).toBe('format')
})

test('Neither salt nor hash is repeated in an error', () => {
  for (const hash of [
    ...[argon2('v=19$m=64,t=99,p=1'), scrypt('ln=99,r=8,p=1'), `$2b$99$${SALT}${HASH}`],
    ...[`$pbkdf2-sha256$i=1$${SALT}!$${HASH}`, `pbkdf2_sha9$1$${SALT}$${HASH}`, SALT + HASH],
  ]) {
    const message = refusalOf(() => parseHash(hash))?.message
    expect(message).toBeString()
    expect(message).not.toContain(SALT.slice(0, 8))
    expect(message).not.toContain(HASH.slice(0, 8))
  }
})
