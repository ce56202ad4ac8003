import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ENGINE_SCOPES } from '../../../src/platform/engines.ts'
import type { Answer } from '../../support/app.ts'
import { startTarget, type Target } from '../../support/target.ts'
import { expectDescribed } from '../relay/support.ts'
import {
  ACTOR,
  AUTHORIZE,
  bootGate,
  bootParty,
  type Fixture,
  HOUR,
  IDENTITIES,
  type Json,
  mintToken,
  SESSIONS,
  SETTINGS,
  TOKENS,
  UNKNOWN_ID,
  WEBHOOKS,
} from './fixture.ts'
import { newBrowser } from './sign-in/flows/browser.ts'
import { AUTH, flowsOf, PASSWORD, SELF_SERVICE } from './sign-in/flows/fixture.ts'

const EVALUATION = '/access/v1/evaluation'
const DECISIONS = `${AUTHORIZE}/decisions`

/** In everything that a tenant has, and so in every answer that tells of it. */
const MARK = 'xyzzy'

const QUESTION = { subject: 'svc', action: 'a.read', resource: 'document:1' }
const NEW_PERSON = { schema_id: 'user', traits: { email: 'stray@example.com' } }

/**
 * Every route: what is asked, the scopes of which any will do, and a body that it would take. In
 * the places of a path stand a person, a session, a webhook, a delivery of one and a decision;
 * in those of a body flows, and what belongs to one.
 */
const ROUTES = [
  ['GET', `${AUTH}/login`, ['flows']],
  ['GET', `${AUTH}/registration`, ['flows']],
  ['GET', `${AUTH}/recovery`, ['flows']],
  ['GET', `${AUTH}/verification`, ['flows']],
  ['GET', `${AUTH}/settings`, ['flows']],
  ['POST', `${AUTH}/recovery/submit`, ['flows'], { flow: ':recovery', email: 'a@example.com' }],
  [
    'POST',
    `${AUTH}/verification/submit`,
    ['flows'],
    { flow: ':verification', email: 'b@example.com' },
  ],
  [
    'POST',
    `${AUTH}/settings/submit`,
    ['flows'],
    { flow: ':settings', method: 'profile', traits: { email: `${MARK}@example.com` } },
  ],
  ['POST', `${SESSIONS}/exchange`, ['flows'], { flow: ':registration', code: ':code' }],
  ['POST', IDENTITIES, ['identities:write'], NEW_PERSON],
  ['GET', IDENTITIES, ['identities:read']],
  ['GET', `${IDENTITIES}/:person`, ['identities:read']],
  [
    'PATCH',
    `${IDENTITIES}/:person`,
    ['identities:write'],
    [{ op: 'add', path: '/metadata_public/stray', value: 1 }],
  ],
  ['PATCH', `${IDENTITIES}/:person/state`, ['identities:write'], { state: 'inactive' }],
  ['GET', `${IDENTITIES}/:person/metadata`, ['identities:read']],
  ['PATCH', `${IDENTITIES}/:person/metadata`, ['identities:write'], { stray: 1 }],
  ['GET', `${IDENTITIES}/:person/sessions`, ['identities:read', 'sessions:write']],
  ['DELETE', `${IDENTITIES}/:person/sessions`, ['sessions:write']],
  ['POST', `${IDENTITIES}/:person/resend-verification`, ['identities:write']],
  ['DELETE', `${IDENTITIES}/:person/credentials/totp`, ['identities:write']],
  ['DELETE', `${IDENTITIES}/:person`, ['identities:write']],
  ['DELETE', `${SESSIONS}/:session`, ['sessions:write']],
  ['POST', `${TOKENS}/introspect`, ['tokens:write', 'authorize'], { access_token: ':token' }],
  ['POST', `${TOKENS}/revoke`, ['tokens:write'], { access_token: ':token' }],
  ['POST', AUTHORIZE, ['authorize'], QUESTION],
  ['GET', DECISIONS, ['authorize']],
  ['GET', `${DECISIONS}/:decision`, ['authorize']],
  [
    'POST',
    EVALUATION,
    ['authorize'],
    {
      subject: { type: 'service', id: 'svc' },
      action: { name: 'a.read' },
      resource: { type: 'document', id: '1' },
    },
  ],
  ['GET', `${SETTINGS}/oidc-providers`, ['settings:read']],
  [
    'PUT',
    `${SETTINGS}/oidc-providers`,
    ['settings:write'],
    { providers: [{ provider: 'github', enabled: true }] },
  ],
  ['GET', `${SETTINGS}/security`, ['settings:read']],
  ['PUT', `${SETTINGS}/security`, ['settings:write'], { mfa_enabled: true }],
  ['GET', `${SETTINGS}/return-urls`, ['settings:read']],
  [
    'PUT',
    `${SETTINGS}/return-urls`,
    ['settings:write'],
    { return_urls: ['https://stray.example.com/'] },
  ],
  ['GET', `${SETTINGS}/policies`, ['settings:read']],
  ['PUT', `${SETTINGS}/policies`, ['settings:write'], { policies: '' }],
  ['GET', WEBHOOKS, ['settings:read']],
  ['POST', WEBHOOKS, ['settings:write'], { url: 'http://127.0.0.1:9/stray' }],
  ['PATCH', `${WEBHOOKS}/:webhook`, ['settings:write'], { active: false }],
  ['POST', `${WEBHOOKS}/:webhook/rotate-secret`, ['settings:write'], {}],
  ['POST', `${WEBHOOKS}/:webhook/test`, ['settings:write'], {}],
  ['GET', `${WEBHOOKS}/deliveries`, ['settings:read']],
  ['GET', `${WEBHOOKS}/deliveries/:delivery`, ['settings:read']],
  ['POST', `${WEBHOOKS}/deliveries/:delivery/resend`, ['settings:write']],
  ['DELETE', `${WEBHOOKS}/:webhook`, ['settings:write']],
] as const satisfies readonly (readonly [string, string, readonly string[], unknown?])[]

