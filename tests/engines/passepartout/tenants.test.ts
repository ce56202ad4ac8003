import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import { expectDescribed, isTime } from '../relay/support.ts'
import {
  bootContract,
  type Contract,
  expectRefused,
  INTROSPECT,
  type Json,
  LIFETIME,
  type Party,
  REVOKE,
  START,
  STATUS,
  statusOf,
  UUID,
} from './contract.ts'

/** Every route for keys, with a query and a body that it would take; `:nonce` and `:token` are mine. */
const USER = '/v1/passepartout/users/:user_id'

const ROUTES = [
  ['POST', START, ''],
  ['GET', STATUS, '?nonce=:nonce'],
  ['POST', INTROSPECT, '', { access_token: ':token' }],
  ['POST', REVOKE, '', { access_token: ':token' }],
  ['GET', USER, ''],
  ['DELETE', USER, ''],
] as const satisfies readonly (readonly [string, string, string, Json?])[]

/** For Telegram and for browsers, with secrets of their own in the place of a key. */
const OTHERS = [
  ['POST', '/v1/passepartout/telegram/:bot_id'],
  ['GET', '/sandbox/passepartout/:payload'],
  ['POST', '/sandbox/passepartout/:payload'],
] as const

let fixture: Contract
let acme: Party
let mine: { nonce: string; token: string; user: Json }
let before: unknown
beforeAll(async () => {
  fixture = await bootContract()
  acme = await fixture.party()
  mine = await fixture.signInToSandbox(acme)
  before = everythingOf(acme)
})
afterAll(() => fixture.stop())

/** All that is kept of a tenant's sign-ins. */
const everythingOf = ({ id }: { id: string }) =>
  ['attempts', 'people', 'tokens', 'bots'].map((table) =>
    fixture.app.db.client.query(`select * from passepartout_${table} where tenant_id = ?`).all(id),
  )

const expectUntouched = () => expect(everythingOf(acme)).toEqual(before as never)

const filled = (text: string) =>
  text.replace(':nonce', mine.nonce).replace(':token', mine.token).replace(':user_id', mine.user.id)

async function ask(route: (typeof ROUTES)[number], authorization?: string): Promise<Answer> {
  const [method, path, query, json] = route
  return fixture.raw(filled(path + query), {
    method,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(json && { 'content-type': 'application/json' }),
    },
    ...(json && { body: filled(JSON.stringify(json)) }),
  })
}

test('the tables have every route that there is', () => {
  const served = fixture.app.app.routes
    .filter(({ path }) => path.includes('passepartout'))
    .map(({ method, path }) => `${method} ${path}`)
  const listed = [...ROUTES, ...OTHERS].map(([method, path]) => `${method} ${path}`)

  expect(served.toSorted()).toEqual(listed.toSorted())
})

const asDescribed = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}')

describe('the API document', () => {
  test('has the routes for programs, and not the pages of the sandbox', () => {
    const described = Object.keys(fixture.document.paths).filter((path) =>
      /passepartout/.test(path),
    )
    const forTelegram = '/v1/passepartout/telegram/{bot_id}'
    expect(described.toSorted()).toEqual(
      [START, STATUS, INTROSPECT, REVOKE, asDescribed(USER), forTelegram].toSorted(),
    )
  })

  test('says what its tag is about', () => {
    const tags = fixture.document.tags.map(({ name }: Json) => name)
    for (const [method, path] of ROUTES)
      for (const tag of fixture.document.paths[asDescribed(path)][method.toLowerCase()].tags)
        expect(tags).toContain(tag)
  })

  test('asks for a key on each of them', () => {
    for (const [method, path] of ROUTES)
      expect(fixture.document.paths[asDescribed(path)][method.toLowerCase()].security).toEqual([
        { apiKey: [] },
      ])
  })

  test('says of starting that its body may be left out', () => {
    expect(fixture.document.paths[START].post.requestBody?.required ?? false).toBe(false)
  })

  test('describes what of the query may be left out, and its bounds', () => {
    const { parameters } = fixture.document.paths[STATUS].get
    expect(parameters).toMatchObject([
      { name: 'nonce', in: 'query', required: true, schema: { type: 'string', maxLength: 200 } },
      {
        name: 'wait',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 0, maximum: 25 },
      },
    ])
  })

  test('is no secret of keys', async () => {
    for (const [method, path] of ROUTES)
      expectDescribed(
        fixture.document,
        method.toLowerCase(),
        asDescribed(path),
        await fixture.app.raw(filled(path), { method }),
      )
  })
})

