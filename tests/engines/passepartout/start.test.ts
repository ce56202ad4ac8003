import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { testConfig } from '../../support/config.ts'
import { isTime } from '../relay/support.ts'
import {
  bootContract,
  type Contract,
  expectRefused,
  type Json,
  LIFETIME,
  MINUTE,
  type Party,
  SECOND,
  START,
  tablesWith,
} from './contract.ts'

const { maxBodyBytes } = testConfig().server

/** 256 bits in base64url. */
const SECRET = /^[\w-]{43}$/

/** One fixture for whatever leaves no more behind than an attempt. */
let fixture: Contract
let acme: Party
beforeAll(async () => {
  fixture = await bootContract()
  acme = await fixture.party()
})
afterAll(() => fixture.stop())

const attempts = ({ app } = fixture): number =>
  (app.db.client.query('select count(*) as n from passepartout_attempts').get() as Json).n

/** The last attempt as it is stored. */
const lastAttempt = (): Json =>
  fixture.app.db.client.query('select * from passepartout_attempts order by seq desc limit 1').get()

/** That it is refused so, and starts nothing. */
async function expectStartRefused(
  asked: () => ReturnType<Party['live']['post']>,
  ...rule: [status: number, code: string, words?: string]
) {
  const before = attempts()
  expectRefused(await asked(), ...rule)
  expect(attempts()).toBe(before)
}

const payloadOf = (deepLink: string): string => new URL(deepLink).searchParams.get('start') ?? ''

describe('a sign-in starts', () => {
  const withoutBody = (headers: Record<string, string>, body?: string) => () =>
    fixture.raw(START, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme.liveKey}`, ...headers },
      ...(body !== undefined && { body }),
    })

  test.each([
    ['without a body', withoutBody({})],
    ['with an empty one', withoutBody({}, '')],
    ['with an empty one in JSON', withoutBody({ 'content-type': 'application/json' }, '')],
    ['with none of some other type', withoutBody({ 'content-type': 'text/plain' }, '')],
    ['with none, and that said', withoutBody({ 'content-length': '0' })],
    ['with {}', () => acme.live.postText(START, '{}')],
    ['with null', () => acme.live.postText(START, 'null')],
    ['with fields that nobody knows', () => acme.live.post(START, { redirect: 'x', a: [1] })],
    ['with a charset', () => acme.live.postText(START, '{}', 'application/json; charset=utf-8')],
  ])('%s, and then there is no number to show', async (_, ask) => {
    const { status, body } = await ask()
    expect(status).toBe(200)
    expect(Object.keys(body).toSorted()).toEqual([
      'deep_link',
      'expires_at',
      'nonce',
      'poll_interval',
    ])
  })

  test('and the answer has a nonce, a link to the bot, its end, and how often to ask', async () => {
    const { nonce, deep_link, expires_at, poll_interval } = await acme.live.start()
    expect(nonce).toMatch(SECRET)
    expect(isTime(expires_at)).toBe(true)
    expect(Date.parse(expires_at)).toBe(fixture.clock.now() + LIFETIME)
    expect(poll_interval).toBe(3)
    expect(deep_link).toBe(`https://t.me/${acme.bot.username}?start=${payloadOf(deep_link)}`)
    expect(payloadOf(deep_link)).toMatch(SECRET)
  })

  test('in the sandbox with a link to a page of this server', async () => {
    const { deep_link } = await acme.test.start()
    const { pathname, search } = new URL(deep_link)
    expect(pathname).toMatch(/^\/sandbox\/passepartout\/[\w-]{43}$/)
    expect(search).toBe('')
  })

  test.each(['live', 'test'] as const)(
    'with a nonce and a payload that are never the same, %s',
    async (environment) => {
      const started = await Promise.all(Array.from({ length: 50 }, () => acme[environment].start()))
      const secrets = started.flatMap(({ nonce, deep_link }: Json) => [nonce, deep_link.slice(-43)])
      expect(new Set(secrets).size).toBe(100)
      for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    },
  )

  test.each(['live', 'test'] as const)(
    'and neither nonce nor payload is in the database or in the log, %s',
    async (environment) => {
      const { nonce, deep_link } = await acme[environment].start({ label: 'Kitchen tablet' })
      await acme[environment].status(nonce)
      expect(tablesWith(fixture, 'Kitchen tablet')).toEqual(['passepartout_attempts'])
      for (const secret of [nonce, deep_link.slice(-43)]) {
        expect(tablesWith(fixture, secret)).toEqual([])
        expect(fixture.app.log.filter((line) => line.includes(secret))).toEqual([])
      }
    },
  )

  test('for as long as a setting says', async () => {
    await using own = await bootContract({ flags: { 'passepartout-nonce-lifetime': '90s' } })
    const { test: api } = await own.party()
    const { expires_at, nonce } = await api.start()
    expect(Date.parse(expires_at)).toBe(own.clock.now() + 90 * SECOND)
    await own.clock.advance(90 * SECOND - 1)
    expect((await api.status(nonce)).status).toBe(200)
    await own.clock.advance(1)
    expectRefused(await api.status(nonce), 404, 'nonce_expired')
  })

  test('with `client` and a number of two digits to show', async () => {
    for (const client of [{}, { label: 'Shop' }, { ip: '192.0.2.1' }, { user_agent: '' }]) {
      const { match_code } = await acme.test.start(client)
      expect(match_code).toMatch(/^[1-9][0-9]$/)
    }
  })

  test('with a number without `client` too where the bot asks for one', async () => {
    await using own = await bootContract()
    const { id, live, test: sandbox } = await own.party()
    const { bots } = own.app.passepartout
    await bots.set(own.actor, { tenantId: id, environment: 'test' }, { match: 'required' })
    expect(await sandbox.start()).toMatchObject({ match_code: expect.any(String) })
    expect(await live.start()).not.toHaveProperty('match_code')
  })
})