/** Takes the key in its body. */
const MINT = ['POST', TOKENS, ['tokens:write'], { api_key: ':key', subject: 'svc' }] as const

/** For browsers and for whoever holds a session: without a key. */
const PUBLIC = [
  ['GET', `${SESSIONS}/whoami`],
  ['GET', '/public/gate/providers/:tenant'],
  ['GET', '/public/gate/schemas/user'],
  ['GET', '/public/gate/schemas/operator'],
  ['GET', `${SELF_SERVICE}/:kind`],
  ['POST', `${SELF_SERVICE}/:kind`],
] as const

/** For browsers as well, and for nobody who reads the API document. */
const UNNAMED = [
  ['GET', `${SELF_SERVICE}/methods/oidc/callback/:provider`],
  ['POST', `${SELF_SERVICE}/methods/oidc/callback/:provider`],
  ['OPTIONS', `${SELF_SERVICE}/:kind`],
] as const

type Route = (typeof ROUTES)[number] | typeof MINT

/** What stands in the places of a path. */
type Place = 'person' | 'session' | 'webhook' | 'delivery' | 'decision'
/** What stands in those of a body. */
type Named = 'recovery' | 'verification' | 'settings' | 'registration'
type Ids = Record<Place | Named, string>
const PLACE = /:(person|session|webhook|delivery|decision)/
const NAMED = /":(recovery|verification|settings|registration)"/g

const nameOf = ([method, path]: readonly [string, string, ...unknown[]]) => `${method} ${path}`
/** Whether it is about one thing that is named by its id. */
const isById = ([, path, , body]: Route): boolean =>
  PLACE.test(path) || (JSON.stringify(body) ?? '').match(NAMED) !== null
const BY_ID = ROUTES.filter(isById)
/** What shows something without making it. */
const READS = ROUTES.filter(([method, path]) => method === 'GET' && !path.startsWith(AUTH))
const WITH_BODY = [...ROUTES, MINT].filter(([method]) => /^P/.test(method))

/** The contract: people and sessions of others are told apart from those that there are not. */
const isToldApart = ([, path]: Route) => /:(person|session)/.test(path)

/** Forms of flows have a name for each refusal. */
const isForm = (path: string) => /\/(recovery|verification|settings)\/submit$/.test(path)

const isCoded = (path: string) => /^(\/v1\/gate\/(tokens|authorize)|\/access\/v1)(\/|$)/.test(path)

/** One fixture for all: what is refused leaves it as it was. */
let fixture: Fixture
let target: Target
let document: Json
let mine: Ids
let token: string
let secrets: Secrets
let before: string
beforeAll(async () => {
  fixture = await bootGate()
  target = startTarget()
  document = await documentOf(fixture)
  const filled = await fill(fixture, target)
  mine = filled.ids
  secrets = filled.secrets
  token = (await mintToken(fixture.app, fixture.key, { subject: MARK })).access_token
  before = await everythingOf(fixture)
  target.requests.splice(0)
})
afterAll(async () => {
  await target.stop()
  await fixture.app.stop()
})

/** Objects that may hold anything say so in the one way that the check of answers knows. */
async function documentOf({ app }: Pick<Fixture, 'app'>): Promise<Json> {
  const text = JSON.stringify((await app.raw('/openapi.json')).body)
  return JSON.parse(text, (_, value) =>
    value?.additionalProperties === true
      ? { ...value, patternProperties: { '^(.*)$': {} } }
      : value,
  )
}

/** What somebody holds who may use a flow: a session, and a code for one. */
interface Secrets {
  sessionToken: string
  code: string
}

