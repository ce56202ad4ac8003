import { describe, expect, test } from 'bun:test'
import { parseHash } from '../../../../../src/engines/gate/credentials/passwords/index.ts'

/**
 * Hashes that other programs made, or that stand in a standard.
 *
 * - `argon2`: the test vectors of the reference implementation.
 * - `crypt_blowfish`: the test vectors of its author.
 * - RFC 6070 and 7914: the raw vectors, in base64.
 * - `passlib`: the example of its manual.
 * - All for PASSWORD: made once with Python's hashlib (pbkdf2_hmac, scrypt) and crypt (libxcrypt),
 *   over the salt fb ef be 00 01 … 0c, whose base64 has the characters that alphabets differ in.
 */
const PASSWORD = 'correct horse batterÿ 🐎'

const VECTORS: [name: string, password: string, hash: string][] = [
  [
    'argon2id',
    'password',
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
  ],
  [
    'argon2i',
    'password',
    '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8',
  ],
  [
    'argon2i of two lanes',
    'password',
    '$argon2i$v=19$m=256,t=2,p=2$c29tZXNhbHQ$T/XOJ2mh1/TIpJHfCdQan76Q5esCFVoT5MAeIM1Oq2E',
  ],
  [
    'argon2i with padding',
    'password',
    '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ=$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8=',
  ],
  [
    'bcrypt of crypt_blowfish',
    'U*U',
    '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW',
  ],
  ['bcrypt $2a$', PASSWORD, '$2a$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'],
  ['bcrypt $2b$', PASSWORD, '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'],
  ['bcrypt $2y$', PASSWORD, '$2y$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'],
  [
    'scrypt of RFC 7914',
    'pleaseletmein',
    '$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw',
  ],
  [
    'scrypt as passlib writes it',
    PASSWORD,
    '$scrypt$ln=10,r=8,p=2$++++AAECAwQFBgcICQoLDA$aV5O9DfB8duSXAzWS71zk8x3GmKmY1RYxHVR2XCELT8',
  ],
  [
    'scrypt as Kratos writes it, with N for ln',
    PASSWORD,
    '$scrypt$ln=1024,r=8,p=2$++++AAECAwQFBgcICQoLDA==$aV5O9DfB8duSXAzWS71zk8x3GmKmY1RYxHVR2XCELT8=',
  ],
  [
    'PBKDF2 over SHA-1 of RFC 6070',
    'password',
    '$pbkdf2-sha1$i=4096,l=20$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE',
  ],
  [
    'PBKDF2 over SHA-256 of RFC 7914, longer than the digest',
    'Password',
    '$pbkdf2-sha256$i=80000,l=64$TmFDbA$TdzY9guYviGDDO5e8icB+WQaRBjQTAQUrv8Ih2s0q1ah1CWhIlgzVJrbhBtRybMXaicr3ruh0HhHj2Kzl/M8jQ',
  ],
  [
    'PBKDF2 over SHA-256, PHC',
    PASSWORD,
    '$pbkdf2-sha256$i=1000,l=32$++++AAECAwQFBgcICQoLDA$RyvK75pftgqWrBW5Mg1NvBeLGxvym2f98TEI2ufzroU',
  ],
  [
    'PBKDF2 over SHA-256, PHC without l',
    PASSWORD,
    '$pbkdf2-sha256$i=1000$++++AAECAwQFBgcICQoLDA$RyvK75pftgqWrBW5Mg1NvBeLGxvym2f98TEI2ufzroU',
  ],
  [
    'PBKDF2 over SHA-512, PHC',
    PASSWORD,
    '$pbkdf2-sha512$i=1000,l=64$++++AAECAwQFBgcICQoLDA$0cft7LEpIuvYd9JFeDBtPlf0OuaFEc46dlFjp+R2DTwmgG78FToVMhz7MMuxib96dx/I4rre/6EyCkxvDescJQ',
  ],
  [
    'PBKDF2 in the manual of passlib',
    'password',
    '$pbkdf2-sha256$6400$0ZrzXitFSGltTQnBWOsdAw$Y11AchqV4b0sUisdZd0Xr97KWoymNE0LNNrnEgY4H9M',
  ],
  [
    'PBKDF2 over SHA-1, passlib',
    PASSWORD,
    '$pbkdf2$1000$....AAECAwQFBgcICQoLDA$VXYfF6dDTtG8HOMw6UrUZBSKq3I',
  ],
  [
    'PBKDF2 over SHA-256, passlib',
    PASSWORD,
    '$pbkdf2-sha256$1000$....AAECAwQFBgcICQoLDA$RyvK75pftgqWrBW5Mg1NvBeLGxvym2f98TEI2ufzroU',
  ],
  [
    'PBKDF2 over SHA-512, passlib',
    PASSWORD,
    '$pbkdf2-sha512$1000$....AAECAwQFBgcICQoLDA$0cft7LEpIuvYd9JFeDBtPlf0OuaFEc46dlFjp.R2DTwmgG78FToVMhz7MMuxib96dx/I4rre/6EyCkxvDescJQ',
  ],
  [
    'PBKDF2 over SHA-1, Django',
    PASSWORD,
    'pbkdf2_sha1$1000$seasalt22charsXYZ12345$n27dP0ZDYw14BQYTHa2f2F4dPwY=',
  ],
  [
    'PBKDF2 over SHA-256, Django',
    PASSWORD,
    'pbkdf2_sha256$1000$seasalt22charsXYZ12345$1k6fV0t68ctnXFOsQpAe45fuqAHd5ImXB2GkIPmLd2o=',
  ],
  [
    'PBKDF2 over SHA-512, Django',
    PASSWORD,
    'pbkdf2_sha512$1000$seasalt22charsXYZ12345$bh75GjYCvPchysUgJflDujD58XieoJC3JWaIrnLaBbCG4d7ccfqLVNzoq8efQ7vDDt7NB10BXSIlpdRAqWVvGw==',
  ],
]

