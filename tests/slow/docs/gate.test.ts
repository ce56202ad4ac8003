import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { STARTER_SET } from '../../../src/engines/gate/authorization/policy/starter.ts'
import { createHashing } from '../../../src/engines/gate/credentials/passwords/index.ts'
import { EVENT_TYPES } from '../../../src/engines/gate/webhooks/events.ts'
import { serve } from '../../../src/http/serve.ts'
import { ENGINE_SCOPES } from '../../../src/platform/engines.ts'
import {
  AUTHORIZE,
  IDENTITIES,
  type Json,
  SETTINGS,
  useGate,
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
const gate = await useGate({ start: new Date().toISOString() })
const { app } = gate

const PASSWORD = 'correct horse battery staple'
const HAS_SHELL = Bun.which('bash') !== null && Bun.which('curl') !== null

test.skipIf(!HAS_SHELL)(
  'The commands print what the page says',
  async () => {
    const { id, keyId, key, api, openSession } = await gate.newTenant()
    await using target = startTarget()
    using folder = temporaryFolder()
    const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
    const here = (text: string) => text.replaceAll('127.0.0.1:9000', new URL(target.url).host)
    const names = createNames()
    names.learn('01a1fffe-17ea-7520-b6fa-355043013089', id)
    names.learn('01a1fffe-18d3-718d-abf8-17e5e463d837', keyId)
    await using shell = openShell({
      cwd: folder.path,
      env: {
        API: `${listener.url}/v1/gate`,
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

test('The request of the quick start has the signatures of its secret and body', () => {
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

test('The identity has the shape of a created one, and the password hashes are of the password that the page names', async () => {
  const { createIdentity } = await gate.newTenant()
  const created = await createIdentity({
    traits: { email: 'ada@example.com', custom_data: { plan: 'free' } },
    credentials: { password: { config: { password: PASSWORD } } },
  })
  const shapeOf = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shapeOf)
    if (typeof value !== 'object' || value === null) return typeof value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
  }
  expect(shapeOf(JSON.parse(page.block('json', 'schema_url')))).toEqual(shapeOf(created))

  const { memoryBytes, iterations, queue } = testConfig().gate.password
  const hashing = createHashing({ memoryBytes, iterations, queue })
  for (const [format, , example] of page.table('Format', 'Written by')) {
    const hashed_password = plain(example)
    await createIdentity({ credentials: { password: { config: { hashed_password } } } })
    const verify = (password: string) =>
      hashing.verify({ tenantId: 'acme' }, password, hashed_password)
    const found = [await verify(PASSWORD), await verify(`${PASSWORD}.`)]
    expect([format, ...found]).toEqual([format, true, false])
  }
})

test('The policies of a new tenant are the starter set, and others decide as the table beside them says', async () => {
  expect(page.block('cedar', 'The starter set.')).toBe(STARTER_SET)
  const { api, createIdentity } = await gate.newTenant()
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
    const isSaid = body.reason.startsWith(head) && body.reason.endsWith(tail)
    const row = [subject, action, context]
    expect([...row, body.allowed, isSaid]).toEqual([...row, said.startsWith('yes'), true])
    if (dots === '') expect(body.reason).toBe(head)
  }
})

/** Delivers two events to a receiver, the second after a new secret, and then forgeries of the first. */
async function deliverTo(language: string, words: string) {
  const { api, createIdentity, createWebhook } = await gate.newTenant()
  const port = freePort()
  const url = `http://127.0.0.1:${port}/hook`
  const webhook = await createWebhook(url)
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

for (const [language, words] of [
  ['js', 'createServer'],
  ['python', 'HTTPServer'],
  ['go', 'package main'],
] as const)
  test.skipIf(!canRun(language))(
    `The receiver in ${language} accepts each event once and refuses forgeries`,
    async () =>
      expect(await deliverTo(language, words)).toEqual({
        statuses: ['succeeded', 'succeeded'],
        again: [204, 204],
        forged: Array(8).fill(400),
        events: ['identity.created', 'identity.created'],
      }),
    300_000,
  )

test('The tables have every scope, event and setting, and the retry schedule', async () => {
  const { api } = await gate.newTenant()
  const scopes = page.table('Scope', 'Allows').map(([scope]) => plain(scope))
  expect(scopes.toSorted()).toEqual([...ENGINE_SCOPES.gate].toSorted())
  const events = page.table('Event', 'When').map(([event]) => plain(event))
  expect(events).toEqual([...EVENT_TYPES])
  const waits = page.table('Attempt', 'Delay after the previous failure')
  const delays = waits.map(([, wait = '']) => 1000 * (Number.parseInt(wait, 10) || 0))
  expect(delays).toEqual([...testConfig().gate.webhookDelaysMs])

  const { paths } = (await app.raw('/openapi.json')).body
  const settings = Object.entries<object>(paths)
    .filter(([path, methods]) => path.startsWith('/v1/gate/settings/') && 'put' in methods)
    .map(([path]) => path.replace('/v1/gate', ''))
  const rows = page.table('Route', 'Body')
  expect(rows.map(([route]) => plain(route))).toEqual(settings)
  for (const [route, body] of rows) {
    const sent = JSON.parse(plain(body).replace('(…)', '(principal, action, resource)'))
    expect(await api.put(`/v1/gate${plain(route)}`, sent)).toMatchObject({ status: 200 })
  }
})