/** One of everything that can be named by id. */
async function fill(fixture: Fixture, { url }: Target): Promise<{ ids: Ids; secrets: Secrets }> {
  const { app, api, ...gate } = fixture
  const { registration, code } = await signedUp(fixture)
  const { id: webhook } = await gate.createWebhook(`${url}/${MARK}`)
  const person = await gate.createIdentity({
    traits: { email: `${MARK}@example.com`, custom_data: { [MARK]: MARK } },
    metadata_public: { [MARK]: MARK },
  })
  const { session, token: sessionToken } = await gate.openSession(person, { userAgent: MARK })
  const { start } = flowsOf(app, { tenantId: fixture.acme.id, ...fixture })
  const headers = { 'x-session-token': sessionToken }
  const question = { ...QUESTION, subject: MARK, context: { [MARK]: MARK } }
  const { decision_id: decision } = (await api.post(AUTHORIZE, question)).body
  await api.put(`${SETTINGS}/return-urls`, { return_urls: [`https://${MARK}.example.com/`] })
  await api.put(`${SETTINGS}/policies`, { policies: `// ${MARK}` })
  await app.clock.settled()
  const { data } = (await api.get(`${WEBHOOKS}/deliveries`)).body
  const ids = {
    person: person.id,
    session: session.id,
    webhook,
    delivery: data[0].id,
    decision,
    registration,
    recovery: (await start('recovery')).id,
    verification: (await start('verification')).id,
    settings: (await start('settings', headers)).id,
  }
  return { ids, secrets: { sessionToken, code } }
}

/** Somebody has signed up on our page, and is back at the app. */
async function signedUp({ app, acme, key, api }: Fixture) {
  const { start } = flowsOf(app, { tenantId: acme.id, key, api })
  const flow = await start('registration', { 'x-return-to': `https://${MARK}.example.com/` })
  const browser = newBrowser(app)
  const typed = { 'traits.email': `${MARK}.${MARK}@example.com`, password: PASSWORD }
  const page = await browser.visit(flow.hosted_url)
  const { location } = await browser.press(page, ['method', 'password'], typed)
  return { registration: flow.id, code: new URL(location).searchParams.get('code') ?? '' }
}

/** All that the API shows of a tenant. */
async function everythingOf({ api }: Pick<Fixture, 'api'>): Promise<string> {
  const shown: Json[] = []
  for (const [, path] of READS)
    if (!PLACE.test(path) || path.includes(':person'))
      shown.push([path, (await api.get(pathOf(path, mine))).body])
  return JSON.stringify(shown)
}

async function expectUntouched() {
  expect(await everythingOf(fixture)).toBe(before)
  expect(target.requests).toEqual([])
}

const pathOf = (path: string, ids: Ids) =>
  path
    .replace(PLACE, (_, place: Place) => ids[place])
    .replace(':tenant', UNKNOWN_ID)
    .replace(':kind', 'login')
    .replace(':provider', 'github')

/** Where is asked, unless it is the one fixture for all. */
interface Scene {
  fixture: Fixture
  ids: Ids
  token: string
  secrets: Secrets
}

interface Sent {
  at?: Scene
  ids?: Ids
  body?: string
  type?: string
}