describe.each(VECTORS)('%s', (_, password, hash) => {
  test('verifies the password it was made of', async () => {
    expect(await parseHash(hash).matches(password)).toBe(true)
  })

  test('verifies no other', async () => {
    const { matches } = parseHash(hash)
    for (const wrong of [`${password} `, password.slice(1), password.toUpperCase(), 'x']) {
      if (wrong !== password) expect(await matches(wrong)).toBe(false)
    }
  })

  test('verifies nothing when it is another hash of the same form', async () => {
    const last = hash.replace(/=*$/, '').length - 2
    const other = hash[last] === 'A' ? 'B' : 'A'
    const changed = hash.slice(0, last) + other + hash.slice(last + 1)
    expect(await parseHash(changed).matches(password)).toBe(false)
  })
})

test.each([
  `$argon2id$v=19$m=65536,t=2,p=1$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`,
  `$2b$10$${'.'.repeat(53)}`,
  `$scrypt$ln=15,r=8,p=1$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`,
  `$pbkdf2-sha256$i=400000$${'AAAA'.repeat(4)}$${'AAAA'.repeat(8)}`,
])('the event loop goes on turning while %s is worked on', async (hash) => {
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)

  await parseHash(hash).matches('password')

  isDone = true
  expect(turns).toBeGreaterThan(10)
})

describe('a password of more than 72 bytes', () => {
  /** Made with libxcrypt, which looks at 72 bytes as all do. */
  const LONG = '$2b$04$abcdefghijklmnopqrstuuyU1XQQGeNDjIRun9SWFEi7CEvZMWE5O'
  const SPLIT = '$2b$04$abcdefghijklmnopqrstuuoVx8RufeJl2sf6nnK3ltb8OHjZZZsny'
  const long = `${'é'.repeat(30)}tail-past-72-bytes-xyz`

  test('verifies against bcrypt as it does where the hash was made', async () => {
    expect(await parseHash(LONG).matches(long)).toBe(true)
    expect(await parseHash(LONG).matches(`${long} and more`)).toBe(true)
    expect(await parseHash(LONG).matches(`e${long}`)).toBe(false)
  })

  test('may have a character across that limit', async () => {
    expect(await parseHash(SPLIT).matches(`${'a'.repeat(71)}ébc`)).toBe(true)
    expect(await parseHash(SPLIT).matches(`${'a'.repeat(71)}bc`)).toBe(false)
  })

  test('counts to its last byte in other formats', async () => {
    const options = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const
    const { matches } = parseHash(await Bun.password.hash(long, options))
    expect(await matches(long)).toBe(true)
    expect(await matches(`${long}!`)).toBe(false)
  })
})

