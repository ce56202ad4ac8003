import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import {
  bootPassepartout,
  CLIENT,
  expectRefused,
  LIFETIME,
  SECOND,
  START,
  type Tenant,
  tablesWith,
  usePassepartout,
} from './fixture.ts'

/** 256 bits in base64url. */
const SECRET = /^[\w-]{43}$/

const fixture = await usePassepartout()
const { actor, app, attemptsOf, bots, choose, clock, expectNobody, newTenant } = fixture
const { newTenantWithoutBots, speak } = fixture
const acme = await newTenant()

test('A sign-in starts without a client, whatever else the body has', async () => {
  const headers = { authorization: `Bearer ${acme.liveKey}` }
  for (const answer of [
    await fixture.raw(START, { method: 'POST', headers }),
    await acme.live.postText(START, '', 'text/plain'),
    await acme.live.postText(START, 'null'),
    await acme.live.post(START, { redirect: 'x', a: [1] }),
    await acme.live.postText(START, '{"__proto__":{"client":{"ip":5}}}'),
  ]) {
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      nonce: expect.stringMatching(SECRET),
      deep_link: expect.stringMatching(/^https:\/\/t\.me\/\w+\?start=[\w-]{43}$/),
      expires_at: new Date(clock.now() + LIFETIME).toISOString(),
      poll_interval: 3,
    })
  }
})

test.each(['live', 'test'] as const)(
  'A sign-in starts with its bot or page, and secrets that are unique and not stored: %s',
  async (environment) => {
    const api = acme[environment]
    const started = await Promise.all(Array.from({ length: 20 }, () => api.start()))
    expect(new Set(started.flatMap(({ nonce, payload }) => [nonce, payload])).size).toBe(40)
    const { nonce, payload, deep_link } = await api.start({ label: `${environment} tablet` })
    const bot = `https://t.me/${acme.bot.username}?start=`
    const page = '/sandbox/passepartout/'
    expect(deep_link).toEndWith((environment === 'live' ? bot : page) + payload)
    await api.status(nonce)
    expect(tablesWith(fixture, `${environment} tablet`)).toEqual(['passepartout_attempts'])
    for (const secret of [nonce, payload]) {
      expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
      expect(tablesWith(fixture, secret)).toEqual([])
      expect(app.log.filter((line) => line.includes(secret))).toEqual([])
    }
  },
)

test('A sign-in has a number of two digits for a client, or where the bot requires one', async () => {
  const tenant = await newTenant()
  for (const client of [{}, { label: 'Shop' }, { ip: '192.0.2.1' }, { user_agent: '' }])
    expect((await tenant.test.start(client)).match_code).toMatch(/^[1-9][0-9]$/)
  await bots.set(actor, tenant.sandbox, { match: 'required' })
  expect((await tenant.test.start()).match_code).toMatch(/^[1-9][0-9]$/)
  expect(await tenant.live.start()).not.toHaveProperty('match_code')
})

test('The key is checked first, then the body, the account, and the bot', async () => {
  const tenant = await newTenantWithoutBots()
  const { key: other } = await tenant.key('gate', 'live')
  const { token } = await fixture.signInToSandbox(acme)
  await app.platform.tenants.suspend(actor, tenant.id, 'billing')
  for (const key of ['x', token])
    expectRefused(await speak(key).postText(START, '{'), 401, 'unauthenticated')
  expectRefused(await speak(other).postText(START, '{', 'text/plain'), 403, 'forbidden')
  for (const body of ['{', '{"client":5}', '{"client":{"ip":"x"}}'])
    expectRefused(await tenant.live.postText(START, body), 400, 'invalid_payload')
  expectRefused(await tenant.live.post(START), 402, 'account_suspended')
  await app.platform.tenants.resume(actor, tenant.id)
  expectRefused(await tenant.live.post(START), 409, 'bot_not_configured')
  expect(attemptsOf(tenant)).toEqual([])
})