/** Asks with a key where the route takes it; the answer has to be as the API document says. */
async function ask(route: Route, key: string | undefined, sent: Sent = {}): Promise<Answer> {
  const [method, path, , json] = route
  const inBody = route === MINT
  const { at = { fixture, ids: mine, token, secrets }, ids = at.ids } = sent
  const { type = 'application/json' } = sent
  const body = sent.body ?? (json && spelled(json, key, { ...at, ids }))
  const answer = await at.fixture.app.raw(pathOf(path, ids), {
    method,
    headers: {
      ...(key !== undefined && !inBody && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': type }),
      ...(path.startsWith(`${AUTH}/settings`) && { 'x-session-token': at.secrets.sessionToken }),
    },
    ...(body !== undefined && method !== 'GET' && { body }),
  })
  expectDescribed(document, method.toLowerCase(), path.replace(PLACE, 'x'), answer)
  return answer
}

/** Without a key there is no member for one either. */
const spelled = (json: unknown, key: string | undefined, { ids, token, secrets }: Scene) =>
  JSON.stringify(json)
    .replace('":key"', JSON.stringify(key) ?? 'null')
    .replace('":token"', JSON.stringify(token))
    .replace('":code"', JSON.stringify(secrets.code))
    .replace(NAMED, (_, name: Named) => JSON.stringify(ids[name]))

const CODES: Record<number, string> = {
  400: 'invalid_payload',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
}

/** A refusal in the shape of its route, with nothing besides and nothing of what is there. */
function expectRefused(name: string, path: string, answer: Answer, status: number, words: string) {
  const { body, headers } = answer
  for (const told of [MARK, fixture.acme.id]) expect(JSON.stringify(body), name).not.toContain(told)
  const message = expect.stringContaining(words)
  const code = CODES[status]
  const error = isCoded(path) ? { code, message, request_id: headers.get('x-request-id') } : message
  const refusal = isForm(path) && status === 404 ? { error, id: 'flow_not_found' } : { error }
  expect({ name, status: answer.status, body }).toEqual({ name, status, body: refusal })
  expect(headers.get('content-type')).toStartWith('application/json')
  expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
}

const refused = async (route: Route, asked: Promise<Answer>, status: number, words: string) =>
  expectRefused(nameOf(route), route[1], await asked, status, words)

async function expectAllRefused(key: string | undefined, status: 401 | 403, words: string) {
  for (const route of ROUTES) await refused(route, ask(route, key), status, words)
  if (key !== undefined) await refused(MINT, ask(MINT, key), status, words)
  await expectUntouched()
}

/** Without the names of places, and with a place for what may be one of a few words. */
const spelledAlike = (name: string) => name.replaceAll(/:\w+|(?<=credentials\/)totp/g, ':x')

test('the tables have every route that there is', () => {
  const served = fixture.app.app.routes
    .filter(({ path }) => /^\/(v1\/gate|access|public\/gate|auth)(\/|$)/.test(path))
    .map(({ method, path }) => spelledAlike(`${method} ${path}`))
  const listed = [...ROUTES, MINT, ...PUBLIC, ...UNNAMED].map((route) =>
    spelledAlike(nameOf(route)),
  )

  expect(listed.toSorted()).toEqual(served.toSorted())
})

test('the API document says which of them take a key in the header', () => {
  const operation = ([method, path]: readonly [string, string, ...unknown[]]) => {
    const parts = spelledAlike(path)
      .split('/')
      .map((part) => (part === ':x' ? '{' : part))
    const [route] = Object.keys(document.paths).filter((known) => {
      const wanted = known.split('/').map((part) => (part.startsWith('{') ? '{' : part))
      return `${wanted}` === `${parts}` && document.paths[known][method.toLowerCase()]
    })
    return document.paths[route as string][method.toLowerCase()]
  }
  for (const route of ROUTES)
    expect(operation(route).security, nameOf(route)).toEqual([{ apiKey: [] }])
  for (const route of [MINT, ...PUBLIC])
    expect(operation(route).security, nameOf(route)).toBeUndefined()
})

describe('every route answers 401', () => {
  test('without a key', () => expectAllRefused(undefined, 401, 'missing API key'))

  test.each(['garbage', 'svc_gate_live_sk_', 'svc_gate_live_sk_short', '"; drop table api_keys'])(
    'to %j',
    (key) => expectAllRefused(key, 401, 'invalid or revoked API key'),
  )

  test.each(['', 'Bearer', 'Bearer ', 'garbage', 'Basic dXNlcjpwYXNz'])(
    'to a header that is %j',
    async (authorization) => {
      for (const route of ROUTES) {
        const [method, path] = route
        const answer = await fixture.app.raw(pathOf(path, mine), {
          method,
          headers: { authorization },
        })
        expectRefused(nameOf(route), path, answer, 401, 'API key')
      }
      await expectUntouched()
    },
  )

  test('to a key that is mistyped, of the other environment, cut, or an access token', async () => {
    const { key } = fixture
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
    for (const wrong of [mistyped, key.replace('_live_', '_test_'), key.slice(0, -1), token])
      await expectAllRefused(wrong, 401, 'invalid or revoked API key')
  })

  test('to a good key of another installation', async () => {
    await using elsewhere = await bootGate()
    await expectAllRefused(elsewhere.key, 401, 'invalid or revoked API key')
  })

  test('to a revoked key', async () => {
    const { id, key } = await fixture.acme.key('gate', 'live')
    expect(await ask(ROUTES[1], key)).toMatchObject({ status: 200 })
    await fixture.app.platform.keys.revoke(ACTOR, id)
    await expectAllRefused(key, 401, 'invalid or revoked API key')
  })

  test('to a rotated key once its grace has passed', async () => {
    await using own = await bootGate()
    const { id, key } = await own.acme.key('gate', 'live')
    await own.app.platform.keys.rotate(ACTOR, id, HOUR)
    const api = own.app.client(key)
    own.clock.jump(HOUR - 1)
    expect(await api.get(IDENTITIES)).toMatchObject({ status: 200 })
    own.clock.jump(1)
    expect(await api.get(IDENTITIES)).toMatchObject({ status: 401 })
  })
})

describe('every route answers 403', () => {
  test.each(['clockwork', 'relay', 'passepartout'] as const)('to a key of %s', async (engine) => {
    const { key } = await fixture.acme.key(engine)
    await expectAllRefused(key, 403, `this is a ${engine} key; the route needs a gate key`)
  })

  test('to a key of gate without any of its scopes', async () => {
    const { key } = await fixture.acme.key('gate', 'live', ['reports:read'])
    for (const route of [...ROUTES, MINT])
      await refused(route, ask(route, key), 403, `the key lacks the scope ${route[2].join(' or ')}`)
    await expectUntouched()
  })

  test.each([...ENGINE_SCOPES.gate])(
    'to a key with %s alone, but where that suffices',
    async (scope) => {
      const nowhere = Object.fromEntries(
        Object.keys(mine).map((place) => [place, UNKNOWN_ID]),
      ) as Ids
      const { key } = await fixture.acme.key('gate', 'live', [scope])
      for (const route of [...ROUTES, MINT]) {
        if ((route[2] as readonly string[]).includes(scope)) {
          await expectAdmitted(route, key, nowhere)
        } else {
          const words = `the key lacks the scope ${route[2].join(' or ')}`
          await refused(route, ask(route, key, { ids: nowhere }), 403, words)
        }
      }
      await expectUntouched()
    },
  )
})

/** The key is good enough: without one the answer would have been another. */
async function expectAdmitted(route: Route, key: string, nowhere: Ids) {
  const [method] = route
  if (isById(route)) await refused(route, ask(route, key, { ids: nowhere }), 404, ' not found')
  else if (method === 'GET' || route === MINT)
    expect(await ask(route, key), nameOf(route)).toMatchObject({ status: 200 })
  else await refused(route, ask(route, key, { body: '{' }), 400, 'body: must be JSON')
}

describe('who calls comes before what is sent', () => {
  test.each([
    ['malformed', '{', 'application/json'],
    ['of another type', 'a=b', 'text/plain'],
    ['too large', 'x'.repeat(2_000_000), 'application/json'],
    ['of wrong fields', '{"schema_id":5}', 'application/json'],
  ])('401 and 403 come before a body that is %s', async (_, body, type) => {
    const weak = (await fixture.acme.key('gate', 'live', ['reports:read'])).key
    const foreign = (await fixture.acme.key('relay')).key
    for (const route of WITH_BODY) {
      if (route === MINT) continue
      await refused(route, ask(route, undefined, { body, type }), 401, 'missing API key')
      await refused(route, ask(route, foreign, { body, type }), 403, 'this is a relay key')
      await refused(route, ask(route, weak, { body, type }), 403, 'the key lacks the scope')
    }
    await expectUntouched()
  })

  test('and before a query that is wrong', async () => {
    const { key } = await fixture.acme.key('gate', 'live', ['reports:read'])
    for (const path of [IDENTITIES, DECISIONS, `${WEBHOOKS}/deliveries`, `${AUTH}/login`]) {
      const wrong = `${path}?limit=0&cursor=x&state=x&status=x&aal=x`
      expect(await fixture.app.raw(wrong)).toMatchObject({ status: 401 })
      expect(await fixture.app.client(key).get(wrong)).toMatchObject({ status: 403 })
    }
  })
})

describe('what is of another tenant', () => {
  test('answers 403 where it is a person or a session, else 404, and tells nothing', async () => {
    const other = await bootParty(fixture.app)
    const { key: sandbox } = await other.newKey('gate', 'test')
    for (const key of [other.key, sandbox])
      for (const route of BY_ID)
        if (isToldApart(route))
          await refused(route, ask(route, key), 403, 'belongs to another tenant')
        else await refused(route, ask(route, key), 404, ' not found')
    await expectUntouched()
  })

  test('does so whatever the body would do with it', async () => {
    const other = await bootParty(fixture.app)
    const person = `${IDENTITIES}/${mine.person}`
    for (const [path, body] of [
      [person, []],
      [person, [{ op: 'test', path: '/traits/email', value: `${MARK}@example.com` }]],
      [person, [{ op: 'test', path: '/traits/email', value: 'no' }]],
      [person, [{ op: 'nonsense' }]],
      [`${person}/state`, { state: 'active' }],
      [`${person}/metadata`, {}],
    ] as [string, Json][])
      expectRefused(path, path, await other.api.patch(path, body), 403, 'another tenant')
    await expectUntouched()
  })

  test('is in no list', async () => {
    const other = await bootParty(fixture.app)
    for (const [, path] of READS)
      if (!PLACE.test(path)) {
        const { status, body } = await other.api.get(path)
        expect(status).toBe(200)
        expect(JSON.stringify(body), path).not.toContain(MARK)
      }
    for (const [path, query] of [
      [IDENTITIES, `email=${MARK}@example.com`],
      [IDENTITIES, `search=${MARK}`],
      [IDENTITIES, 'state=active'],
      [DECISIONS, `subject=${MARK}`],
      [`${WEBHOOKS}/deliveries`, `endpoint_id=${mine.webhook}`],
    ])
      expect((await other.api.get(`${path}?${query}`)).body.data, query).toEqual([])
  })

  test('has cursors that lead nobody else anywhere', async () => {
    await using own = await bootGate()
    const other = await bootParty(own.app)
    await using receiver = startTarget()
    await own.createWebhook(receiver.url)
    for (let n = 0; n < 3; n++) {
      await own.createIdentity()
      await own.api.post(AUTHORIZE, QUESTION)
    }
    for (const path of [
      `${IDENTITIES}?`,
      `${IDENTITIES}?search=person&`,
      `${DECISIONS}?`,
      `${WEBHOOKS}/deliveries?`,
    ]) {
      const { next_cursor: cursor } = (await own.api.get(`${path}limit=1`)).body
      expect(cursor, path).toBeString()
      expect(await other.api.get(`${path}cursor=${cursor}`), path).toMatchObject({ status: 400 })
      expect(await own.api.get(`${path}cursor=${cursor}`), path).toMatchObject({ status: 200 })
    }
  })

  test('may have the address that one’s own has', async () => {
    const other = await bootParty(fixture.app)
    const email = `${MARK}@example.com`
    const person = await other.createIdentity({ traits: { email } })
    expect(person.traits).toMatchObject({ email, tenant_id: other.id })
    await expectUntouched()
  })
})

describe('what is nobody’s answers 404', () => {
  test.each([
    ['an id that nobody was given', UNKNOWN_ID],
    ['a word', 'nothing'],
    ['NUL', '%00'],
    ['a broken escape', '%zz'],
    ['half a letter', '%c3'],
    ['SQL', "'%20or%201=1--"],
    ['a way up', '..%2F..%2Fidentities'],
    ['a long text', 'x'.repeat(5000)],
    ['a wildcard', '*'],
    ['a name of JavaScript', '__proto__'],
  ])('%s', async (_, id) => {
    const ids = Object.fromEntries(Object.keys(mine).map((place) => [place, id])) as Ids
    for (const route of BY_ID)
      await refused(route, ask(route, fixture.key, { ids }), 404, ' not found')
    await expectUntouched()
  })

  test('an id in capitals, or with something before or behind it', async () => {
    for (const change of [
      (id: string) => id.toUpperCase(),
      (id: string) => `${id}%20`,
      (id: string) => `%20${id}`,
      (id: string) => `${id}%00`,
      (id: string) => id.slice(0, -1),
    ]) {
      const ids = Object.fromEntries(
        Object.entries(mine).map(([place, id]) => [place, change(id)]),
      ) as Ids
      for (const route of BY_ID)
        await refused(route, ask(route, fixture.key, { ids }), 404, ' not found')
    }
    await expectUntouched()
  })

  test('the id of one thing where that of another goes', async () => {
    const { person, session, webhook, delivery, decision } = mine
    const { recovery, verification, settings } = mine
    const ids = {
      person: session,
      session: person,
      webhook: delivery,
      delivery: decision,
      decision: webhook,
      recovery: verification,
      verification: settings,
      settings: recovery,
      registration: session,
    }
    for (const route of BY_ID)
      await refused(route, ask(route, fixture.key, { ids }), 404, ' not found')
    await expectUntouched()
  })
})

test('a test key sees the same people, settings and webhooks', async () => {
  const { key } = await fixture.acme.key('gate', 'test')
  expect(await everythingOf({ api: fixture.app.client(key) })).toBe(before)
})

test('every route answers its owner as the API document says', async () => {
  await using own = await bootGate()
  await using receiver = startTarget()
  const { ids, secrets } = await fill(own, receiver)
  const { access_token: token } = await mintToken(own.app, own.key)
  const at = { fixture: own, ids, token, secrets }
  const answers: Record<string, number> = {}
  const isLast = ([method]: Route) => method === 'DELETE'
  for (const route of [...ROUTES, MINT].toSorted((a, b) => +isLast(a) - +isLast(b))) {
    if (/resend-verification|webhook.test|resend$/.test(route[1])) await revive(own, ids)
    const session = isLast(route) ? await newSession(own) : ids.session
    answers[nameOf(route)] = (await ask(route, own.key, { at, ids: { ...ids, session } })).status
  }

  const others = Object.fromEntries(Object.entries(answers).filter(([, status]) => status !== 200))
  expect(others).toEqual({
    [`POST ${IDENTITIES}`]: 201,
    [`POST ${IDENTITIES}/:person/resend-verification`]: 202,
    [`POST ${WEBHOOKS}`]: 201,
    [`POST ${WEBHOOKS}/deliveries/:delivery/resend`]: 202,
    [`POST ${TOKENS}/revoke`]: 204,
    [`DELETE ${IDENTITIES}/:person`]: 204,
    [`DELETE ${IDENTITIES}/:person/sessions`]: 204,
    [`DELETE ${IDENTITIES}/:person/credentials/totp`]: 204,
    [`DELETE ${SESSIONS}/:session`]: 204,
    [`DELETE ${WEBHOOKS}/:webhook`]: 204,
  })
})

/** What another route of the table has ended is there once more. */
async function revive(own: Fixture, { person, webhook }: Ids) {
  await own.setState({ id: person }, 'active')
  await own.api.patch(`${WEBHOOKS}/${webhook}`, { active: true })
}

const newSession = async (own: Fixture) =>
  (await own.openSession(await own.createIdentity())).session.id as string

describe('a body that cannot be read', () => {
  /** With a good key, wherever that goes. */
  const submit = (route: Route, body: string, type = 'application/json') =>
    ask(route, fixture.key, { body, type })

  test('answers 400 when it is malformed, in the shape of its route', async () => {
    for (const body of ['{', '{"a":}', '{"a":1}{', "{'a':1}", 'a=b', '\u0000'])
      for (const route of WITH_BODY)
        await refused(route, submit(route, body), 400, 'body: must be JSON')
    await expectUntouched()
  })

  test('answers 400 when it is no text, or nested too deeply', async () => {
    const deep = `${'['.repeat(65)}${']'.repeat(65)}`
    for (const route of WITH_BODY) {
      await refused(
        route,
        submit(route, '{"a":"\\ud800"}'),
        400,
        'body: must not contain half a surrogate pair',
      )
      await refused(
        route,
        submit(route, deep),
        400,
        'body: must not be nested deeper than 64 levels',
      )
    }
    await expectUntouched()
  })

  test('answers 400 when it is JSON, but nothing that the route takes', async () => {
    for (const route of WITH_BODY) {
      if (route[3] === undefined) continue
      for (const body of ['5', '"text"', 'true', Array.isArray(route[3]) ? '{}' : '[]'])
        await refused(route, submit(route, body), 400, 'body: must be ')
    }
    await expectUntouched()
  })

  test('answers 415 when it is not declared as plain JSON', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])
      for (const route of WITH_BODY)
        await refused(route, submit(route, '{}', type), 415, 'application/json')
    for (const route of WITH_BODY) {
      const [method, path] = route
      const answer = await fixture.app.raw(pathOf(path, mine), {
        method,
        headers: {
          authorization: `Bearer ${fixture.key}`,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body: '{}',
      })
      expectRefused(nameOf(route), path, answer, 415, 'Content-Encoding: must not be set')
    }
    await expectUntouched()
  })

  test('answers 413 when it is too large, whatever else is wrong with it', async () => {
    for (const type of ['application/json', 'text/plain'])
      for (const route of WITH_BODY)
        await refused(
          route,
          submit(route, `{${' '.repeat(1 << 20)}`, type),
          413,
          'body: must be at most 1048576 bytes',
        )
    await expectUntouched()
  })
})