describe('every route', () => {
  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'garbage',
    'Basic dXNlcjpwYXNz',
    'Bearer garbage',
    'Bearer svc_passepartout_live_sk_short',
    `Bearer svc_passepartout_prod_sk_${'0'.repeat(43)}`,
  ])('answers 401 to the credential %j', async (credential) => {
    for (const route of ROUTES)
      expectRefused(await ask(route, credential), 401, 'unauthenticated', 'API key')
    expectUntouched()
  })

  test('answers 401 to a revoked key and to the token of a person', async () => {
    const { id, key } = await acme.key('passepartout', 'live')
    await fixture.app.platform.keys.revoke(fixture.actor, id)
    for (const credential of [`Bearer ${key}`, `Bearer ${mine.token}`])
      for (const route of ROUTES)
        expectRefused(await ask(route, credential), 401, 'unauthenticated', 'invalid or revoked')
    expectUntouched()
  })

  test('answers 403 to keys of other engines, of whatever tenant', async () => {
    const other = await fixture.bareParty('Elsewhere')
    for (const { key: issue } of [acme, other])
      for (const engine of ['gate', 'relay', 'clockwork'] as const)
        for (const environment of engine === 'clockwork'
          ? [undefined]
          : (['live', 'test'] as const)) {
          const { key } = await issue(engine, environment)
          for (const route of ROUTES)
            expectRefused(
              await ask(route, `Bearer ${key}`),
              403,
              'forbidden',
              `this is a ${engine} key; the route needs a passepartout key`,
            )
        }
    expectUntouched()
  })

  test('answers 403 to a key without the scope', async () => {
    const { key } = await acme.key('passepartout', 'test', ['reports:read'])
    for (const route of ROUTES)
      expectRefused(
        await ask(route, `Bearer ${key}`),
        403,
        'forbidden',
        'the key lacks the scope passepartout',
      )
    expectUntouched()
  })

  test.each(['other tenant, live', 'other tenant, test', 'other environment'])(
    'shows and changes nothing of mine to a key of the %s',
    async (whose) => {
      const other = await fixture.bareParty('Other')
      const keys: Record<string, string> = {
        'other tenant, live': other.liveKey,
        'other tenant, test': other.testKey,
        'other environment': acme.liveKey,
      }
      const credential = `Bearer ${keys[whose]}`
      expectRefused(await ask(ROUTES[1], credential), 404, 'not_found', 'sign-in not found')
      expect(await ask(ROUTES[2], credential)).toMatchObject({
        status: 200,
        body: { active: false },
      })
      expect(await ask(ROUTES[3], credential)).toMatchObject({ status: 204, body: '' })
      for (const route of [ROUTES[4], ROUTES[5]])
        expectRefused(await ask(route, credential), 404, 'not_found', 'user not found')
      expectUntouched()
      expect(await acme.test.introspect(mine.token)).toMatchObject({ active: true })
    },
  )

  test('does it for a key of mine', async () => {
    const { testKey } = acme
    expect((await ask(ROUTES[1], `Bearer ${testKey}`)).body).toMatchObject({ status: 'completed' })
    expect((await ask(ROUTES[2], `Bearer ${testKey}`)).body).toMatchObject({ active: true })
    expect((await ask(ROUTES[4], `Bearer ${testKey}`)).body).toEqual(mine.user)
  })
})

