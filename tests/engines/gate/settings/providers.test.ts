import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { withClients } from '../../../support/config.ts'
import { type Json, SETTINGS } from '../fixture.ts'
import {
  besides,
  bootWebhooks,
  type Fixture,
  refusal,
  UNKNOWN_ID,
} from '../webhooks/webhook-fixture.ts'

const PROVIDERS = `${SETTINGS}/oidc-providers`
const PUBLIC = '/public/gate/providers'

/** The identifiers of the contract, in its order. */
const NAMES = [
  'github',
  'google',
  'gitlab',
  'microsoft',
  'discord',
  'facebook',
  'linkedin',
  'apple',
  'slack',
  'twitch',
  'spotify',
]

/** The whole list as it is answered, with these on. */
const listWith = (...on: string[]) => ({
  providers: NAMES.map((provider) => ({ provider, enabled: on.includes(provider) })),
})

const on = (...names: string[]) => ({
  providers: names.map((provider) => ({ provider, enabled: true })),
})
const off = (...names: string[]) => ({
  providers: names.map((provider) => ({ provider, enabled: false })),
})

/** Asked by somebody without a key. */
const offered = ({ app }: Pick<Fixture, 'app'>, tenantId: string) =>
  app.raw(`${PUBLIC}/${tenantId}`)

/** The providers that a flow has buttons for. */
const buttonsOf = async ({ api }: Pick<Fixture, 'api'>, kind: string): Promise<string[]> =>
  (await api.get(`/v1/gate/auth/${kind}`)).body.ui.nodes
    .filter(({ group }: Json) => group === 'oidc')
    .map(({ attributes }: Json) => attributes.value)

describe('the list of providers', () => {
  test('has all 11, in the order of the contract, all off as it comes', async () => {
    await using fixture = await bootWebhooks()
    const answer = await fixture.api.get(PROVIDERS)

    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body)).toBe(JSON.stringify(listWith()))
    expect(answer.body.providers).toHaveLength(11)
  })

  test('is answered whole, in its order, to a change of some in another order', async () => {
    await using fixture = await bootWebhooks()

    const answer = await fixture.api.put(PROVIDERS, on('spotify', 'apple', 'github'))

    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer.body)).toBe(JSON.stringify(listWith('github', 'apple', 'spotify')))
    expect(await fixture.read(PROVIDERS)).toEqual(answer.body)
  })

  test.each(NAMES)('can switch %s on and off without touching any other', async (name) => {
    await using fixture = await bootWebhooks()
    const other = name === 'gitlab' ? 'twitch' : 'gitlab'
    await fixture.api.put(PROVIDERS, on(other))

    expect((await fixture.api.put(PROVIDERS, on(name))).body).toEqual(listWith(name, other))
    expect((await fixture.api.put(PROVIDERS, off(name))).body).toEqual(listWith(other))
    expect(await fixture.read(PROVIDERS)).toEqual(listWith(other))
  })

  test('takes all at once, on and off mixed, and what it already is', async () => {
    await using fixture = await bootWebhooks()
    const { api } = fixture
    await api.put(PROVIDERS, on(...NAMES))
    expect(await fixture.read(PROVIDERS)).toEqual(listWith(...NAMES))

    const mixed = { providers: [...on('github').providers, ...off('slack', 'apple').providers] }
    const rest = NAMES.filter((name) => name !== 'slack' && name !== 'apple')

    expect((await api.put(PROVIDERS, mixed)).body).toEqual(listWith(...rest))
    expect((await api.put(PROVIDERS, mixed)).body).toEqual(listWith(...rest))
  })

  test('takes its own answer back, and fields besides', async () => {
    await using fixture = await bootWebhooks()
    const { api } = fixture
    await api.put(PROVIDERS, on('google'))
    const whole = await fixture.read(PROVIDERS)

    expect((await api.put(PROVIDERS, whole)).body).toEqual(whole)
    const more = { providers: [{ provider: 'apple', enabled: true, client_id: 'x' }], extra: 1 }
    expect((await api.put(PROVIDERS, more)).body).toEqual(listWith('google', 'apple'))
  })

  test('keeps changes that are made at the same time', async () => {
    await using fixture = await bootWebhooks()

    await Promise.all(NAMES.map((name) => fixture.api.put(PROVIDERS, on(name))))

    expect(await fixture.read(PROVIDERS)).toEqual(listWith(...NAMES))
  })
})

