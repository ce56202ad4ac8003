import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { STARTER_SET } from '../../../src/engines/gate/authorization/policy/starter.ts'
import { createHashing } from '../../../src/engines/gate/credentials/passwords/index.ts'
import { EVENT_TYPES } from '../../../src/engines/gate/webhooks/events.ts'
import { ENGINE_SCOPES } from '../../../src/platform/engines.ts'
import {
  AUTHORIZE,
  bootGate,
  bootParty,
  IDENTITIES,
  type Json,
  mintToken,
  SETTINGS,
  TOKENS,
  WEBHOOKS,
} from '../../engines/gate/fixture.ts'
import { until } from '../../support/binary.ts'
import { testConfig } from '../../support/config.ts'
import { createNames, readConsole } from '../../support/console.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage, plain } from '../../support/page.ts'
import { freePort } from '../../support/port.ts'
import { openShell } from '../../support/shell.ts'
import { canRun, startShown } from '../../support/shown.ts'
import { startTarget } from '../../support/target.ts'

/** What docs/gate.md shows is run as it stands there. */

const page = await openPage('gate.md')

const PASSWORD = 'correct horse battery staple'
const HAS_SHELL = Bun.which('bash') !== null && Bun.which('curl') !== null

test.skipIf(!HAS_SHELL)(
  'the commands print what the page says',
  async () => {
    await using fixture = await bootGate({ start: new Date().toISOString() })
    const { app, acme, key, api, openSession } = fixture
    await using target = startTarget()
    using folder = temporaryFolder()
    app.app.listen({ port: 0, hostname: '127.0.0.1' })
    const here = (text: string) => text.replaceAll('127.0.0.1:9000', new URL(target.url).host)
    const names = createNames()
    names.learn('01a1fffe-17ea-7520-b6fa-355043013089', acme.id)
    const [{ id: keyId }] = app.platform.keys
      .list(acme.id)
      .filter(({ engine }) => engine === 'gate') as Json
    names.learn('01a1fffe-18d3-718d-abf8-17e5e463d837', keyId)
    await using shell = openShell({
      cwd: folder.path,
      env: {
        API: `http://127.0.0.1:${app.app.server?.port}/v1/gate`,
        KEY: key,
        AUTH: `Authorization: Bearer ${key}`,
        JSON: 'Content-Type: application/json',
      },
    })

    let count = 0
    for (const { command, output } of page.blocks('console').flatMap(readConsole)) {
      if (command.includes('$SESSION')) {
        const [ada] = (await api.get(`${IDENTITIES}?email=ada@example.com`)).body.data
        await shell.run(`SESSION=${(await openSession(ada)).token}`)
      }
      const printed = await shell.run(here(names.translate(command)))
      await app.delivery.idle()
      if (!names.matches({ command, output: here(output) }, printed))
        expect([command, printed]).toEqual([command, output])
      count++
    }
    expect(count).toBeGreaterThan(15)
    expect(target.requests.map(({ path }) => path)).toContain('/hook')
  },
  60_000,
)