test('The client has to be valid, and is stored as it is', async () => {
  const before = attemptsOf(acme).length
  for (const [field, values] of [
    ['client', [null, [], 'Shop', 5]],
    ['client.user_agent', [null, 5, {}, 'x'.repeat(513)]],
    ['client.label', [null, 5, {}, '', 'x'.repeat(61)]],
    ['client.ip', [null, 5, {}, ['192.0.2.1'], '', ' ', 'localhost', '192.0.2', '192.0.2.1 ']],
    ['client.ip', ['192.0.2.1:80', '192.0.2.0/24', '192.0.2.256', '192.0.2.01', '0xc0000201']],
    ['client.ip', ['3221225985', '192.0.2.1\n', '192.0.2.1, 192.0.2.2', '１９２.0.2.1']],
    ['client.ip', ['[2001:db8::1]', '2001:db8::1::2', '2001:db8::g', '1'.repeat(65)]],
    // Behind the percent sign could be any text, shown to the person as an address.
    ['client.ip', ['fe80::1%eth0', '::%login.example.com', '2001:db8::1%Tap.47']],
  ] as const)
    for (const value of values) {
      const body = { client: field === 'client' ? value : { [field.slice(7)]: value } }
      const answer = await acme.test.post(START, body)
      expectRefused(answer, 400, 'invalid_payload', `${field}: must be`)
    }
  expect(attemptsOf(acme)).toHaveLength(before)
  for (const [field, values] of [
    ['ip', ['255.255.255.255', '::', '2001:DB8:0:0:0:0:0:1', '64:ff9b::192.0.2.33']],
    ['label', ['x', 'x'.repeat(60), 'Küche ☕', "'; drop table x; --"]],
    ['user_agent', ['', 'x'.repeat(512), '\u0000\u202e\n']],
  ] as const)
    for (const value of values) {
      await acme.test.start({ [field]: value })
      expect(attemptsOf(acme).at(-1)).toMatchObject({ [`client_${field}`]: value })
    }
})

const ask = (api: Tenant['live'], ip = CLIENT.ip) => api.post(START, { client: { ip } })

async function startTen(api: Tenant['live']) {
  for (let n = 0; n < 10; n++) expect((await ask(api)).status).toBe(200)
}

test('Starts of one address are limited to ten a minute for all keys of a tenant, and one more each six seconds', async () => {
  const tenant = await newTenant()
  const { live } = tenant
  await startTen(live)
  const refused = await ask(live)
  expectRefused(refused, 429, 'rate_limited', 'too many sign-ins')
  expect(refused.headers.get('retry-after')).toBe('6')
  const { key } = await tenant.key('passepartout', 'live')
  expectRefused(await ask(speak(key)), 429, 'rate_limited')
  expectRefused(await ask(live, `::ffff:${CLIENT.ip}`), 429, 'rate_limited')
  await clock.advance(3500)
  expect((await ask(live)).headers.get('retry-after')).toBe('3')
  expect(attemptsOf(tenant)).toHaveLength(10)
  await clock.advance(2499)
  expectRefused(await ask(live), 429, 'rate_limited')
  await clock.advance(1)
  expect((await ask(live)).status).toBe(200)
  expectRefused(await ask(live), 429, 'rate_limited')
  // Others, the sandbox, and starts without an address are not limited.
  const other = await newTenant()
  expect((await ask(other.live)).status).toBe(200)
  for (let n = 0; n < 11; n++) {
    expect((await ask(tenant.test)).status).toBe(200)
    expect((await live.post(START, { client: { label: 'Shop' } })).status).toBe(200)
  }
})

test('Refused starts do not count for the limit, which takes a /64 of IPv6 as one address', async () => {
  const { id, live } = await newTenant()
  await app.platform.tenants.suspend(actor, id, 'billing')
  for (let n = 0; n < 11; n++) expectRefused(await ask(live), 402, 'account_suspended')
  await app.platform.tenants.resume(actor, id)
  const invalid = { client: { ...CLIENT, label: '' } }
  for (let n = 0; n < 11; n++) expect((await live.post(START, invalid)).status).toBe(400)
  await startTen(live)
  for (let n = 0; n < 10; n++) expect((await ask(live, `2001:db8:0:1::${n}`)).status).toBe(200)
  expectRefused(await ask(live, '2001:DB8:0:1:aaaa:bbbb:cccc:dddd'), 429, 'rate_limited')
})