test('passwords are compared as they were typed: what looks alike is not made alike', async () => {
  const composed = 'caf\u00e9'
  const options = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const
  const { matches } = parseHash(await Bun.password.hash(composed, options))
  expect(await matches(composed)).toBe(true)
  expect(await matches(composed.normalize('NFD'))).toBe(false)
})

test('a NUL in a password does not end it', async () => {
  const options = [
    { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 },
    { algorithm: 'bcrypt', cost: 4 },
  ] as const
  for (const option of options) {
    const { matches } = parseHash(await Bun.password.hash('one\0two', option))
    expect(await matches('one\0two')).toBe(true)
    expect(await matches('one\0three')).toBe(false)
    expect(await matches('one')).toBe(false)
  }
})

const bytes = (count: number) => Buffer.alloc(count, 0xfb).toString('base64').replace(/=+$/, '')
const SALT = bytes(16)
const HASH = bytes(32)

describe('costs and lengths at their limits are accepted:', () => {
  test.each([
    ['argon2', `$argon2id$v=19$m=1048576,t=10,p=16$${bytes(128)}$${bytes(128)}`],
    ['argon2, the least', `$argon2id$v=19$m=8,t=1,p=1$${bytes(8)}$${bytes(16)}`],
    ['argon2, eight KiB a lane', `$argon2i$v=19$m=128,t=1,p=16$${SALT}$${HASH}`],
    ['bcrypt 4', `$2b$04$${'.'.repeat(53)}`],
    ['bcrypt 16', `$2b$16$${'.'.repeat(53)}`],
    ['scrypt by its logarithm', `$scrypt$ln=17,r=8,p=10$${bytes(128)}$${bytes(128)}`],
    ['scrypt, the least logarithm', `$scrypt$ln=1,r=1,p=1$${bytes(4)}$${bytes(16)}`],
    ['scrypt by N', `$scrypt$ln=131072,r=8,p=10$${SALT}$${HASH}`],
    ['scrypt, the least N', `$scrypt$ln=32,r=1,p=1$${SALT}$${HASH}`],
    ['PBKDF2', `$pbkdf2-sha256$i=10000000,l=32$${bytes(128)}$${HASH}`],
    ['PBKDF2, the least', `$pbkdf2-sha256$i=1,l=16$${bytes(4)}$${bytes(16)}`],
    ['PBKDF2 of four digests', `$pbkdf2-sha256$i=2500000,l=128$${SALT}$${bytes(128)}`],
    ['PBKDF2, passlib', `$pbkdf2-sha512$10000000$${SALT}$${bytes(64)}`],
    ['PBKDF2, Django', `pbkdf2_sha256$10000000$salt$${HASH}=`],
  ])('%s', (_, hash) => {
    expect(() => parseHash(hash)).not.toThrow()
  })

  test.each([
    `$argon2id$v=19$m=8,t=1,p=1$${bytes(8)}$${bytes(16)}`,
    `$argon2i$v=19$m=128,t=10,p=16$${bytes(128)}$${bytes(128)}`,
    `$argon2id$v=19$m=64,t=1,p=3$${bytes(63)}$${bytes(65)}`,
    `$2b$04$${'.'.repeat(53)}`,
    `$scrypt$ln=1,r=1,p=1$${bytes(4)}$${bytes(16)}`,
    `$scrypt$ln=32,r=8,p=10$${bytes(128)}$${bytes(128)}`,
    `$scrypt$ln=17,r=8,p=1$${SALT}$${HASH}`,
    `$pbkdf2-sha1$i=1$${bytes(128)}$${bytes(128)}`,
    `$pbkdf2-sha512$1$${bytes(4)}$${bytes(16)}`,
  ])('%s can be worked out', async (hash) => {
    expect(await parseHash(hash).matches('password')).toBe(false)
  })
})