describe('who calls is asked first: 401', () => {
  const headersOf = (authorization?: string) => ({ ...(authorization && { authorization }) })
  const ask = (authorization?: string, body = '{', type = 'text/plain') =>
    fixture.raw(START, {
      method: 'POST',
      headers: { 'content-type': type, ...headersOf(authorization) },
      body,
    })

  test.each([
    [undefined, 'missing API key'],
    ['Bearer', 'API key'],
    ['Bearer ', 'API key'],
    ['garbage', 'API key'],
    ['Basic dXNlcjpwYXNz', 'API key'],
    ['Bearer svc_passepartout_live_sk_', 'invalid or revoked'],
    ['Bearer svc_passepartout_live_sk_short', 'invalid or revoked'],
    [`Bearer svc_passepartout_live_sk_${'0'.repeat(43)}`, 'invalid or revoked'],
    [`Bearer svc_passepartout_live_sk_${'0'.repeat(100_000)}`, 'invalid or revoked'],
  ])('to %j, whatever the body is', async (authorization, words) => {
    for (const body of ['', '{', '{"client":5}', 'x'.repeat(maxBodyBytes + 1)])
      await expectStartRefused(() => ask(authorization, body), 401, 'unauthenticated', words)
  })

  test('to a mistyped key, one of the other environment, and one that is cut', async () => {
    const { liveKey } = acme
    const mistyped = liveKey.slice(0, -1) + (liveKey.endsWith('0') ? '1' : '0')
    for (const key of [mistyped, liveKey.replace('_live_', '_test_'), liveKey.slice(0, -1)])
      await expectStartRefused(() => ask(`Bearer ${key}`), 401, 'unauthenticated', 'invalid or')
  })

  test('to a revoked key', async () => {
    const { id, key } = await acme.key('passepartout', 'live')
    expect((await fixture.speak(key).post(START)).status).toBe(200)
    await fixture.app.platform.keys.revoke(fixture.actor, id)
    await expectStartRefused(() => ask(`Bearer ${key}`), 401, 'unauthenticated', 'invalid or')
  })

  test('to the access token of somebody who has signed in', async () => {
    const { token } = await fixture.signInToSandbox(acme)
    await expectStartRefused(() => ask(`Bearer ${token}`), 401, 'unauthenticated', 'invalid or')
  })
})