describe('a change of providers is refused, and changes nothing', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await bootWebhooks()
    await fixture.api.put(PROVIDERS, on('google'))
  })
  afterAll(() => fixture.end())

  const NAME = 'one of github, google'
  const google = { provider: 'google', enabled: false }

  test.each<[string, unknown, string[]]>([
    ['nothing', undefined, ['body: must be a JSON object']],
    ['null', null, ['body: must be a JSON object']],
    ['a list', [google], ['body: must be a JSON object']],
    ['a string', 'google', ['body: must be a JSON object']],
    ['no list', {}, ['providers: is required', 'at least 1 provider']],
    ['null as list', { providers: null }, ['providers: must be', 'at least 1 provider']],
    ['one without a list', { providers: google }, ['providers: must be', 'at least 1 provider']],
    ['a map', { providers: { google: false } }, ['providers: must be', 'at least 1 provider']],
    ['an empty list', { providers: [] }, ['providers: must be', 'at least 1 provider']],
    ['a name only', { providers: ['google'] }, ['providers.0: must be a JSON object']],
    ['null in the list', { providers: [google, null] }, ['providers.1: must be a JSON object']],
    ['no name', { providers: [{ enabled: false }] }, ['providers.0.provider: is required', NAME]],
    ['no state', { providers: [{ provider: 'google' }] }, ['providers.0.enabled: is required']],
    ...[null, 0, 'false', 'off', []].map((enabled): [string, unknown, string[]] => [
      `the state ${JSON.stringify(enabled)}`,
      { providers: [{ provider: 'google', enabled }] },
      ['providers.0.enabled: must be true or false'],
    ]),
    ...[
      'github-tenant',
      'google-tenant',
      'GitHub',
      'google ',
      'twitter',
      'x',
      '',
      '__proto__',
      null,
      5,
      ['google'],
    ].map((provider): [string, unknown, string[]] => [
      `the name ${JSON.stringify(provider)} behind a good one`,
      { providers: [google, { provider, enabled: true }] },
      ['providers.1.provider: must be', NAME],
    ]),
    [
      'the same twice',
      { providers: [google, google] },
      ['providers: must not name a provider twice'],
    ],
    [
      'contradictory states',
      { providers: [google, ...on('apple', 'google').providers] },
      ['providers: must not name a provider twice'],
    ],
  ])('%s', async (_, body, words) => {
    expect(await fixture.api.put(PROVIDERS, body)).toMatchObject(refusal(400, ...words))
    expect(await fixture.read(PROVIDERS)).toEqual(listWith('google'))
  })
})

describe('a tenant', () => {
  test('has its own providers, the same with a live and a test key', async () => {
    await using fixture = await bootWebhooks()
    const other = await fixture.party()
    const test = fixture.speak((await fixture.acme.key('gate', 'test')).key)

    await fixture.api.put(PROVIDERS, on('github'))
    await other.api.put(PROVIDERS, on('slack'))
    expect(await test.read(PROVIDERS)).toEqual(listWith('github'))
    await test.api.put(PROVIDERS, on('apple'))

    expect(await fixture.read(PROVIDERS)).toEqual(listWith('github', 'apple'))
    expect(await other.read(PROVIDERS)).toEqual(listWith('slack'))
  })

  test('that asks another process finds what was changed, at once and both ways', async () => {
    await using fixture = await bootWebhooks()
    await using next = await besides(fixture, fixture.key)
    expect(await next.get(PROVIDERS)).toEqual({ status: 200, body: listWith() })

    for (const [n, name] of NAMES.entries()) {
      const so = NAMES.slice(0, n + 1)
      if (n % 2 === 0) await fixture.api.put(PROVIDERS, on(name))
      else await next.put(PROVIDERS, on(name))
      expect(await next.get(PROVIDERS)).toEqual({ status: 200, body: listWith(...so) })
      expect(await fixture.read(PROVIDERS)).toEqual(listWith(...so))
    }
  })
})