describe('a route that there is not', () => {
  test.each([
    '/v1/gate',
    '/v1/gate/',
    '/v1/gate/nothing',
    '/v1/gate/tokensx',
    '/v1/gate/authorized',
    '/v1/gate/sessions',
    '/v1/gate/settings',
    '/v1/gate/settings/nothing',
    `${IDENTITIES}/x/nothing`,
    `${WEBHOOKS}/x/y/z`,
    `${TOKENS}/nothing`,
    `${DECISIONS}/x/y`,
    '/access/v1',
    '/access/v1/evaluations',
    '/access/v2/evaluation',
    '/public/gate',
    '/public/gate/nothing',
    '/public/gate/schemas/robot',
    AUTH,
    `${AUTH}/nothing`,
    `${AUTH}/nothing/submit`,
    `${AUTH}/recovery/submit/x`,
    '/auth',
    SELF_SERVICE,
    `${SELF_SERVICE}/methods/oidc/callback`,
  ])('answers 404 in the shape of its place: %s', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await fixture.app.raw(path, { method })
      expectRefused(`${method} ${path}`, path, answer, 404, `no such route: ${method} ${path}`)
    }
  })

  test('answers 405 where the path has others, and names them', async () => {
    const methods = new Map<string, string[]>()
    for (const [method, path] of [...ROUTES, MINT, ...PUBLIC, ...UNNAMED]) {
      if (method === 'OPTIONS') continue
      const where = pathOf(path, mine)
      methods.set(where, [...(methods.get(where) ?? []), method])
    }
    // The names of these could be ids as well.
    methods.get(`${WEBHOOKS}/deliveries`)?.push('PATCH', 'DELETE')
    for (const name of ['whoami', 'exchange']) methods.get(`${SESSIONS}/${name}`)?.push('DELETE')
    for (const [path, has] of methods)
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (has.includes(method)) continue
        const answer = await fixture.app.raw(path, { method })
        const allow = answer.headers.get('allow') ?? ''
        expect(allow.split(', ').toSorted(), `${method} ${path}`).toEqual(has.toSorted())
        expectRefused(`${method} ${path}`, path, answer, 405, `use ${allow}`)
      }
  })
})