test('what another tenant starts is of no use with my key, whoever approves it', async () => {
  const other = await fixture.party('Stranger')
  const ada = fixture.botApi.person({ language_code: 'en' })
  const { nonce, deep_link } = await other.live.start()
  await fixture.answer(other.bot, ada, deep_link, 'Approve')
  expectRefused(await acme.live.status(nonce), 404, 'not_found')
  const { body } = await other.live.status(nonce)
  expect(await acme.live.introspect(body.access_token)).toEqual({ active: false })
})

test('a payload is of no use at the bot of another tenant', async () => {
  const other = await fixture.party('Neighbour')
  const ada = fixture.botApi.person({ language_code: 'en' })
  const { nonce, deep_link } = await acme.live.start()
  ada.start(other.bot, new URL(deep_link).searchParams.get('start') ?? '')
  const { buttons } = await ada.waitForMessage(other.bot)
  expect(buttons).toEqual([])
  expect((await acme.live.status(nonce)).body).toEqual({ status: 'pending' })
  await fixture.answer(acme.bot, ada, deep_link, 'Approve')
  expect((await acme.live.status(nonce)).body).toMatchObject({ status: 'completed' })
})

test('a sandbox link does not lead into a sign-in that is live', async () => {
  const { deep_link } = await acme.live.start()
  const payload = new URL(deep_link).searchParams.get('start')
  for (const method of ['GET', 'POST'])
    expect(
      await fixture.app.raw(`/sandbox/passepartout/${payload}`, {
        method,
        ...(method === 'POST' && { body: new URLSearchParams({ choice: 'approve' }) }),
      }),
    ).toMatchObject({ status: 404 })
})