describe('refused, in words that say what is expected:', () => {
  test.each([
    ['nothing', '', 'must be a hash of argon2id, argon2i, bcrypt'],
    ['a password', 'hunter2', 'must be a hash of'],
    ['a format nobody should use', '$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/', 'must be a hash of'],
    ['a bare digest', 'a'.repeat(64), 'must be a hash of'],
    ['argon2d', `$argon2d$v=19$m=64,t=1,p=1$${SALT}$${HASH}`, 'must be a hash of'],
    ['bcrypt of the broken kind', `$2x$10$${'.'.repeat(53)}`, 'must be a hash of'],
    ['a blank before', ` $2b$10$${'.'.repeat(53)}`, 'must be a hash of'],
    ['a line after', `$2b$10$${'.'.repeat(53)}\n`, 'must be bcrypt as'],
    [
      'a megabyte',
      `$scrypt$${'a'.repeat(1e6)}`,
      'credentials.password.config.hashed_password: must have at most 512 characters',
    ],

    ['argon2, old', `$argon2i$m=64,t=1,p=1$${SALT}$${HASH}`, 'must be argon2 of version 19'],
    ['argon2, older', `$argon2i$v=16$m=64,t=1,p=1$${SALT}$${HASH}`, 'of version 19'],
    ['argon2, mixed', `$argon2id$v=19$t=1,m=64,p=1$${SALT}$${HASH}`, 'm=…,t=…,p=…'],
    ['argon2, keyed', `$argon2id$v=19$m=64,t=1,p=1,keyid=a$${SALT}$${HASH}`, 'm=…,t=…,p=…'],
    ['argon2, cut', `$argon2id$v=19$m=64,t=1,p=1$${SALT}`, 'm=…,t=…,p=…'],
    ['argon2, more', `$argon2id$v=19$m=64,t=1,p=1$${SALT}$${HASH}$`, 'm=…,t=…,p=…'],
    [
      'argon2, memory',
      `$argon2id$v=19$m=1048577,t=1,p=1$${SALT}$${HASH}`,
      'must have a number from 8 to 1,048,576 as m of argon2 (KiB)',
    ],
    [
      'argon2, too little memory for its lanes',
      `$argon2id$v=19$m=31,t=1,p=4$${SALT}$${HASH}`,
      'must have a number from 32 to 1,048,576 as m of argon2 (KiB)',
    ],
    [
      'argon2, passes',
      `$argon2id$v=19$m=64,t=11,p=1$${SALT}$${HASH}`,
      'must have a number from 1 to 10 as t of argon2',
    ],
    [
      'argon2, no pass',
      `$argon2id$v=19$m=64,t=0,p=1$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have a number from 1 to 10 as t of argon2',
    ],
    [
      'argon2, lanes',
      `$argon2id$v=19$m=999,t=1,p=17$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have a number from 1 to 16 as p of argon2',
    ],
    [
      'argon2, no lane',
      `$argon2id$v=19$m=64,t=1,p=0$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have a number from 1 to 16 as p of argon2',
    ],
    ['argon2, zeros', `$argon2id$v=19$m=064,t=1,p=1$${SALT}$${HASH}`, 'm of argon2'],
    ['argon2, digits', `$argon2id$v=19$m=${'9'.repeat(99)},t=1,p=1$${SALT}$${HASH}`, 'm of argon2'],
    [
      'argon2, salt',
      `$argon2id$v=19$m=64,t=1,p=1$${bytes(7)}$${HASH}`,
      'credentials.password.config.hashed_password: must have a salt of at least 8 bytes for argon2',
    ],

    ['bcrypt, cut', `$2b$10$${'.'.repeat(52)}`, 'must be bcrypt as'],
    ['bcrypt, more', `$2b$10$${'.'.repeat(54)}`, 'must be bcrypt as'],
    ['bcrypt, one digit', `$2b$9$${'.'.repeat(53)}`, 'must be bcrypt as'],
    ['bcrypt, alphabet', `$2b$10$${'.'.repeat(52)}+`, 'must be bcrypt as'],
    ['bcrypt, underscore', `$2b$10$_${'.'.repeat(52)}`, 'must be bcrypt as'],
    ['bcrypt, spare bits of the salt', `$2b$10$${'.'.repeat(21)}/${'.'.repeat(31)}`, 'bcrypt as'],
    ['bcrypt, spare bits of the hash', `$2b$10$${'.'.repeat(52)}/`, 'must be bcrypt as'],
    [
      'bcrypt, cheap',
      `$2b$03$${'.'.repeat(53)}`,
      'must have a number from 4 to 16 as the cost of bcrypt',
    ],
    [
      'bcrypt, free',
      `$2b$00$${'.'.repeat(53)}`,
      'credentials.password.config.hashed_password: must have a number from 4 to 16 as the cost of bcrypt',
    ],
    [
      'bcrypt, dear',
      `$2b$17$${'.'.repeat(53)}`,
      'credentials.password.config.hashed_password: must have a number from 4 to 16 as the cost of bcrypt',
    ],

    ['scrypt, others', `$scrypt$N=16,r=8,p=1$${SALT}$${HASH}`, 'must be scrypt as $scrypt$ln='],
    ['scrypt, cut', `$scrypt$ln=14,r=8,p=1$${SALT}`, 'must be scrypt as'],
    [
      'scrypt, logarithm',
      `$scrypt$ln=18,r=8,p=1$${SALT}$${HASH}`,
      'must have a number from 1 to 17 as ln of scrypt',
    ],
    ['scrypt, logarithm 31', `$scrypt$ln=31,r=8,p=1$${SALT}$${HASH}`, 'from 1 to 17'],
    ['scrypt, zero', `$scrypt$ln=0,r=8,p=1$${SALT}$${HASH}`, 'from 1 to 17'],
    [
      'scrypt, N',
      `$scrypt$ln=262144,r=8,p=1$${SALT}$${HASH}`,
      'must have a number from 32 to 131,072 as ln of scrypt, taken for N',
    ],
    [
      'scrypt, N between',
      `$scrypt$ln=16385,r=8,p=1$${SALT}$${HASH}`,
      'must have a power of two as N of scrypt',
    ],
    [
      'scrypt, r',
      `$scrypt$ln=14,r=9,p=1$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have a number from 1 to 8 as r of scrypt',
    ],
    [
      'scrypt, no r',
      `$scrypt$ln=14,r=0,p=1$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have a number from 1 to 8 as r of scrypt',
    ],
    [
      'scrypt, p',
      `$scrypt$ln=14,r=8,p=11$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have a number from 1 to 10 as p of scrypt',
    ],
    [
      'scrypt, no p',
      `$scrypt$ln=14,r=8,p=0$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have a number from 1 to 10 as p of scrypt',
    ],

    ['PBKDF2, MD5', `$pbkdf2-md5$i=1000,l=16$${SALT}$${bytes(16)}`, 'must be PBKDF2 over sha1'],
    ['PBKDF2, upper case', `$pbkdf2-sha256$I=1000$${SALT}$${HASH}`, 'must be PBKDF2 over sha1'],
    ['PBKDF2, cut', `$pbkdf2-sha256$i=1000,l=32$${SALT}`, 'must be PBKDF2 over sha1'],
    ['PBKDF2, no number', `$pbkdf2-sha256$many$${SALT}$${HASH}`, 'must be PBKDF2 over sha1'],
    [
      'PBKDF2, l',
      `$pbkdf2-sha256$i=1000,l=31$${SALT}$${HASH}`,
      'credentials.password.config.hashed_password: must have the length of the hash as l of PBKDF2, 32 bytes',
    ],
    [
      'PBKDF2, none',
      `$pbkdf2-sha256$i=0,l=32$${SALT}$${HASH}`,
      'must have a number from 1 to 10,000,000 as the iterations of PBKDF2',
    ],
    ['PBKDF2, many', `$pbkdf2-sha256$i=10000001,l=32$${SALT}$${HASH}`, 'iterations of PBKDF2'],
    [
      'PBKDF2, many a digest',
      `$pbkdf2-sha256$i=2500001,l=128$${SALT}$${bytes(128)}`,
      'credentials.password.config.hashed_password: must have fewer PBKDF2 iterations for a hash of this length',
    ],
    ['PBKDF2, passlib, none', `$pbkdf2$0$${SALT}$${bytes(20)}`, 'iterations of PBKDF2'],
    [
      'PBKDF2, passlib, salt',
      `$pbkdf2$10$a_b_$${bytes(20)}`,
      'credentials.password.config.hashed_password: must have a salt in base64; it may have been cut off',
    ],
    ['PBKDF2, Django, digest', `pbkdf2_md5$10$salt$${bytes(16)}`, 'must be PBKDF2 over sha1'],
    ['PBKDF2, Django, many', `pbkdf2_sha256$10000001$salt$${HASH}`, 'iterations of PBKDF2'],
    [
      'PBKDF2, Django, short',
      `pbkdf2_sha256$10$abc$${HASH}`,
      'credentials.password.config.hashed_password: must have a salt of 4 to 128 bytes, not 3',
    ],
    ['PBKDF2, Django, none', `pbkdf2_sha256$10$$${HASH}`, 'must be PBKDF2 over sha1'],
  ])('%s', (_, hash, words) => {
    expect(refusal(hash)).toStartWith('credentials.password.config.hashed_password: ')
    expect(refusal(hash)).toContain(words)
  })

  /** The formats that share how a salt and a hash are read. */
  test.each([
    ['argon2', (salt: string, hash: string) => `$argon2id$v=19$m=64,t=1,p=1$${salt}$${hash}`],
    ['scrypt', (salt: string, hash: string) => `$scrypt$ln=10,r=8,p=1$${salt}$${hash}`],
    ['PHC', (salt: string, hash: string) => `$pbkdf2-sha256$i=10$${salt}$${hash}`],
    ['passlib', (salt: string, hash: string) => `$pbkdf2-sha256$10$${salt}$${hash}`],
  ])('a salt or hash that is no base64 or of no sensible length (%s)', (_, spell) => {
    for (const text of ['AAAAA', 'AAAAAA=', 'AAAAAAAA=', 'AAAA AAAA', 'AAAA-_AA', 'AAAB=', '=']) {
      expect(refusal(spell(text, HASH))).toContain(
        'credentials.password.config.hashed_password: must have a salt in base64; it may have been cut off',
      )
      expect(refusal(spell(SALT, text))).toContain(
        'credentials.password.config.hashed_password: must have a hash in base64; it may have been cut off',
      )
    }
    // The last character of 16 bytes has four bits to spare.
    expect(refusal(spell(`${bytes(16).slice(0, -1)}_`, HASH))).toContain(
      'credentials.password.config.hashed_password: must have a salt in base64; it may have been cut off',
    )
    expect(refusal(spell(`${bytes(16).slice(0, -1)}x`, HASH))).toContain(
      'credentials.password.config.hashed_password: must have a salt in base64; it may have been cut off',
    )
    expect(refusal(spell(bytes(3), HASH))).toContain('must have a salt of 4 to 128 bytes, not 3')
    expect(refusal(spell(bytes(129), HASH))).toContain(
      'must have a salt of 4 to 128 bytes, not 129',
    )
    expect(refusal(spell(SALT, bytes(15)))).toContain('must have a hash of 16 to 128 bytes, not 15')
    expect(refusal(spell(SALT, bytes(129)))).toContain(
      'must have a hash of 16 to 128 bytes, not 129',
    )
  })

  test('and neither salt nor hash is ever repeated', () => {
    const hashes = [
      `$argon2id$v=19$m=64,t=99,p=1$${SALT}$${HASH}`,
      `$argon2id$v=18$m=64,t=1,p=1$${SALT}$${HASH}`,
      `$2b$99$${SALT}${HASH}`,
      `$scrypt$ln=99,r=8,p=1$${SALT}$${HASH}`,
      `$pbkdf2-sha256$i=0$${SALT}$${HASH}`,
      `$pbkdf2-sha256$i=1$${SALT}!$${HASH}`,
      `pbkdf2_sha999$1$${SALT}$${HASH}`,
      `${SALT}$${HASH}`,
    ]
    for (const hash of hashes) {
      expect(refusal(hash)).not.toContain(SALT.slice(0, 8))
      expect(refusal(hash)).not.toContain(HASH.slice(0, 8))
    }
  })
})

/** The message of the refusal, which is one that callers see. */
function refusal(hash: string): string {
  try {
    parseHash(hash)
  } catch (error) {
    expect(error).toMatchObject({ name: 'AppError', kind: 'invalid' })
    return (error as Error).message
  }
  throw new Error(`${hash.slice(0, 100)} was accepted`)
}