describe('the public list of a tenant', () => {
  test('needs no key and has those that are on and have a client, as the flows do', async () => {
    await using fixture = await bootWebhooks(withClients('twitch', 'google', 'discord', 'slack'))
    expect((await offered(fixture, fixture.acme.id)).body).toEqual({ providers: [] })
    const isOn = on('twitch', 'google', 'discord', 'github', 'apple')
    expect((await fixture.api.put(PROVIDERS, isOn)).body).toEqual(
      listWith('twitch', 'google', 'discord', 'github', 'apple'),
    )

    const answer = await offered(fixture, fixture.acme.id)

    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(JSON.stringify(answer.body)).toBe('{"providers":["google","discord","twitch"]}')
    for (const kind of ['login', 'registration'])
      expect(await buttonsOf(fixture, kind)).toEqual(answer.body.providers)
    await fixture.api.put(PROVIDERS, off('google'))
    expect((await offered(fixture, fixture.acme.id)).body).toEqual({
      providers: ['discord', 'twitch'],
    })
  })

  test('is its own, whichever environment its keys are for', async () => {
    await using fixture = await bootWebhooks(withClients('github', 'spotify'))
    const other = await fixture.party()
    const test = fixture.speak((await fixture.acme.key('gate', 'test')).key)
    await test.api.put(PROVIDERS, on('github'))
    await other.api.put(PROVIDERS, on('spotify'))

    expect((await offered(fixture, fixture.acme.id)).body).toEqual({ providers: ['github'] })
    expect((await offered(fixture, other.tenant.id)).body).toEqual({ providers: ['spotify'] })
  })

  test('is the same with a bad key, which nobody looks at', async () => {
    await using fixture = await bootWebhooks()
    const headers = { authorization: 'Bearer garbage' }
    const answer = await fixture.app.raw(`${PUBLIC}/${fixture.acme.id}`, { headers })
    expect(answer).toMatchObject({ status: 200, body: { providers: [] } })
  })

  test('cannot be written', async () => {
    await using fixture = await bootWebhooks()
    const before = await fixture.read(PROVIDERS)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(
        await fixture.app.raw(`${PUBLIC}/${fixture.acme.id}`, { method, body: '{}' }),
      ).toMatchObject({ status: 405, body: { error: expect.stringContaining('GET') } })
    expect(await fixture.read(PROVIDERS)).toEqual(before)
  })
})

describe('the public list answers 404 with a sentence to', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await bootWebhooks()
    await fixture.api.put(PROVIDERS, on('github'))
  })
  afterAll(() => fixture.end())

  test.each<[string, (id: string) => string]>([
    ['a tenant that there is not', () => UNKNOWN_ID],
    ['a word', () => 'acme'],
    ['NUL', () => '%00'],
    ['a broken escape', () => '%zz'],
    ['half a letter', () => '%c3'],
    ['SQL', () => "'%20or%201=1--"],
    ['a long text', () => 'x'.repeat(5000)],
    ['a space', () => '%20'],
    ['a name of JavaScript', () => '__proto__'],
    ['a space behind the id', (id) => `${id}%20`],
    ['a space before the id', (id) => `%20${id}`],
    ['NUL behind the id', (id) => `${id}%00`],
    ['the id in capitals', (id) => id.toUpperCase()],
    ['the id without its end', (id) => id.slice(0, -1)],
  ])('%s', async (_, wrong) => {
    const { status, body, headers } = await offered(fixture, wrong(fixture.acme.id))
    expect({ status, body }).toEqual({ status: 404, body: { error: 'tenant not found' } })
    expect(headers.get('www-authenticate')).toBeNull()
  })
})
