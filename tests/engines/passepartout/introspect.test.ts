import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checkDigits } from '../../../src/platform/crypto.ts'
import { testConfig } from '../../support/config.ts'
import { mintToken } from '../gate/fixture.ts'
import {
  bootContract,
  type Contract,
  expectRefused,
  HOUR,
  INTROSPECT,
  type Json,
  LIFETIME,
  MINUTE,
  type Party,
  REVOKE,
  tablesWith,
} from './contract.ts'

const { maxBodyBytes } = testConfig().server

const INACTIVE = { active: false }

/** One fixture for whatever does not turn its clock. */
let fixture: Contract
let acme: Party
let other: Party
beforeAll(async () => {
  fixture = await bootContract()
  acme = await fixture.party()
  other = await fixture.party('Other')
})
afterAll(() => fixture.stop())

const revocations = ({ app } = fixture): Json[] =>
  app.db.client.query(`select * from audit_log where action = 'login_token.revoked'`).all()

/** Texts that are no good token, among them those that come close to the one given. */
const noGood = (token: string): [what: string, text: string][] => {
  const secret = token.slice('ppt_test_'.length)
  const random = secret.slice(0, 37)
  const mistyped = random.slice(1) + (random.startsWith('a') ? 'b' : 'a')
  return [
    ['nothing', ''],
    ['a word', 'token'],
    ['with a wrong check digit', token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['mistyped', `ppt_test_${mistyped}${secret.slice(37)}`],
    ['well-formed that nobody was given', `ppt_test_${mistyped}${checkDigits(mistyped)}`],
    ['cut', token.slice(0, -1)],
    ['longer', `${token}0`],
    ['with space behind it', `${token} `],
    ['with a line end behind it', `${token}\n`],
    ['with space before it', ` ${token}`],
    ['of the other environment by its name', token.replace('_test_', '_live_')],
    ['of no environment', token.replace('_test_', '_prod_')],
    ['in capitals', token.toUpperCase()],
    ['with a scheme', `Bearer ${token}`],
    ['without its prefix', secret],
    ['with NUL in it', `ppt_test_${secret.slice(0, 20)}\u0000${secret.slice(21)}`],
    ['of other letters', `ppt_test_${'ä'.repeat(43)}`],
    ['very long', `ppt_test_${'0'.repeat(500_000)}`],
    ['of SQL', "' or 1=1 --"],
  ]
}

describe('introspection', () => {
  test('tells of a good token whose it is, and until when it is good', async () => {
    const { token, user } = await fixture.signInToSandbox(acme)
    expect(await acme.test.introspect(token)).toEqual({
      active: true,
      subject: user.id,
      tenant_id: acme.id,
      scopes: ['passepartout'],
      expires_at: new Date(fixture.clock.now() + HOUR).toISOString(),
    })
  })

  test('of a live one with a live key', async () => {
    const { token, user } = await fixture.signIn(
      acme,
      fixture.botApi.person({ language_code: 'en' }),
    )
    expect(await acme.live.introspect(token)).toMatchObject({ active: true, subject: user.id })
    expect(await acme.test.introspect(token)).toEqual(INACTIVE)
  })

  test('tells nothing but that it does not count of any other text', async () => {
    const { token } = await fixture.signInToSandbox(acme)
    for (const [what, text] of noGood(token))
      for (const api of [acme.test, acme.live])
        expect([what, await api.introspect(text)]).toEqual([what, INACTIVE])
    expect(await acme.test.introspect(token)).toMatchObject({ active: true })
  })

  test('nor of a token of another tenant, or of the other environment', async () => {
    const { token } = await fixture.signInToSandbox(acme)
    for (const api of [acme.live, other.live, other.test])
      expect(await api.introspect(token)).toEqual(INACTIVE)
  })

  test('nor of what is a credential elsewhere', async () => {
    const { key: gateKey } = await acme.key('gate', 'live')
    const { access_token: gateToken } = await mintToken(fixture.app, gateKey)
    const { nonce, deep_link } = await acme.test.start()
    for (const text of [gateToken, gateKey, acme.liveKey, acme.testKey, nonce, deep_link])
      for (const api of [acme.live, acme.test]) expect(await api.introspect(text)).toEqual(INACTIVE)
  })

  test('nor of a token in the moment of its end, or later', async () => {
    await using own = await bootContract()
    const mine = await own.party()
    const { token } = await own.signInToSandbox(mine)
    own.clock.jump(HOUR - 1)
    expect(await mine.test.introspect(token)).toMatchObject({ active: true })
    own.clock.jump(1)
    expect(await mine.test.introspect(token)).toEqual(INACTIVE)
    own.clock.jump(48 * HOUR)
    expect(await mine.test.introspect(token)).toEqual(INACTIVE)
  })

  test('and how long one is good is a setting', async () => {
    await using own = await bootContract({ flags: { 'passepartout-token-lifetime': '10m' } })
    const mine = await own.party()
    const { token } = await own.signInToSandbox(mine)
    expect(await mine.test.introspect(token)).toMatchObject({
      expires_at: new Date(own.clock.now() + 10 * MINUTE).toISOString(),
    })
    own.clock.jump(10 * MINUTE)
    expect(await mine.test.introspect(token)).toEqual(INACTIVE)
  })

  test('goes on while the account is in arrears, and when the bot is gone', async () => {
    const late = await fixture.party('In arrears')
    const { token } = await fixture.signInToSandbox(late)
    await fixture.app.platform.tenants.suspend(fixture.actor, late.id, 'renewal')
    await fixture.app.passepartout.bots.remove(fixture.actor, {
      tenantId: late.id,
      environment: 'test',
    })
    expect(await late.test.introspect(token)).toMatchObject({ active: true })
  })

  test('is of one token: that of the next sign-in is another one, of the same person', async () => {
    const [one, two] = [await fixture.signInToSandbox(acme), await fixture.signInToSandbox(acme)]
    expect(one.token).not.toBe(two.token)
    expect((await acme.test.introspect(one.token)).subject).toBe(two.user.id)
    expect((await acme.test.introspect(two.token)).subject).toBe(two.user.id)
  })
})

describe('revocation', () => {
  test('ends a token at once and for good, with an empty answer, as often as it is asked for', async () => {
    await using own = await bootContract()
    const mine = await own.party()
    const { token, user } = await own.signInToSandbox(mine)
    for (let n = 0; n < 3; n++) {
      const { status, body } = await mine.test.revoke(token)
      expect({ status, body }).toEqual({ status: 204, body: '' })
      expect(await mine.test.introspect(token)).toEqual(INACTIVE)
    }
    expect(revocations(own)).toMatchObject([
      { tenant_id: mine.id, object: `passepartout:user:${user.id}` },
    ])
  })

  test('of one token leaves the others of the person', async () => {
    const [one, two] = [await fixture.signInToSandbox(acme), await fixture.signInToSandbox(acme)]
    await acme.test.revoke(one.token)
    expect(await acme.test.introspect(two.token)).toMatchObject({ active: true })
  })

  test('of what does not count says the same, and does nothing', async () => {
    const { token } = await fixture.signInToSandbox(acme)
    const before = revocations().length
    for (const [, text] of noGood(token))
      for (const api of [acme.test, acme.live]) expect((await api.revoke(text)).status).toBe(204)
    for (const api of [acme.live, other.live, other.test])
      expect((await api.revoke(token)).status).toBe(204)
    expect(revocations()).toHaveLength(before)
    expect(await acme.test.introspect(token)).toMatchObject({ active: true })
  })

  test('ends it for whoever asks about the sign-in too: it is not handed out any more', async () => {
    const { nonce, token } = await fixture.signInToSandbox(acme)
    await acme.test.revoke(token)
    expectRefused(await acme.test.status(nonce), 404, 'nonce_expired')
  })

  test('by two at once counts once', async () => {
    const { token } = await fixture.signInToSandbox(acme)
    const before = revocations().length
    const answers = await Promise.all(Array.from({ length: 10 }, () => acme.test.revoke(token)))
    for (const { status } of answers) expect(status).toBe(204)
    expect(revocations()).toHaveLength(before + 1)
  })
})

describe.each([INTROSPECT, REVOKE])('%s', (path) => {
  const RULE = 'access_token: is required and must be an access token'
  const WRONG = 'access_token: must be an access token'

  test.each([
    ['', 'body: must be a JSON object'],
    ['null', 'body: must be a JSON object'],
    ['[]', 'body: must be a JSON object'],
    ['"x"', 'body: must be a JSON object'],
    ['5', 'body: must be a JSON object'],
    ['{}', RULE],
    ['{"token":"x"}', RULE],
    ['{"Access_token":"x"}', RULE],
    ['{"access_token":null}', WRONG],
    ['{"access_token":5}', WRONG],
    ['{"access_token":["x"]}', WRONG],
    ['{"access_token":{}}', WRONG],
    ['{"access_token":true}', WRONG],
    ['{"access_token":"x"', 'body: must be JSON'],
    ['access_token=x', 'body: must be JSON'],
    ['{"access_token":"\\ud800"}', 'half a surrogate pair'],
    [`{"a":${'['.repeat(65)}${']'.repeat(65)}}`, 'nested deeper'],
  ])('answers 400 to the body %s', async (body, words) => {
    expectRefused(await acme.test.postText(path, body), 400, 'invalid_payload', words)
  })

  test('answers 400 to bytes that are no text', async () => {
    const answer = await fixture.raw(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme.testKey}`, 'content-type': 'application/json' },
      body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
    })
    expectRefused(answer, 400, 'invalid_payload', 'UTF-8')
  })

  test.each([null, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonx'])(
    'answers 415 to the type %j',
    async (type) => {
      const body = '{"access_token":"x"}'
      const answer = await acme.test.postText(path, body, type)
      expectRefused(answer, 415, 'unsupported_media_type')
    },
  )

  test.each(['application/json;charset=UTF-8', 'Application/JSON', 'application/json '])(
    'takes the type %j',
    async (type) => {
      const { status } = await acme.test.postText(path, '{"access_token":"x"}', type)
      expect(status).toBeOneOf([200, 204])
    },
  )

  test('answers 413 to more than fits', async () => {
    const body = JSON.stringify({ access_token: 'x'.repeat(maxBodyBytes) })
    expectRefused(await acme.test.postText(path, body), 413, 'payload_too_large')
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'])('answers 405 to %s', async (method) => {
    const { status, headers } = await fixture.app.raw(path, { method })
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('POST')
  })
})

test('a token is nowhere in the database or in the log as it is', async () => {
  const { token } = await fixture.signInToSandbox(acme)
  await acme.test.introspect(token)
  const secret = token.slice('ppt_test_'.length)
  expect(tablesWith(fixture, secret)).toEqual([])
  expect(fixture.app.log.filter((line) => line.includes(secret))).toEqual([])
  await acme.test.revoke(token)
  expect(tablesWith(fixture, secret)).toEqual([])
})

test('a token outlives its nonce', async () => {
  await using own = await bootContract()
  const mine = await own.party()
  const { nonce, token } = await own.signInToSandbox(mine)
  own.clock.jump(LIFETIME + MINUTE)
  expectRefused(await mine.test.status(nonce), 404, 'nonce_expired')
  expect(await mine.test.introspect(token)).toMatchObject({ active: true })
})