describe('a public route', () => {
  const described = async (path: string, template: string, init: RequestInit = {}) => {
    const answer = await fixture.app.raw(path, init)
    expectDescribed(document, 'get', template, answer)
    return answer
  }

  test.each([
    ['no key', {}],
    ['a key that is garbage', { headers: { authorization: 'Bearer garbage' } }],
  ])('asks for none and looks at none: %s', async (_, init) => {
    const providers = `/public/gate/providers/${fixture.acme.id}`
    expect(await described(providers, '/public/gate/providers/x', init)).toMatchObject({
      status: 200,
      body: { providers: [] },
    })
    expect(
      await described('/public/gate/schemas/user', '/public/gate/schemas/user', init),
    ).toMatchObject({ status: 200, body: { title: 'user' } })
  })

  test('tells which providers a tenant offers, and nothing else of it', async () => {
    await using own = await bootGate()
    await own.api.put(`${SETTINGS}/oidc-providers`, {
      providers: [{ provider: 'github', enabled: true }],
    })
    const { body } = await own.app.raw(`/public/gate/providers/${own.acme.id}`)
    expect(Object.keys(body)).toEqual(['providers'])
  })

  test.each([UNKNOWN_ID, 'x', '%00', '%zz', "'--"])(
    'answers 404 for the tenant %s, in a sentence',
    async (id) => {
      const path = `/public/gate/providers/${id}`
      const answer = await described(path, '/public/gate/providers/x')
      expectRefused(path, path, answer, 404, 'not found')
    },
  )
})

