import { afterAll, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
import { createLog } from '../../../src/platform/log.ts'
import { type Json, MINUTE } from '../../engines/gate/fixture.ts'
import { bootFlows, csrfOf, pathOf } from '../../engines/gate/sign-in/flows/fixture.ts'
import { newOperator } from '../../support/operator.ts'

/**
 * Every route of the application, asked without a key and without a session. What anybody may do
 * without end must write nothing.
 */
const LIMIT = 2
const AFTER = 2
const HOUR = 60 * MINUTE
const KINDS = ['login', 'registration', 'recovery', 'verification', 'settings']
/** Of the test bot. */
const PEOPLE = ['ada', 'grace', 'konrad']
const ACTOR = { kind: 'cli', source: 'test' } as const

const fixture = await bootFlows({
  flags: { 'limits-sign-ins-per-minute': `${LIMIT}`, 'console-signup': 'open' },
})
await fixture.security({ passwordless_enabled: true })
const known = await prepared()
const log = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })
const listener = serve(fixture.app.app, { host: '127.0.0.1', port: 0 }, log)
afterAll(async () => {
  await listener.stop()
  await fixture.app.stop()
})

/** What strangers may have come by: flows, expired ones too, and links. */
async function prepared() {
  const { app, acme } = fixture
  const operator = await newOperator(app, { isAdmin: true, roles: { [acme.id]: 'owner' } })
  const signInLink = await app.operators.links.issueSignIn(ACTOR, operator.id)
  const { session_token } = await fixture.register('known@example.com')
  const expired: Json[] = []
  for (let n = 0; n <= LIMIT + AFTER; n++) expired.push(await fixture.start('login'))
  const settings: Json[] = []
  for (let n = 0; n <= LIMIT + AFTER; n++) settings.push(await fixture.settings(session_token))
  fixture.clock.jump(HOUR)
  const flows: Record<string, Json> = { settings: await fixture.settings(session_token) }
  for (const kind of KINDS.slice(0, 4)) flows[kind] = await fixture.start(kind)
  await app.passepartout.bots.enable(ACTOR, { tenantId: acme.id, environment: 'test' })
  const { key } = await acme.key('passepartout', 'test')
  const started = await app.client(key).post('/v1/passepartout/login/start', {})
  const payload = new URL(started.body.deep_link).pathname.split('/').at(-1) ?? ''
  return { expired, settings, flows, payload, signInLink }
}

const routes = (await fixture.app.app.routes())
  .filter(({ method }) => method !== 'WS' && method !== 'OPTIONS')
  .map(({ method, path }) => `${method} ${path}`)

/** The path with something in the place of each parameter. */
const filled = (path: string): string =>
  path
    .replace(':provider', 'github')
    .replace(':tenant_id', fixture.tenantId)
    .replace(':payload', known.payload)
    .replace('link/:token', `link/${known.signInLink}`)
    .replaceAll(/:\w+/g, 'unknown')
    .replace('*', 'unknown')

interface Call {
  name: string
  path: (n: number) => string
  method: string
  body?: ((n: number) => Json) | undefined
}

/** How a route is asked: with nothing that it knows, and with all that a stranger may know. */
function callsOf(route: string): Call[] {
  const [method = '', path = ''] = route.split(' ')
  const body =
    method === 'GET'
      ? undefined
      : (n: number) => ({ choice: n % 2 ? 'approve' : 'start', person: PEOPLE[n % PEOPLE.length] })
  if (path !== '/auth/self-service/:kind')
    return [{ name: route, path: () => filled(path), method, body }]
  return KINDS.flatMap((kind) => flowCalls(method, kind))
}

function flowCalls(method: string, kind: string): Call[] {
  const at = (query: string) => `/auth/self-service/${kind}?${query}`
  const { flows, expired, settings } = known
  const flow = flows[kind] as Json
  const call = (what: string, path: (n: number) => string, body?: Call['body']): Call => ({
    name: `${method} ${kind}: ${what}`,
    method,
    path,
    body,
  })
  if (method === 'GET')
    return [
      call('a flow', () => at(`flow=${flow.id}`)),
      call('another one', () => at(`from=${flows.login?.id}`)),
      call('an expired one', (n) =>
        at(`flow=${(kind === 'settings' ? settings : expired)[n]?.id}`),
      ),
      call('the link of a mail', () => at(`flow=${flow.id}&code=123456`)),
    ]
  const address = (n: number) => `${kind}-${n}@example.com`
  const forms: ((n: number) => Json)[] = [
    () => ({}),
    () => ({ method: 'password', identifier: 'known@example.com', password: 'not the one' }),
    () => ({ method: 'code', code: '123456' }),
    () => ({ method: 'oidc', provider: 'github' }),
    (n) => ({ method: 'code', email: address(n), identifier: address(n) }),
    (n) => ({ method: 'password', traits: { email: address(n) }, password: 'correct horse 7' }),
    (n) => ({ method: 'code', traits: { email: address(n) } }),
  ]
  const action = pathOf(flow.ui.action)
  return forms.map((fields) =>
    call(
      Object.keys(fields(0)).join(),
      () => action,
      (n) => ({ csrf_token: csrfOf(flow), ...fields(n) }),
    ),
  )
}

/** Rows written, changed and deleted since the database was opened. */
const writes = (): number =>
  fixture.app.db.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n as number

const ask = ({ method, path, body }: Call, n: number, accept: string) =>
  fixture.app.raw(path(n), {
    method,
    headers: { accept, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body(n)) }),
  })

test.each(['text/html', 'application/json'])(
  'A stranger who wants %s writes nothing more, on any route, once the share of a minute is used up',
  async (accept) => {
    expect(routes.length).toBeGreaterThan(150)
    for (const one of ['GET /console/login', 'GET /auth/self-service/:kind', 'GET /healthz'])
      expect(routes).toContain(one)
    const unlimited: string[] = []
    for (const call of routes.flatMap(callsOf)) {
      // Long enough for the limit of a minute, and not for anything to happen by itself.
      fixture.clock.spend(MINUTE)
      for (let n = 0; n <= LIMIT; n++) await ask(call, n, accept)
      const before = writes()
      for (let n = LIMIT + 1; n <= LIMIT + AFTER; n++) await ask(call, n, accept)
      if (writes() !== before) unlimited.push(call.name)
    }
    expect(unlimited).toEqual([])
  },
)

test('Asking for the head alone writes nothing at all, on any route', async () => {
  const writing: string[] = []
  const reads = routes.flatMap(callsOf)
  for (const call of reads.filter(({ method }) => method === 'GET')) {
    const before = writes()
    for (const accept of ['text/html', 'application/json']) {
      const url = `${listener.url}${call.path(0)}`
      await fetch(url, { method: 'HEAD', headers: { accept }, redirect: 'manual' })
    }
    if (writes() !== before) writing.push(call.name)
  }
  expect(writing).toEqual([])
})