describe('whoever signs in', () => {
  const FIELDS = [
    'id',
    'platform',
    'platform_user_id',
    'username',
    'first_name',
    'last_name',
    'language_code',
    'created_at',
  ]

  test('is shown with these fields and no others, null where nothing is known', async () => {
    const bare = fixture.botApi.person()
    const { user } = await fixture.signIn(acme, bare)
    expect(Object.keys(user)).toEqual(FIELDS)
    expect(user).toMatchObject({
      id: expect.stringMatching(UUID),
      platform: 'telegram',
      platform_user_id: `${bare.id}`,
      username: null,
      first_name: 'Ada',
      last_name: null,
      language_code: null,
    })
    expect(isTime(user.created_at)).toBe(true)
  })

  test('is the same one at each sign-in, and known since the first', async () => {
    await using own = await bootContract()
    const party = await own.party()
    const ada = own.botApi.person({ language_code: 'en' })
    const first = await own.signIn(party, ada)
    own.clock.jump(LIFETIME)
    const second = await own.signIn(party, ada)
    expect(second.user).toEqual(first.user)
    expect(second.token).not.toBe(first.token)
  })

  test('stays who they are when they are called otherwise, and is shown as they are called now', async () => {
    const { id } = fixture.botApi.person()
    const as = (fields: object) =>
      fixture.botApi.person({ id, language_code: 'en', first_name: 'Ada', ...fields })
    const first = await fixture.signIn(acme, as({ username: 'ada', last_name: 'Byron' }))
    const second = await fixture.signIn(acme, as({ first_name: 'Augusta', username: 'countess' }))
    expect(second.user).toEqual({
      ...first.user,
      first_name: 'Augusta',
      username: 'countess',
      last_name: null,
    })
    expect((await acme.live.status(first.nonce)).body.user).toEqual(second.user)
  })

  test('does not become another by taking over a name', async () => {
    const name = { username: 'taken', first_name: 'Ada', language_code: 'en' }
    const one = await fixture.signIn(acme, fixture.botApi.person(name))
    const two = await fixture.signIn(acme, fixture.botApi.person(name))
    expect(two.user.id).not.toBe(one.user.id)
  })

  test('is another one to another tenant', async () => {
    const other = await fixture.party('Second')
    const ada = fixture.botApi.person({ language_code: 'en' })
    const [here, there] = [await fixture.signIn(acme, ada), await fixture.signIn(other, ada)]
    expect(there.user.platform_user_id).toBe(here.user.platform_user_id)
    expect(there.user.id).not.toBe(here.user.id)
    expect((await acme.live.introspect(here.token)).subject).toBe(here.user.id)
    expect((await other.live.introspect(there.token)).subject).toBe(there.user.id)
  })

  test('in the sandbox is another one to another tenant too, and the same one to the same', async () => {
    const other = await fixture.party('Third')
    const [here, again] = [await fixture.signInToSandbox(acme), await fixture.signInToSandbox(acme)]
    const there = await fixture.signInToSandbox(other)
    expect(again.user.id).toBe(here.user.id)
    expect(there.user.id).not.toBe(here.user.id)
  })

  test('is shown as of their last sign-in, and to keys of their own environment alone', async () => {
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { user } = await fixture.signIn(acme, ada)
    const path = USER.replace(':user_id', user.id)
    expect(await acme.live.get(path)).toMatchObject({ status: 200, body: user })
    expectRefused(await acme.test.get(path), 404, 'not_found', 'user not found')
    expectRefused(await acme.test.delete(path), 404, 'not_found', 'user not found')
    expect(await acme.live.get(path)).toMatchObject({ status: 200 })
  })

  test('is gone once deleted, with all tokens, and comes back as another', async () => {
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { user, token, nonce } = await fixture.signIn(acme, ada)
    const path = USER.replace(':user_id', user.id)
    expect(await acme.live.delete(path)).toMatchObject({ status: 204, body: '' })
    expect(await acme.live.introspect(token)).toEqual({ active: false })
    expectRefused(await acme.live.status(nonce), 404, 'nonce_expired')
    for (const method of ['get', 'delete'] as const)
      expectRefused(await acme.live[method](path), 404, 'not_found', 'user not found')
    expect((await fixture.signIn(acme, ada)).user.id).not.toBe(user.id)
  })

  async function moveToNewBot({ id }: Party, firstUpdate?: number) {
    const bot = fixture.botApi.bot()
    if (firstUpdate !== undefined) fixture.botApi.nextUpdateId(bot, firstUpdate)
    const owner = { tenantId: id, environment: 'live' } as const
    await fixture.app.passepartout.bots.set(fixture.actor, owner, { token: bot.token })
    await fixture.botApi.waitForPoller(bot)
    return bot
  }

  test('stays who they are with a new bot', async () => {
    const other = await fixture.party('Moved')
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { user } = await fixture.signIn(other, ada)
    const bot = await moveToNewBot(other, 700_000_000)
    expect((await fixture.signIn({ live: other.live, bot }, ada)).user).toEqual(user)
  })

  test('is heard by a new bot though its updates have the numbers that the old one had', async () => {
    const other = await fixture.party('Moved again')
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { user } = await fixture.signIn(other, ada)
    const bot = await moveToNewBot(other)
    expect((await fixture.signIn({ live: other.live, bot }, ada)).user).toEqual(user)
  })
})

test('ids of people, attempts and bots are known as resources of their tenant alone', async () => {
  const other = await fixture.bareParty('Curious')
  const idOf = (table: string) =>
    (
      fixture.app.db.client
        .query(`select id from passepartout_${table} where tenant_id = ? limit 1`)
        .get(acme.id) as { id: string }
    ).id
  const { resources } = fixture.app.platform
  for (const [kind, table] of [
    ['user', 'people'],
    ['login', 'attempts'],
    ['bot', 'bots'],
  ] as const) {
    expect(resources.belongsTo(acme.id, `passepartout:${kind}`, idOf(table))).toBe(true)
    expect(resources.belongsTo(other.id, `passepartout:${kind}`, idOf(table))).toBe(false)
  }
})

test('a key that is not of the engine cannot tell whether a nonce is one', async () => {
  const { key } = await acme.key('gate', 'live')
  const [known, unknown] = await Promise.all(
    [mine.nonce, 'x'].map((nonce) => fixture.speak(key).get(statusOf(nonce))),
  )
  const said = ({ status, body }: Answer) => ({ status, message: body.error.message })
  expect(said(known as Answer)).toEqual(said(unknown as Answer))
})