describe('whoami', () => {
  const path = `${SESSIONS}/whoami`
  const whoami = async (headers: Record<string, string>) => {
    const answer = await fixture.app.raw(path, { headers })
    expectDescribed(document, 'get', path, answer)
    return answer
  }

  test('needs a session and no key', async () => {
    const { token: session } = await fixture.openSession({ id: mine.person })
    const { key: sandbox } = await fixture.acme.key('gate', 'test')
    for (const headers of [
      {},
      { authorization: `Bearer ${fixture.key}` },
      { authorization: `Bearer ${sandbox}` },
    ] as Record<string, string>[])
      expect(await whoami({ 'x-session-token': session, ...headers })).toMatchObject({
        status: 200,
        body: { identity: { id: mine.person } },
      })
    expectRefused(path, path, await whoami({}), 401, 'missing session token')
    expectRefused(path, path, await whoami({ 'x-session-token': 'x' }), 401, 'token is invalid')
  })

  test('with a key is of the tenant of that key alone', async () => {
    const { token: session } = await fixture.openSession({ id: mine.person })
    const other = await bootParty(fixture.app)
    const relay = await fixture.acme.key('relay')
    const ask = (key: string) =>
      whoami({ 'x-session-token': session, authorization: `Bearer ${key}` })

    expectRefused(path, path, await ask(other.key), 401, 'token is invalid')
    expectRefused(path, path, await ask('garbage'), 401, 'invalid or revoked API key')
    expectRefused(path, path, await ask(relay.key), 403, 'this is a relay key')
  })
})