describe('then what the key is for: 403', () => {
  const BODIES = ['{', '{"client":5}', 'x'.repeat(maxBodyBytes + 1)]
  const expectForbidden = async (key: string, words: string) => {
    for (const body of BODIES)
      await expectStartRefused(
        () => fixture.speak(key).postText(START, body, 'text/plain'),
        403,
        'forbidden',
        words,
      )
  }

  test.each(['gate', 'relay'] as const)('to keys of %s', async (engine) => {
    for (const environment of ['live', 'test'] as const) {
      const { key } = await acme.key(engine, environment)
      await expectForbidden(key, `this is a ${engine} key; the route needs a passepartout key`)
    }
  })

  test('to a key of clockwork', async () => {
    const { key } = await acme.key('clockwork')
    await expectForbidden(key, 'this is a clockwork key; the route needs a passepartout key')
  })

  test('to a key with no scope but those of its tenant', async () => {
    const { key } = await acme.key('passepartout', 'live', ['reports:read'])
    await expectForbidden(key, 'the key lacks the scope passepartout')
  })

  test('to such a key of a tenant in arrears', async () => {
    const other = await fixture.bareParty('Forbidden')
    const { key } = await other.key('passepartout', 'live', ['reports:read'])
    await fixture.app.platform.tenants.suspend(fixture.actor, other.id, 'billing')
    await expectForbidden(key, 'the key lacks the scope passepartout')
  })
})