test('the request of the quick start has the signatures of its secret and body', () => {
  const received = page.block('', 'x-service-signature')
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(received)?.[1] as string
  const body = received.trimEnd().split('\n').at(-1) as string
  const secret = /"secret":"(whsec_[^"…]+)"/.exec(page.text)?.[1] as string
  const time = header('webhook-timestamp')
  const service = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  const standard = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${header('webhook-id')}.${time}.${body}`)
    .digest('base64')

  expect(header('x-service-signature')).toBe(`t=${time},v1=${service}`)
  expect(header('webhook-signature')).toBe(`v1,${standard}`)
  expect(Number(header('content-length'))).toBe(Buffer.byteLength(body))
  const check = page.block('sh', 'openssl')
  expect(check).toContain(`"${time}.$BODY"`)
  expect(check).toContain(`'${secret}'`)
  expect(JSON.parse(page.block('json', 'event_id'))).toEqual(JSON.parse(body))
})

test('the identity has the shape of a created one', async () => {
  await using fixture = await bootGate()
  const created = await fixture.createIdentity({
    traits: { email: 'ada@example.com', custom_data: { plan: 'free' } },
    credentials: { password: { config: { password: PASSWORD } } },
  })
  const shapeOf = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shapeOf)
    if (typeof value !== 'object' || value === null) return typeof value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
  }
  expect(shapeOf(JSON.parse(page.block('json', 'schema_url')))).toEqual(shapeOf(created))
})

test('the password hashes are accepted, and are of the password that the page names', async () => {
  await using fixture = await bootGate()
  const { memoryBytes, iterations, queue } = testConfig().gate.password
  const hashing = createHashing({ memoryBytes, iterations, queue })
  for (const [format, , example] of page.table('Format', 'Written by')) {
    const hash = plain(example)
    await fixture.createIdentity({
      credentials: { password: { config: { hashed_password: hash } } },
    })
    const verify = (password: string) => hashing.verify({ tenantId: 'acme' }, password, hash)
    expect([format, await verify(PASSWORD), await verify(`${PASSWORD}.`)]).toEqual([
      format,
      true,
      false,
    ])
  }
})

test('the table of introspection says what is answered', async () => {
  await using fixture = await bootGate()
  await using elsewhere = await bootGate()
  const { app, acme, api, key, createIdentity, setState } = fixture
  const mint = async (fields: Json = {}, by = key): Promise<string> =>
    (await mintToken(app, by, fields)).access_token
  const tokens: Record<string, () => Promise<string>> = {
    valid: () => mint(),
    async expired() {
      const token = await mint({ ttl_seconds: 1 })
      await app.clock.advance(1000)
      return token
    },
    'malformed or mistyped': async () => `${(await mint()).slice(0, -1)}-`,
    unknown: async () => (await mintToken(elsewhere.app, elsewhere.key)).access_token,
    async revoked() {
      const token = await mint()
      await api.post(`${TOKENS}/revoke`, { access_token: token })
      return token
    },
    async 'its key was revoked or has expired'() {
      const other = await acme.key('gate', 'live')
      const token = await mint({}, other.key)
      await app.platform.keys.revoke({ kind: 'cli', source: 'test' }, other.id)
      return token
    },
    async 'its user was deactivated, even if active again'() {
      const person = await createIdentity()
      const token = await mint({ subject: person.id })
      for (const state of ['inactive', 'active'] as const) await setState(person, state)
      return token
    },
    async 'its user was deleted'() {
      const person = await createIdentity()
      const token = await mint({ subject: person.id })
      await api.delete(`${IDENTITIES}/${person.id}`)
      return token
    },
    'of the other environment': async () => mint({}, (await acme.key('gate', 'test')).key),
    'of another tenant': async () => mint({}, (await bootParty(app)).key),
  }

  const rows = page.table('Token', 'Response')
  expect(rows.map(([token]) => token)).toEqual(Object.keys(tokens))
  for (const [kind = '', said] of rows) {
    const access_token = await tokens[kind]?.()
    const { status, body } = await api.post(`${TOKENS}/introspect`, { access_token })
    const found = `${status} ${body.error?.code ?? JSON.stringify(body)}`
    const start = plain(said).replace(/;.*/, '').replace(',…}', ',')
    expect([kind, found]).toEqual([kind, expect.stringContaining(start)])
  }
})

describe('the policies', () => {
  test('of a new tenant are the starter set', () => {
    expect(page.block('cedar', 'The starter set.')).toBe(STARTER_SET)
  })

  test('decide as the table beside them says', async () => {
    await using fixture = await bootGate()
    const { api, createIdentity } = fixture
    const email = 'grace@example.com'
    const ada = await createIdentity({ metadata_public: { roles: ['editor'] } })
    const grace = await createIdentity({
      traits: { email },
      metadata_public: { roles: ['admin'] },
      verifiable_addresses: [{ value: email, verified: true }],
    })
    const policies = page.block('cedar', 'delete-from-the-office')
    const saved = await api.put(`${SETTINGS}/policies`, { policies })
    expect(saved).toMatchObject({ status: 200, body: { is_starter_set: false } })

    const idOf: Record<string, string> = { ada: ada.id, grace: grace.id }
    const rows = page.table('Subject', 'Action', 'Resource', 'Context')
    expect(rows.length).toBeGreaterThan(10)
    for (const [subject, action, resource, context, said = ''] of rows) {
      const { body } = await api.post(AUTHORIZE, {
        subject: idOf[plain(subject)] ?? plain(subject),
        action: plain(action),
        resource: plain(resource),
        context: JSON.parse(plain(context).replace('"grace"', `"${grace.id}"`) || '{}'),
      })
      const [, head = '', dots = '', tail = ''] =
        /^(?:yes|no): `([^…`]*)(…?)([^`]*)`$/.exec(said) ?? []
      const answer = [body.allowed, body.reason.startsWith(head), body.reason.endsWith(tail)]
      expect([subject, action, context, ...answer]).toEqual([
        ...[subject, action, context, said.startsWith('yes')],
        ...[true, true],
      ])
      if (dots === '') expect(body.reason).toBe(head)
    }
  })

  test('see what the table of entities says', async () => {
    await using fixture = await bootGate()
    const { api, createIdentity } = fixture
    const email = 'ada@example.com'
    const metadata_public = { roles: ['editor'], plan: 'gold' }
    const ada = await createIdentity({ traits: { email }, metadata_public })
    const other = await createIdentity()
    const expectAllowed = async (policies: string, subject: string, resource: string) => {
      await api.put(`${SETTINGS}/policies`, { policies })
      const asked = { subject, action: 'a.b.c', resource }
      expect((await api.post(AUTHORIZE, asked)).body).toMatchObject({ allowed: true })
    }

    const rows = page.table('Entity', 'Represents', 'In', 'Attributes')
    let resources = 0
    for (const [entity, represents = ''] of rows) {
      const resource = /`([a-z-]+(?::[a-z-]+)*:\w+)`/.exec(represents)?.[1]
      if (resource === undefined) continue
      const uid = plain(entity).replace('<id>', ada.id).replace('<name>', 'editor')
      await expectAllowed(
        `@id("it") permit (principal, action in Action::"a.b.*", resource == ${uid})
          when { resource in resource.tenant && resource.id == "${uid.split('"')[1]}" };`,
        ...(['anybody', resource] as const),
      )
      resources++
    }
    expect(resources).toBe(3)
    await expectAllowed(
      `@id("it") permit (principal == Identity::"${ada.id}", action, resource) when {
        principal in Role::"editor" && principal in principal.tenant &&
        principal.email == "${email}" && principal.email_verified == false &&
        principal.roles.contains("editor") && principal.metadata.plan == "gold" &&
        resource has id && resource has tenant && !(resource has email) && !(resource has metadata)
      };`,
      ...([ada.id, `identity:${other.id}`] as const),
    )
  })
})

