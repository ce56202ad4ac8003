import { expect, test } from 'bun:test'
import { newAccount, newSigningKey, type Tamper } from '../../../../support/social/index.ts'
import { HOUR, MINUTE } from '../../fixture.ts'
import { claiming, refusalOf, useProviders } from './fixture.ts'

const { clock, fakes, social, come, signIn, refusal } = useProviders()

const nowS = () => clock.now() / 1000
const stranger = newSigningKey()

const headed =
  (changes: Record<string, unknown>): Tamper =>
  ({ header }) =>
    void Object.assign(header, changes)

const signedByAStranger: Tamper = (token) => {
  token.key = { ...stranger, kid: token.key.kid }
}

const forUsAnd =
  (azp: string | undefined): Tamper =>
  ({ claims }) =>
    void Object.assign(claims, { aud: [claims.aud, 'another-client'], azp })

/** Changes a claim to seconds from now. */
const dated =
  (name: string, seconds: number): Tamper =>
  ({ claims }) => {
    claims[name] = nowS() + seconds
  }

test.each<[string, string, Tamper]>([
  ['a stranger’s signature', 'signature verification failed', signedByAStranger],
  ['no signature', '"alg"', headed({ alg: 'none' })],
  ['a signature with the client secret', '"alg"', headed({ alg: 'HS256' })],
  ['another kind of key', 'no applicable keys', headed({ alg: 'ES256' })],
  ['an unknown key', 'no applicable keys', headed({ kid: 'unheard-of' })],
  ['a critical header', '"crit"', headed({ crit: ['exp'] })],
  ['another issuer', 'a different issuer', claiming({ iss: 'https://evil.example' })],
  ['no issuer', 'a different issuer', claiming({ iss: undefined })],
  ['a list as issuer', 'iss is not a string', claiming({ iss: ['https://evil.example'] })],
  ['another audience', '"aud"', claiming({ aud: 'another-client' })],
  ['several audiences, issued to another', '"azp"', forUsAnd('another-client')],
  ['several audiences, issued to none', '"aud"', forUsAnd(undefined)],
  ['our audience, issued to another', 'a different client', claiming({ azp: 'another-client' })],
  ['no audience', '"aud"', claiming({ aud: undefined })],
  ['an end in the past', 'expiration is past', dated('exp', -61)],
  ['no end', '"exp"', claiming({ exp: undefined })],
  ['a text as end', '"exp"', claiming({ exp: '9999999999' })],
  ['a date in the future', 'in the future', dated('iat', 61)],
  ['a start in the future', '"nbf"', dated('nbf', 120)],
  ['no date', '"iat"', claiming({ iat: undefined })],
  ['no subject', '"sub"', claiming({ sub: undefined })],
  ['a number as subject', '"sub"', claiming({ sub: 42 })],
  ['another nonce', '"nonce"', claiming({ nonce: 'another' })],
  ['no nonce', '"nonce"', claiming({ nonce: undefined })],
])('An ID token with %s is refused', async (_, why, tamper) => {
  const { reason, message } = await refusal('google', tamper)
  expect({ reason, message }).toEqual({ reason: 'failed', message: expect.stringContaining(why) })
})

test('An ID token is refused with the nonce of another sign-in, and if ours is lost', async () => {
  const [one, other] = [await come('google'), await come('google')]
  const swapped = { ...one, secrets: { ...one.secrets, nonce: other.secrets.nonce } }
  expect((await refusalOf(social, swapped)).message).toContain('"nonce"')
  const { verifier } = other.secrets
  const lost = await refusalOf(social, { ...other, secrets: { verifier } })
  expect(lost.message).toBe('google: the nonce is missing')
})

test('Clocks may differ by a minute; ours decides', async () => {
  for (const tamper of [dated('exp', -55), dated('iat', 60)])
    await signIn('google', newAccount(), tamper)
  const callback = await come('google', newAccount(), claiming({ exp: nowS() + 3600 }))
  clock.jump(2 * HOUR)
  expect((await refusalOf(social, callback)).message).toContain('expiration is past')
  clock.jump(-2 * HOUR)
})

test('Keys are read every five minutes, and for an unknown one at most once a minute', async () => {
  const reads = () => fakes.requests.filter(({ path }) => path === '/google/oauth2/v3/certs').length
  await clock.advance(5 * MINUTE)
  let before = reads()
  for (const [ms, expected] of [
    [0, 1],
    [5 * MINUTE - 1, 1],
    [1, 2],
  ] as const) {
    await clock.advance(ms)
    await signIn('google')
    expect(reads()).toBe(before + expected)
  }

  before = reads()
  await clock.advance(MINUTE - 1)
  fakes.rotateKeys()
  const early = await come('google')
  expect((await refusalOf(social, early)).message).toContain('no applicable keys')
  expect(reads()).toBe(before)
  await clock.advance(1)
  await signIn('google')
  for (let n = 0; n < 3; n++) await refusal('google', headed({ kid: 'unheard-of' }))
  expect(reads()).toBe(before + 1)
  await clock.advance(MINUTE)
  const unknown = await refusal('google', headed({ kid: 'unheard-of' }))
  expect(unknown.message).toContain('no applicable keys')
  expect(reads()).toBe(before + 2)
})
