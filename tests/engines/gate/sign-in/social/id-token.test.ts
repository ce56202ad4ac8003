import { afterAll, describe, expect, test } from 'bun:test'
import {
  newAccount,
  newSigningKey,
  OPENID_NAMES,
  type Tamper,
} from '../../../../support/social/index.ts'
import { refusalOf } from './client.ts'
import { bootOpenId, claiming, HOUR, MINUTE } from './openid-fixture.ts'

const { clock, there, social, come, signIn, refusal, stop } = await bootOpenId()
afterAll(stop)

const nowS = () => clock.now() / 1000
const stranger = newSigningKey()

/** Headers other than they would be. */
const headed =
  (changes: Record<string, unknown>): Tamper =>
  ({ header }) => {
    Object.assign(header, changes)
  }

const signedByAStranger: Tamper = (token) => {
  token.key = { ...stranger, kid: token.key.kid }
}

const forUsAnd =
  (azp: string | undefined): Tamper =>
  ({ claims }) => {
    Object.assign(claims, { aud: [claims.aud, 'another-client'], azp })
  }

describe.each([...OPENID_NAMES])('an ID token of %s is not taken', (provider) => {
  const forged: [string, string, Tamper][] = [
    ['signed by a stranger', 'signature verification failed', signedByAStranger],
    ['signed by nobody', '"alg"', headed({ alg: 'none' })],
    ['signed with the client secret', '"alg"', headed({ alg: 'HS256' })],
    ['signed with a key of another kind', 'no applicable keys', headed({ alg: 'ES256' })],
    ['signed with an unknown key', 'no applicable keys', headed({ kid: 'unheard-of' })],
    ['with a header that must be understood', '"crit"', headed({ crit: ['exp'] })],
    ['of another issuer', 'a different issuer', claiming({ iss: 'https://evil.example' })],
    ['without an issuer', 'a different issuer', claiming({ iss: undefined })],
    ['whose issuer is a list', 'iss is not a string', claiming({ iss: ['https://evil.example'] })],
    ['for another client', '"aud"', claiming({ aud: 'another-client' })],
    ['for several, and issued to another', '"azp"', forUsAnd('another-client')],
    ['for several, issued to nobody knows whom', '"aud"', forUsAnd(undefined)],
    ['for us, issued to another', 'a different client', claiming({ azp: 'another-client' })],
    ['without an audience', '"aud"', claiming({ aud: undefined })],
    ['that has expired', 'expiration is past', claiming(() => ({ exp: nowS() - 61 }))],
    ['that never expires', '"exp"', claiming({ exp: undefined })],
    ['whose end is a text', '"exp"', claiming({ exp: '9999999999' })],
    ['of the future', 'in the future', claiming(() => ({ iat: nowS() + 120 }))],
    ['that counts only later', '"nbf"', claiming(() => ({ nbf: nowS() + 120 }))],
    ['without a date', '"iat"', claiming({ iat: undefined })],
    ['without a subject', '"sub"', claiming({ sub: undefined })],
    ['whose subject is a number', '"sub"', claiming({ sub: 42 })],
    ['whose subject is a list', '"sub"', claiming({ sub: ['42'] })],
    ['with another nonce', '"nonce"', claiming({ nonce: 'another' })],
  ]

  test.each(forged)('%s', async (_, why, tamper) => {
    const error = await refusal(provider, tamper)

    expect(error.reason).toBe('failed')
    expect(error.message).toContain(why)
  })
})

test.each([
  ['too long', 'x'.repeat(256)],
  ['empty', ''],
  ['in two lines', 'a\nb'],
  ['beyond ASCII', 'ä'],
  ['a blank', ' '],
])('a subject that is %s names nobody', async (_, sub) => {
  const error = await refusal('google', claiming({ sub }))

  expect(error.reason).toBe('failed')
  expect(error.message).toMatch(/sub(ject)? (is missing|is too long)/)
})

describe.each(['google', 'gitlab', 'microsoft', 'apple', 'slack', 'twitch'] as const)(
  'an ID token of %s',
  (provider) => {
    test('belongs to the round trip whose nonce it has', async () => {
      const [one, other] = [await come(provider), await come(provider)]
      const secrets = { ...one.secrets, nonce: other.secrets.nonce }

      const error = await refusalOf(social, { ...one, secrets })

      expect(error.message).toContain('"nonce"')
    })

    test('must have one', async () => {
      const error = await refusal(provider, claiming({ nonce: undefined }))

      expect(error.message).toContain('"nonce"')
    })

    test('is not taken when it is not known which it should have', async () => {
      const journey = await come(provider)
      const { verifier } = journey.secrets

      const error = await refusalOf(social, { ...journey, secrets: { verifier } })

      expect(error.message).toBe(`${provider}: the nonce is missing`)
    })
  },
)

test('only the address of google may stand there without its scheme', async () => {
  const bare: Tamper = ({ claims }) => {
    claims.iss = String(claims.iss).replace('http://', '')
  }

  for (const provider of OPENID_NAMES) {
    expect((await refusal(provider, bare)).message).toEndWith(
      'the ID token is from a different issuer',
    )
  }
})

describe('clocks', () => {
  test('may differ by a minute', async () => {
    const account = newAccount()

    await signIn(
      'google',
      account,
      claiming(() => ({ exp: nowS() - 55 })),
    )
    await signIn(
      'google',
      account,
      claiming(() => ({ iat: nowS() + 55 })),
    )
  })

  test('are ours: a token is over when ours says so', async () => {
    const exp = nowS() + 3600
    const journey = await come('google', newAccount(), claiming({ exp }))
    clock.jump(2 * HOUR)

    const error = await refusalOf(social, journey)
    clock.jump(-2 * HOUR)

    expect(error.message).toContain('expiration is past')
  })
})

describe('keys', () => {
  const isKeySet = ({ path }: { path: string }) => path === '/google/oauth2/v3/certs'
  const setsRead = () => there.requests.filter(isKeySet).length

  test('are read once for many sign-ins, and again after five minutes', async () => {
    await clock.advance(5 * MINUTE)
    await signIn('google', newAccount())
    const before = setsRead()

    await signIn('google', newAccount())
    expect(setsRead()).toBe(before)

    await clock.advance(5 * MINUTE)
    await signIn('google', newAccount())
    expect(setsRead()).toBe(before + 1)
  })

  test('that are new are looked for, but not again and again', async () => {
    await clock.advance(5 * MINUTE)
    await signIn('google', newAccount())
    await clock.advance(MINUTE)
    const before = setsRead()
    there.rotateKeys()

    await signIn('google', newAccount())
    expect(setsRead()).toBe(before + 1)

    for (const _ of [1, 2, 3]) {
      const error = await refusal('google', headed({ kid: 'unheard-of' }))
      expect(error.message).toContain('no applicable keys')
    }
    expect(setsRead()).toBe(before + 1)
  })
})