/** Delivers two events to a receiver, the second after a new secret, and then forgeries of the first. */
async function deliverTo(language: string, words: string) {
  await using fixture = await bootGate({ start: new Date().toISOString() })
  const { api, createIdentity } = fixture
  const port = freePort()
  const url = `http://127.0.0.1:${port}/hook`
  const webhook = await fixture.createWebhook(url)
  const env = { ...(process.env as Record<string, string>), WEBHOOK_SECRET: webhook.secret }
  await using receiver = await startShown(page, { language, words, env, port })

  const { id } = await createIdentity()
  // Receivers with the old secret still accept what is signed with both.
  expect((await api.post(`${WEBHOOKS}/${webhook.id}/rotate-secret`)).status).toBe(200)
  await createIdentity()
  const log = async () => (await api.get(`${WEBHOOKS}/deliveries`)).body.data
  await until(async () => (await log()).every(({ attempts }: Json) => attempts === 1))
  const deliveries = await log()
  const first = (await api.get(`${WEBHOOKS}/deliveries/${deliveries[1].id}`)).body
  const { request_body: body, attempt_log } = first
  const [{ request }] = attempt_log

  const send = async (body: string, signature = request.headers['X-Service-Signature']) => {
    const headers = { ...request.headers, 'X-Service-Signature': signature }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  const signedAt = (time: number | string, secret = webhook.secret) =>
    `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
  const at = Math.floor(Date.now() / 1000)
  const again = [await send(body), await send(body, signedAt(at - 200))]
  const forged = [await send(body.replace('created', 'deleted'))]
  for (const signature of [
    ...[at - 400, at + 400, 'later'].map((time) => signedAt(time)),
    signedAt(at, `${webhook.secret}x`),
    signedAt(at).replace('v1=', 'v0='),
    ...['nonsense', ''],
  ])
    forged.push(await send(body, signature))
  await until(() => receiver.printed().includes(id), receiver.printed)
  return {
    statuses: deliveries.map(({ status }: Json) => status),
    again,
    forged,
    events: receiver.printed().match(/identity\.\w+/g),
  }
}

describe('the receivers accept each event once and refuse forgeries', () => {
  for (const [language, words] of [
    ['js', 'createServer'],
    ['python', 'HTTPServer'],
    ['go', 'package main'],
  ] as const)
    test.skipIf(!canRun(language))(
      `in ${language}`,
      async () =>
        expect(await deliverTo(language, words)).toEqual({
          statuses: ['succeeded', 'succeeded'],
          again: [204, 204],
          forged: Array(8).fill(400),
          events: ['identity.created', 'identity.created'],
        }),
      300_000,
    )
})

describe('the tables', () => {
  test('have the scope of each route, every scope, every event, and the retry schedule', async () => {
    await using fixture = await bootGate()
    const { app, acme } = fixture
    const { key } = await acme.key('gate', 'live', ['none'])
    for (const [route, scope] of page.table('Route', 'Scope')) {
      const [method = '', path = ''] = plain(route).replaceAll('{id}', 'x').split(' ')
      const isPublic = path.startsWith('/access') || path.startsWith('/public')
      const { body } = await app.raw(`${isPublic ? '' : '/v1/gate'}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify({ api_key: key, subject: 'x' }) }),
      })
      const message = body.error?.message ?? body.error
      const asked = /^the key lacks the scope (.*)$/.exec(message)?.[1] ?? 'none'
      expect([route, asked]).toEqual([route, plain(scope)])
    }
    const scopes = page.table('Scope', 'Allows').map(([scope]) => plain(scope))
    expect(scopes.toSorted()).toEqual([...ENGINE_SCOPES.gate].toSorted())
    const events = page.table('Event', 'When').map(([event]) => plain(event))
    expect(events).toEqual([...EVENT_TYPES])
    const waits = page.table('Attempt', 'Delay after the previous failure')
    const delays = waits.map(([, wait = '']) => 1000 * (Number.parseInt(wait, 10) || 0))
    expect(delays).toEqual([...testConfig().gate.webhookDelaysMs])
  })

  test('have every setting of a tenant, with a body that is accepted', async () => {
    await using fixture = await bootGate()
    const { paths } = (await fixture.app.raw('/openapi.json')).body
    const settings = Object.entries<object>(paths)
      .filter(([path, methods]) => path.startsWith('/v1/gate/settings/') && 'put' in methods)
      .map(([path]) => path.replace('/v1/gate', ''))
    const rows = page.table('Route', 'Body')
    expect(rows.map(([route]) => plain(route))).toEqual(settings)
    for (const [route, body] of rows) {
      const sent = JSON.parse(plain(body).replace('(…)', '(principal, action, resource)'))
      expect(await fixture.api.put(`/v1/gate${plain(route)}`, sent)).toMatchObject({ status: 200 })
    }
  })
})