describe('a session token and a key', () => {
  const settings = (key: string, token: string) =>
    fixture.app.raw(`${AUTH}/settings`, {
      headers: { authorization: `Bearer ${key}`, 'x-session-token': token },
    })

  test('of two tenants begin no settings', async () => {
    const other = await bootParty(fixture.app)
    const { token: theirs } = await other.openSession(await other.createIdentity())
    for (const [key, session] of [
      [other.key, secrets.sessionToken],
      [fixture.key, theirs],
    ] as const)
      expectRefused('settings', AUTH, await settings(key, session), 401, 'session token')
    expect(await settings(other.key, theirs)).toMatchObject({ status: 200 })
    expect(await settings(fixture.key, secrets.sessionToken)).toMatchObject({ status: 200 })
  })

  test('are asked for both, the key first', async () => {
    const headers = { 'x-session-token': secrets.sessionToken }
    const answer = await fixture.app.raw(`${AUTH}/settings`, { headers })
    expectRefused('settings', AUTH, answer, 401, 'missing API key')
    expectRefused(
      'settings',
      AUTH,
      await fixture.app.client(fixture.key).get(`${AUTH}/settings`),
      401,
      'missing session token',
    )
  })
})

describe('the action of a flow', () => {
  const action = (id: string) => `${SELF_SERVICE}/recovery?flow=${id}`
  const post = async (id: string, headers: Record<string, string>) => {
    const { body } = await fixture.app.raw(action(id))
    const csrf_token = body.ui.nodes[0].attributes.value
    const answer = await fixture.app.raw(action(id), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ csrf_token, method: 'code', email: 'nobody' }),
    })
    expectDescribed(document, 'post', `${SELF_SERVICE}/recovery`, answer)
    return answer
  }

  test('is read by whoever knows it, with a key or without', async () => {
    const other = await bootParty(fixture.app)
    for (const headers of [
      {},
      { authorization: 'garbage' },
      { authorization: `Bearer ${other.key}` },
    ]) {
      const answer = await fixture.app.raw(action(mine.recovery), { headers: headers as never })
      expectDescribed(document, 'get', `${SELF_SERVICE}/recovery`, answer)
      expect(answer).toMatchObject({ status: 200, body: { id: mine.recovery } })
    }
  })

  test('takes forms without a key, and with one of its tenant', async () => {
    for (const headers of [{}, { authorization: `Bearer ${fixture.key}` }])
      expect((await post(mine.recovery, headers as Record<string, string>)).status).toBe(422)
  })

  test('takes none with a key that is no good for it', async () => {
    const other = await bootParty(fixture.app)
    const { key: relay } = await fixture.acme.key('relay')
    const { id, key: revoked } = await fixture.acme.key('gate', 'live')
    await fixture.app.platform.keys.revoke(ACTOR, id)
    const ask = (key: string) => post(mine.recovery, { authorization: `Bearer ${key}` })
    expect(await ask(other.key)).toMatchObject({ status: 404, body: { id: 'flow_not_found' } })
    for (const key of ['garbage', revoked]) expect(await ask(key)).toMatchObject({ status: 401 })
    expect(await ask(relay)).toMatchObject({ status: 403 })
  })

  test('is asked about by pages elsewhere, before they send a form', async () => {
    const { status, headers } = await fixture.app.raw(action(mine.recovery), { method: 'OPTIONS' })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })
})

test('the way back from a provider leads nowhere for whoever was not sent there', async () => {
  for (const provider of ['github', 'apple'])
    for (const query of ['', '?state=x&code=y', '?error=access_denied']) {
      const path = `${SELF_SERVICE}/methods/oidc/callback/${provider}${query}`
      const answer = await fixture.app.raw(path)
      expect(answer.status).toBe(403)
      expect(answer.headers.get('content-type')).toStartWith('text/html')
      expect(answer.body).not.toContain(MARK)
    }
  const unknown = await fixture.app.raw(`${SELF_SERVICE}/methods/oidc/callback/nothing`)
  expect(unknown).toMatchObject({ status: 404 })
})