test('Starts are limited, and sign-ins last, as the settings say', async () => {
  const lifetime = { 'passepartout-nonce-lifetime': '90s' }
  const flags = { ...lifetime, 'limits-login-starts-per-minute': '1' }
  await using own = await bootPassepartout({ flags })
  const { live } = await own.newTenant()
  const { nonce, expires_at } = (await ask(live)).body
  expect((await ask(live)).headers.get('retry-after')).toBe('60')
  expect(Date.parse(expires_at)).toBe(own.clock.now() + 90 * SECOND)
  own.clock.jump(90 * SECOND - 1)
  expect((await live.status(nonce)).status).toBe(200)
  own.clock.jump(1)
  expectRefused(await live.status(nonce), 404, 'nonce_expired')
})

test('A sign-in needs a bot in use in its environment, whose token Telegram accepts', async () => {
  const statusAt = async (api: Tenant['live']) => {
    const answer = await api.post(START)
    if (answer.status !== 200) expectRefused(answer, 409, 'bot_not_configured')
    return answer.status
  }
  const tenant = await newTenantWithoutBots()
  const bot = fixture.botApi.bot()
  for (const [own, other, owner, change] of [
    [tenant.live, tenant.test, tenant.owner, { token: bot.token }],
    [tenant.test, tenant.live, tenant.sandbox, { match: 'required' }],
  ] as const) {
    expect(await statusAt(own)).toBe(409)
    await bots.set(actor, owner, change)
    expect(await statusAt(own)).toBe(409)
    await bots.enable(actor, owner)
    expect([await statusAt(own), await statusAt(other)]).toEqual([200, 409])
    await bots.disable(actor, owner)
    expect(await statusAt(own)).toBe(409)
  }
  await bots.enable(actor, tenant.owner)
  await fixture.botApi.waitForPoller(bot)
  bot.revokeToken()
  await until(() => bots.list(tenant.id).some(({ status }) => status === 'invalid_token'))
  expect(await statusAt(tenant.live)).toBe(409)
  await bots.remove(actor, tenant.owner)
  expect(await statusAt(tenant.live)).toBe(409)
})

const pathOf = ({ deep_link }: { deep_link: string }) => new URL(deep_link).pathname

test('The page of the sandbox takes the place of the messenger, and viewing it changes nothing', async () => {
  const { test: api } = await newTenant()
  const login = await api.start()
  for (let n = 0; n < 2; n++)
    expect((await app.raw(pathOf(login))).body).toContain('Sign in to Acme?')
  await expectNobody(login)
  expect((await choose(login, 'start', 'grace')).status).toBe(303)
  expect((await choose(login, 'approve', 'ada')).status).toBe(409)
  await expectNobody(login)
  expect((await choose(login, 'approve', 'grace')).status).toBe(303)
  expect((await login.status()).body).toMatchObject({
    access_token: expect.stringMatching(/^ppt_test_[0-9A-Za-z]{43}$/),
    user: { platform_user_id: 'grace' },
  })
  // It asks for a number, too, but has no throttle.
  for (const choice of ['approve', '00', 'deny', 'deny']) {
    const wrong = await api.start({})
    expect((await choose(wrong, choice)).status).toBe(303)
    expectRefused(await wrong.status(), 404, 'login_denied')
  }
  const right = await api.start({})
  await choose(right, right.match_code)
  expect((await right.status()).body).toMatchObject({ status: 'completed' })
})

test('Unknown choices, people and links are refused, and late answers; no link is logged', async () => {
  const { live, sandbox, test: api } = await newTenant()
  const login = await api.start()
  expect((await choose(login, 'maybe')).status).toBe(400)
  expect((await choose(login, 'approve', 'mallory')).status).toBe(400)
  const { payload } = await live.start()
  const foreign = { deep_link: `http://localhost/sandbox/passepartout/${payload}` }
  expect((await app.raw(pathOf(foreign))).status).toBe(404)
  expect((await choose(foreign, 'approve')).status).toBe(404)
  await bots.disable(actor, sandbox)
  expect((await choose(login, 'approve')).status).toBe(404)
  await bots.enable(actor, sandbox)
  clock.jump(LIFETIME)
  expect((await choose(login, 'approve')).status).toBe(409)
  await expectNobody(login, 'nonce_expired')
  for (const path of [pathOf(login), `${pathOf(login)}/x`, `/${pathOf(login)}`])
    await app.raw(path, { method: 'PUT' })
  expect(app.log.join()).toContain('/sandbox/passepartout/')
  expect(app.log.filter((line) => line.includes(login.payload))).toEqual([])
})