describe('then the body', () => {
  test('413 where it is too large, of whatever type', async () => {
    const client = (filling: number) => JSON.stringify({ filling: 'x'.repeat(filling) })
    const fitting = client(maxBodyBytes - client(0).length)
    expect((await acme.test.postText(START, fitting)).status).toBe(200)
    for (const type of ['application/json', 'text/plain'])
      await expectStartRefused(
        () => acme.test.postText(START, `${fitting} `, type),
        413,
        'payload_too_large',
        `${maxBodyBytes} bytes`,
      )
  })

  test.each([null, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    '415 where it is of type %j',
    (type) =>
      expectStartRefused(
        () => acme.test.postText(START, '{}', type),
        415,
        'unsupported_media_type',
        'must be application/json',
      ),
  )

  test('415 where it is compressed', () =>
    expectStartRefused(
      () =>
        fixture.raw(START, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${acme.testKey}`,
            'content-type': 'application/json',
            'content-encoding': 'gzip',
          },
          body: Bun.gzipSync(Buffer.from('{}')),
        }),
      415,
      'unsupported_media_type',
    ))

  const IP = 'client.ip: must be an IP address'
  const USER_AGENT = 'client.user_agent: must be a string of at most 512 characters'
  const LABEL = 'client.label: must be a string of 1 to 60 characters'
  const CLIENT = 'client: must be a JSON object'

  test.each<[body: string, words: string]>([
    ['{', 'body: must be JSON'],
    ['{}{}', 'body: must be JSON'],
    ['undefined', 'body: must be JSON'],
    ['[]', 'body: must be a JSON object or null'],
    ['"client"', 'body: must be a JSON object or null'],
    ['5', 'body: must be a JSON object or null'],
    ['true', 'body: must be a JSON object or null'],
    ['{"client":null}', CLIENT],
    ['{"client":[]}', CLIENT],
    ['{"client":"Shop"}', CLIENT],
    ['{"client":5}', CLIENT],
    ['{"client":true}', CLIENT],
    ['{"client":{"label":"\\ud800"}}', 'half a surrogate pair'],
    ['{"\\udc00":1}', 'half a surrogate pair'],
    ['['.repeat(65), 'nested deeper'],
    [`{"a":${'['.repeat(65)}${']'.repeat(65)}}`, 'nested deeper'],
    ...['null', '5', '{}', '["192.0.2.1"]', 'true'].map((ip): [string, string] => [
      `{"client":{"ip":${ip}}}`,
      IP,
    ]),
    ...[
      '',
      ' ',
      'localhost',
      'example.com',
      '192.0.2',
      '192.0.2.1 ',
      ' 192.0.2.1',
      '192.0.2.1:80',
      '192.0.2.0/24',
      '192.0.2.256',
      '192.0.2.01',
      '0xc0000201',
      '3221225985',
      '192.0.2.1\\n',
      '192.0.2.1\\u0000',
      '192.0.2.1, 192.0.2.2',
      '１９２.0.2.1',
      '[2001:db8::1]',
      '[2001:db8::1]:443',
      '2001:db8::1::2',
      '2001:db8:::1',
      '2001:db8::g',
      'unknown',
      '<b>1</b>',
      '1'.repeat(65),
    ].map((ip): [string, string] => [`{"client":{"ip":"${ip}"}}`, IP]),
    ...['null', '5', '{}', '["x"]', 'true', `"${'x'.repeat(513)}"`].map(
      (text): [string, string] => [`{"client":{"user_agent":${text}}}`, USER_AGENT],
    ),
    ...['null', '5', '{}', '["x"]', 'true', '""', `"${'x'.repeat(61)}"`].map(
      (text): [string, string] => [`{"client":{"label":${text}}}`, LABEL],
    ),
  ])('400 to %s', (body, words) =>
    expectStartRefused(() => acme.test.postText(START, body), 400, 'invalid_payload', words),
  )

  /** What stands behind the percent sign is any text, and the person is shown it as an address. */
  test.each(['fe80::1%eth0', '::%login.example.com', '2001:db8::1%Tap.47'])(
    '400 to an address with a zone, which means nothing to others: %s',
    (ip) =>
      expectStartRefused(
        () => acme.test.post(START, { client: { ip } }),
        400,
        'invalid_payload',
        IP,
      ),
  )

  test.each([
    '0.0.0.0',
    '192.0.2.1',
    '255.255.255.255',
    '::',
    '::1',
    '2001:db8::1',
    '2001:DB8:0:0:0:0:0:1',
    '::ffff:192.0.2.1',
    '64:ff9b::192.0.2.33',
  ])('200 to the address %s, and keeps it', async (ip) => {
    await acme.test.start({ ip })
    expect(lastAttempt()).toMatchObject({ client_ip: ip })
  })

  test.each(['x', 'x'.repeat(60), 'Küche ☕', '<script>alert(1)</script>', "'; drop table x; --"])(
    '200 to the label %s',
    async (label) => {
      await acme.test.start({ label })
      expect(lastAttempt()).toMatchObject({ client_label: label })
    },
  )

  test.each(['', 'x'.repeat(512), 'Mozilla/5.0 (X11; Linux x86_64)', '\u0000\u202e\n'])(
    '200 to the user agent %j',
    async (user_agent) => {
      await acme.test.start({ user_agent })
      expect(lastAttempt()).toMatchObject({ client_user_agent: user_agent })
    },
  )

  test('200 to names of JavaScript, which do nothing', async () => {
    const body = '{"__proto__":{"client":{"ip":5}},"constructor":{"prototype":{"ip":5}}}'
    const { status, body: started } = await acme.test.postText(START, body)
    expect(status).toBe(200)
    expect(started).not.toHaveProperty('match_code')
  })
})

describe('then whether the account is in good standing: 402', () => {
  test.each([
    ['billing', 'account_suspended', 'suspended'],
    ['renewal', 'renewal_unpaid', 'unpaid'],
  ] as const)('for %s, until that is settled', async (reason, code, words) => {
    const { tenants } = fixture.app.platform
    const other = await fixture.party(`In arrears for ${reason}`)
    await tenants.suspend(fixture.actor, other.id, reason)
    for (const api of [other.live, other.test])
      await expectStartRefused(() => api.post(START), 402, code, words)
    await tenants.resume(fixture.actor, other.id)
    for (const api of [other.live, other.test]) expect((await api.post(START)).status).toBe(200)
  })

  test('a bad body is told before it, and a missing bot after', async () => {
    const other = await fixture.bareParty('In arrears')
    await fixture.app.platform.tenants.suspend(fixture.actor, other.id, 'renewal')
    for (const body of ['{', '{"client":5}', '{"client":{"ip":"x"}}'])
      await expectStartRefused(() => other.live.postText(START, body), 400, 'invalid_payload')
    await expectStartRefused(() => other.live.post(START), 402, 'renewal_unpaid')
  })
})

describe('then whether the address has not started too many: 429', () => {
  const IP = '203.0.113.1'

  async function startTen(api: Party['live'], ip = IP) {
    for (let n = 0; n < 10; n++)
      expect((await api.post(START, { client: { ip } })).status).toBe(200)
  }

  const ask = (api: Party['live'], ip = IP) => api.post(START, { client: { ip } })

  test('to the eleventh within a minute, with the time to wait; each six seconds one is possible again', async () => {
    await using own = await bootContract()
    const { live } = await own.party()
    await startTen(live)
    const before = attempts(own)

    const refused = await ask(live)
    expectRefused(refused, 429, 'rate_limited', 'too many sign-ins')
    expect(refused.headers.get('retry-after')).toBe('6')
    await own.clock.advance(3500)
    expect((await ask(live)).headers.get('retry-after')).toBe('3')
    expect(attempts(own)).toBe(before)

    await own.clock.advance(2499)
    expectRefused(await ask(live), 429, 'rate_limited')
    await own.clock.advance(1)
    expect((await ask(live)).status).toBe(200)
    expectRefused(await ask(live), 429, 'rate_limited')
    await own.clock.advance(MINUTE)
    await startTen(live)
    expectRefused(await ask(live), 429, 'rate_limited')
  })

  test('and holds up no other address, no other tenant, no sandbox, and nobody without an address', async () => {
    await using own = await bootContract()
    const [one, other] = [await own.party(), await own.party('Other')]
    await startTen(one.live)
    expectRefused(await ask(one.live), 429, 'rate_limited')

    expect((await ask(one.live, '203.0.113.2')).status).toBe(200)
    expect((await ask(other.live)).status).toBe(200)
    for (let n = 0; n < 15; n++) {
      expect((await ask(one.test)).status).toBe(200)
      expect((await one.live.post(START, { client: { label: 'Shop' } })).status).toBe(200)
      expect((await one.live.post(START)).status).toBe(200)
    }
  })

  test('to all keys of the tenant alike', async () => {
    await using own = await bootContract()
    const { live, key } = await own.party()
    const second = own.speak((await key('passepartout', 'live')).key)
    await startTen(live)
    expectRefused(await ask(second), 429, 'rate_limited')
  })

  test('to all addresses of one /64, however they are spelled', async () => {
    await using own = await bootContract()
    const { live } = await own.party()
    for (const ip of ['2001:db8:0:1::1', '2001:DB8::1:0:0:0:2', '2001:db8:0:1:ffff::'])
      for (let n = 0; n < 3; n++) expect((await ask(live, ip)).status).toBe(200)
    expect((await ask(live, '2001:db8:0:1::9')).status).toBe(200)
    expectRefused(await ask(live, '2001:db8:0:1:aaaa:bbbb:cccc:dddd'), 429, 'rate_limited')
    expect((await ask(live, '2001:db8:0:2::1')).status).toBe(200)
  })

  test('to an IPv4 address wrapped in IPv6 as to itself', async () => {
    await using own = await bootContract()
    const { live } = await own.party()
    await startTen(live)
    expectRefused(await ask(live, `::ffff:${IP}`), 429, 'rate_limited')
  })

  test('as a setting says', async () => {
    await using own = await bootContract({ flags: { 'limits-login-starts-per-minute': '1' } })
    const { live } = await own.party()
    expect((await ask(live)).status).toBe(200)
    expect((await ask(live)).headers.get('retry-after')).toBe('60')
  })

  test('what was refused before counts for nothing', async () => {
    await using own = await bootContract()
    const { id, live } = await own.party()
    const { tenants } = own.app.platform
    await tenants.suspend(own.actor, id, 'billing')
    for (let n = 0; n < 20; n++) expectRefused(await ask(live), 402, 'account_suspended')
    await tenants.resume(own.actor, id)
    for (let n = 0; n < 20; n++)
      expectRefused(
        await live.postText(START, `{"client":{"ip":"${IP}","label":""}}`),
        400,
        'invalid_payload',
      )
    await startTen(live)
  })
})

describe('then whether there is a bot to go through: 409', () => {
  const refused = (api: Party['live'], words: string) =>
    expectStartRefused(() => api.post(START), 409, 'bot_not_configured', words)

  test('not before one is set and enabled, in each environment by itself', async () => {
    const { bots } = fixture.app.passepartout
    const other = await fixture.bareParty('Slow')
    const live = { tenantId: other.id, environment: 'live' } as const
    const sandbox = { tenantId: other.id, environment: 'test' } as const
    const bot = fixture.botApi.bot()
    await refused(other.live, 'there is no live bot yet')
    await refused(other.test, 'there is no test bot yet')

    await bots.set(fixture.actor, live, { token: bot.token })
    await refused(other.live, 'the live bot is not enabled')
    await bots.enable(fixture.actor, live)
    expect((await other.live.post(START)).status).toBe(200)
    await refused(other.test, 'there is no test bot yet')

    await bots.set(fixture.actor, sandbox, { match: 'required' })
    await refused(other.test, 'the test bot is not enabled')
    await bots.enable(fixture.actor, sandbox)
    expect((await other.test.post(START)).status).toBe(200)
  })

  test('not once it is disabled, and again when it is enabled', async () => {
    const { bots } = fixture.app.passepartout
    const other = await fixture.party('Fickle')
    for (const environment of ['live', 'test'] as const) {
      const owner = { tenantId: other.id, environment }
      await bots.disable(fixture.actor, owner)
      await refused(other[environment], `the ${environment} bot is not enabled`)
      await bots.enable(fixture.actor, owner)
      expect((await other[environment].post(START)).status).toBe(200)
    }
  })

  test('not once it is removed', async () => {
    const other = await fixture.party('Gone')
    const owner = { tenantId: other.id, environment: 'live' } as const
    await fixture.app.passepartout.bots.remove(fixture.actor, owner)
    await refused(other.live, 'there is no live bot yet')
    expect((await other.test.post(START)).status).toBe(200)
  })

  test('not while Telegram does not accept its token, and at once with a new one', async () => {
    const other = await fixture.party('Revoked')
    const owner = { tenantId: other.id, environment: 'live' } as const
    const { bots } = fixture.app.passepartout
    const token = other.bot.revokeToken()
    await until(() => bots.list(other.id).some(({ status }) => status === 'invalid_token'))
    await refused(other.live, 'Telegram no longer accepts the token')

    await bots.set(fixture.actor, owner, { token })
    expect((await other.live.post(START)).status).toBe(200)
  })

  test('whatever the bots of others', async () => {
    const other = await fixture.bareParty('Alone')
    await refused(other.live, 'there is no live bot yet')
    await refused(other.test, 'there is no test bot yet')
  })
})

test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'])('%s is not possible: 405', async (method) => {
  const headers = { authorization: `Bearer ${acme.liveKey}` }
  const { status, body, headers: answered } = await fixture.app.raw(START, { method, headers })
  expect(status).toBe(405)
  expect(answered.get('allow')).toBe('POST')
  expect(body.error).toMatchObject({
    code: 'method_not_allowed',
    request_id: answered.get('x-request-id'),
  })
})

test('the address of a sandbox page stays out of the log, whatever is asked of it', async () => {
  await using fixture = await bootContract()
  const acme = await fixture.party()
  const { deep_link } = await acme.test.start()
  const { pathname } = new URL(deep_link)
  const payload = pathname.split('/').at(-1) ?? ''

  for (const method of ['GET', 'PUT', 'DELETE']) await fixture.app.raw(pathname, { method })
  for (const path of [`${pathname}/x`, `/${pathname}`]) await fixture.app.raw(path)

  expect(fixture.app.log.filter((line) => line.includes('/sandbox/passepartout/'))).toHaveLength(5)
  expect(fixture.app.log.filter((line) => line.includes(payload))).toEqual([])
})
