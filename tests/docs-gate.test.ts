import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { STARTER_SET } from '../src/engines/gate/authorization/policy/starter.ts'
import { createHashing } from '../src/engines/gate/credentials/passwords/index.ts'
import { EVENT_TYPES } from '../src/engines/gate/webhooks/events.ts'
import { ENGINE_SCOPES } from '../src/platform/engines.ts'
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
} from './engines/gate/fixture.ts'
import { until } from './support/binary.ts'
import { testConfig } from './support/config.ts'
import { createNames, readConsole } from './support/console.ts'
import { temporaryFolder } from './support/folder.ts'
import { openPage, plain } from './support/page.ts'
import { freePort } from './support/port.ts'
import { startTarget } from './support/target.ts'

/** What docs/gate.md shows is run as it stands there. */

const page = await openPage('gate.md')
/** Of the same engine. */
const signInPage = await openPage('sign-in.md')

const PASSWORD = 'correct horse battery staple'
const PYTHON = Bun.which('python3')
const JAVASCRIPT = Bun.which('node') ?? process.execPath
/** Only when asked for, with `TEST_GO=1`: a first build takes long. */
const GO = process.env.TEST_GO === '1' ? Bun.which('go') : null
const HAS_SHELL = Bun.which('bash') !== null && Bun.which('curl') !== null

const now = () => new Date().toISOString()

test.skipIf(!HAS_SHELL)(
  'the commands of docs/gate.md print what it says',
  async () => {
    await using fixture = await bootGate({ start: now() })
    const { app, acme, key, api, openSession } = fixture
    await using target = startTarget()
    using folder = temporaryFolder()
    app.app.listen({ port: 0, hostname: '127.0.0.1' })
    const receiver = new URL(target.url).host
    const names = createNames()
    names.learn('01a1fffe-17ea-7520-b6fa-355043013089', acme.id)
    const [{ id: keyId }] = app.platform.keys
      .list(acme.id)
      .filter(({ engine }) => engine === 'gate') as Json
    names.learn('01a1fffe-18d3-718d-abf8-17e5e463d837', keyId)

    const variables = {
      API: `http://127.0.0.1:${app.app.server?.port}/v1/gate`,
      KEY: key,
      AUTH: `Authorization: Bearer ${key}`,
      JSON: 'Content-Type: application/json',
    }
    const kept = join(folder.path, 'variables')
    await Bun.write(kept, '')

    /** In a shell that knows what earlier commands have set. */
    async function run(command: string): Promise<string> {
      const script = `set -a; . ${kept}; curl() { command curl -sS "$@"; }\n${command}\n`
      const child = Bun.spawn(['bash', '-c', script], {
        env: { PATH: process.env.PATH, ...variables },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      expect([command, err]).toEqual([command, ''])
      if (/^[A-Z]+=/.test(command))
        await Bun.write(kept, `${await Bun.file(kept).text()}${command}\n`)
      return out
    }

    let count = 0
    for (const shown of page.blocks('console').flatMap(readConsole)) {
      if (shown.command.includes('$SESSION')) {
        const [ada] = (await api.get(`${IDENTITIES}?email=ada@example.com`)).body.data
        await Bun.write(
          kept,
          `${await Bun.file(kept).text()}SESSION=${(await openSession(ada)).token}\n`,
        )
      }
      const here = (text: string) => names.translate(text).replaceAll('127.0.0.1:9000', receiver)
      const printed = await run(here(shown.command))
      await app.delivery.idle()
      const output = shown.output.replaceAll('127.0.0.1:9000', receiver)
      if (!names.matches({ ...shown, output }, printed))
        expect([shown.command, printed]).toEqual([shown.command, shown.output])
      count++
    }
    expect(count).toBeGreaterThan(15)
    expect(target.requests.map(({ path }) => path)).toContain('/hook')
  },
  60_000,
)

describe('the quick start of docs/gate.md', () => {
  const received = page.block('', 'x-service-signature')
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(received)?.[1] as string
  const body = received.trimEnd().split('\n').at(-1) as string
  const secret = /"secret":"(whsec_[^"…]+)"/.exec(page.text)?.[1] as string

  test('shows a request whose signatures are those of its secret and body', () => {
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
  })

  test('shows the envelope that the section on webhooks describes', () => {
    expect(JSON.parse(page.block('json', 'event_id'))).toEqual(JSON.parse(body))
  })
})

test('the object of docs/gate.md is what a creation answers', async () => {
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

describe('the hashes of docs/gate.md', () => {
  const { memoryBytes, iterations, queue } = testConfig().gate.password
  const hashing = createHashing({ memoryBytes, iterations, queue })

  for (const [format, by, example] of page.table('Format', 'Written by')) {
    test(`of ${format} by ${by} are taken, and are of the password it names`, async () => {
      await using fixture = await bootGate()
      const hash = plain(example)
      await fixture.createIdentity({
        credentials: { password: { config: { hashed_password: hash } } },
      })

      expect(await hashing.verify({ tenantId: 'acme' }, PASSWORD, hash)).toBe(true)
      expect(await hashing.verify({ tenantId: 'acme' }, `${PASSWORD}.`, hash)).toBe(false)
    })
  }
})

test('the table of docs/gate.md says what introspection answers', async () => {
  await using fixture = await bootGate()
  const { app, acme, api, key, createIdentity, setState } = fixture
  const mint = async (fields: Json = {}, by = key) =>
    (await mintToken(app, by, fields)).access_token
  const answers = new Map<string, () => Promise<string>>([
    ['valid', () => mint()],
    [
      'expired',
      async () => {
        const token = await mint({ ttl_seconds: 1 })
        await app.clock.advance(1000)
        return token
      },
    ],
    ['malformed or mistyped', async () => `${(await mint()).slice(0, -1)}-`],
    // One of another installation: well-formed, and never seen here.
    [
      'unknown',
      async () => {
        await using elsewhere = await bootGate()
        return (await mintToken(elsewhere.app, elsewhere.key)).access_token
      },
    ],
    [
      'revoked',
      async () => {
        const token = await mint()
        expect((await api.post(`${TOKENS}/revoke`, { access_token: token })).status).toBe(204)
        return token
      },
    ],
    [
      'its key was revoked or has expired',
      async () => {
        const other = await acme.key('gate', 'live')
        const token = await mint({}, other.key)
        await app.platform.keys.revoke({ kind: 'cli', source: 'test' }, other.id)
        return token
      },
    ],
    [
      'its user was deactivated, even if active again',
      async () => {
        const person = await createIdentity()
        const token = await mint({ subject: person.id })
        await setState(person, 'inactive')
        await setState(person, 'active')
        return token
      },
    ],
    [
      'its user was deleted',
      async () => {
        const person = await createIdentity()
        const token = await mint({ subject: person.id })
        expect((await api.delete(`${IDENTITIES}/${person.id}`)).status).toBe(204)
        return token
      },
    ],
    ['of the other environment', async () => mint({}, (await acme.key('gate', 'test')).key)],
    ['of another tenant', async () => mint({}, (await bootParty(app)).key)],
  ])

  const rows = page.table('Token', 'Response')
  expect(rows.map(([token]) => token)).toEqual([...answers.keys()])
  for (const [kind, said] of rows) {
    const token = await answers.get(kind as string)?.()
    const { status, body } = await api.post(`${TOKENS}/introspect`, { access_token: token })
    const found = `${status} ${body.error?.code ?? JSON.stringify(body)}`
    const pattern = plain(said).replace(/;.*/, '').replace(',…}', ',')
    expect([kind, found.startsWith(pattern)]).toEqual([kind, true])
  }
})

describe('the policies of docs/gate.md', () => {
  const own = page.block('cedar', 'delete-from-the-office')

  test('that a tenant begins with are the starter set', () => {
    expect(page.block('cedar', 'The starter set.')).toBe(STARTER_SET)
  })

  test('answer as the table beside them says', async () => {
    await using fixture = await bootGate()
    const { api, createIdentity } = fixture
    const ada = await createIdentity({ metadata_public: { roles: ['editor'] } })
    const email = 'grace@example.com'
    const grace = await createIdentity({
      traits: { email },
      metadata_public: { roles: ['admin'] },
      verifiable_addresses: [{ value: email, verified: true }],
    })
    const saved = await api.put(`${SETTINGS}/policies`, { policies: own })
    expect(saved).toMatchObject({ status: 200, body: { is_starter_set: false } })

    const idOf: Record<string, string> = { ada: ada.id, grace: grace.id }
    const rows = page.table('Subject', 'Action', 'Resource', 'Context')
    expect(rows.length).toBeGreaterThan(10)
    for (const [subject = '', action, resource, context = '', said = ''] of rows) {
      const { body } = await api.post(AUTHORIZE, {
        subject: idOf[plain(subject)] ?? plain(subject),
        action: plain(action),
        resource: plain(resource),
        context: JSON.parse(plain(context).replace('"grace"', `"${grace.id}"`) || '{}'),
      })
      const [, head = '', tail = ''] = /^(?:yes|no): `([^…`]*)…?([^`]*)`$/.exec(said) ?? []
      const isAsSaid =
        body.allowed === said.startsWith('yes') &&
        body.reason.startsWith(head) &&
        body.reason.endsWith(tail) &&
        (said.includes('…') || body.reason === head)
      expect([subject, action, context, isAsSaid || body.reason]).toEqual([
        subject,
        action,
        context,
        true,
      ])
    }
  })

  test('see what the table of entities says', async () => {
    await using fixture = await bootGate()
    const { api, createIdentity } = fixture
    const email = 'ada@example.com'
    const metadata = { roles: ['editor'], plan: 'gold' }
    const ada = await createIdentity({ traits: { email }, metadata_public: metadata })
    const other = await createIdentity()
    const uidOf = (cell = '') => plain(cell).replace('<id>', ada.id).replace('<name>', 'editor')
    const rows = page.table('Entity', 'Represents', 'In', 'Attributes')
    const resources = rows.flatMap(([entity, represents = '']) => {
      const resource = /`([a-z-]+(?::[a-z-]+)*:\w+)`/.exec(represents)?.[1]
      return resource === undefined ? [] : [{ uid: uidOf(entity), resource }]
    })

    expect(resources).toHaveLength(3)
    for (const { uid, resource } of resources) {
      const policies = `@id("it") permit (principal, action in Action::"a.b.*", resource == ${uid})
        when { resource in resource.tenant && resource.id == "${uid.split('"')[1]}" };`
      await api.put(`${SETTINGS}/policies`, { policies })
      const asked = { subject: 'anybody', action: 'a.b.c', resource }
      expect((await api.post(AUTHORIZE, asked)).body).toMatchObject({ allowed: true })
    }

    const policies = `@id("it") permit (principal == Identity::"${ada.id}", action, resource)
      when {
        principal in Role::"editor" && principal in principal.tenant &&
        principal.email == "${email}" && principal.email_verified == false &&
        principal.roles.contains("editor") && principal.metadata.plan == "gold" &&
        resource has id && resource has tenant && !(resource has email) && !(resource has metadata)
      };`
    await api.put(`${SETTINGS}/policies`, { policies })
    const asked = { subject: ada.id, action: 'x', resource: `identity:${other.id}` }
    expect((await api.post(AUTHORIZE, asked)).body).toMatchObject({ allowed: true })
  })
})

/**
 * Starts a receiver, has it told of two people, the second after its secret was replaced, and sends
 * it the first event again and forgeries of it. Answers the statuses, and the events it printed.
 */
async function deliverTo(command: string[], cwd: string) {
  await using fixture = await bootGate({ start: now() })
  const { api, createIdentity } = fixture
  const port = freePort()
  const url = `http://127.0.0.1:${port}/hook`
  const webhook = await fixture.createWebhook(url)
  await using receiver = Bun.spawn(command, {
    cwd,
    env: { ...process.env, WEBHOOK_SECRET: webhook.secret, PORT: `${port}` },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const printed = collect(receiver.stdout)
  const isUp = () =>
    fetch(url, { method: 'POST', body: '{}' }).then(
      ({ status }) => status === 400,
      () => receiver.exitCode !== null,
    )
  await until(isUp)
  if (receiver.exitCode !== null) throw new Error(await new Response(receiver.stderr).text())

  const { id } = await createIdentity()
  // Whoever holds the secret of before still takes what is signed with both.
  expect((await api.post(`${WEBHOOKS}/${webhook.id}/rotate-secret`)).status).toBe(200)
  await createIdentity()
  const log = async () => (await api.get(`${WEBHOOKS}/deliveries`)).body.data
  await until(async () => (await log()).every(({ attempts }: Json) => attempts === 1))
  const deliveries = await log()
  const first = (await api.get(`${WEBHOOKS}/deliveries/${deliveries[1].id}`)).body
  const { request_body: body, attempt_log } = first
  const [{ request }] = attempt_log

  const send = async (body: string, signature?: string) =>
    (
      await fetch(url, {
        method: 'POST',
        headers: {
          ...request.headers,
          ...(signature !== undefined && { 'X-Service-Signature': signature }),
        },
        body,
      })
    ).status
  const signedAt = (time: number | string, secret = webhook.secret) =>
    `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
  const at = Math.floor(Date.now() / 1000)
  const again = [await send(body), await send(body, signedAt(at - 200))]
  const forged = [
    await send(body.replace('created', 'deleted')),
    await send(body, signedAt(at - 400)),
    await send(body, signedAt(at + 400)),
    await send(body, signedAt('later')),
    await send(body, signedAt(at, `${webhook.secret}x`)),
    await send(body, signedAt(at).replace('v1=', 'v0=')),
    await send(body, 'nonsense'),
    await send(body, ''),
  ]
  await until(
    () => printed.text.includes(id),
    () => printed.text,
  )
  receiver.kill()
  await receiver.exited
  await printed.ended
  return {
    statuses: deliveries.map(({ status }: Json) => status),
    again,
    forged,
    events: [...printed.text.matchAll(/identity\.\w+/g)].map(([event]) => event),
  }
}

const VERIFIES = {
  statuses: ['succeeded', 'succeeded'],
  again: [204, 204],
  forged: Array(8).fill(400),
  // Each of two events once, however often the first came.
  events: ['identity.created', 'identity.created'],
}

function collect(stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  const collected = { text: '', ended: Promise.resolve() }
  collected.ended = (async () => {
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true })
  })()
  return collected
}

describe('the receivers of docs/gate.md take a real event once and refuse what is not', () => {
  test('in Node', async () => {
    using folder = temporaryFolder()
    await Bun.write(join(folder.path, 'receiver.mjs'), page.block('js', 'createServer'))
    expect(await deliverTo([JAVASCRIPT, 'receiver.mjs'], folder.path)).toEqual(VERIFIES)
  }, 30_000)

  test.skipIf(PYTHON === null)(
    'in Python',
    async () => {
      using folder = temporaryFolder()
      await Bun.write(join(folder.path, 'receiver.py'), page.block('python', 'HTTPServer'))
      expect(await deliverTo([PYTHON as string, 'receiver.py'], folder.path)).toEqual(VERIFIES)
    },
    30_000,
  )

  test.skipIf(GO === null)(
    'in Go',
    async () => {
      using folder = temporaryFolder()
      await Bun.write(join(folder.path, 'go.mod'), 'module receiver\n\ngo 1.22\n')
      await Bun.write(join(folder.path, 'main.go'), page.block('go', 'package main'))
      const { success, stderr } = Bun.spawnSync([GO as string, 'build', '-o', 'receiver', '.'], {
        cwd: folder.path,
        env: { ...process.env, GOPROXY: 'off' },
      })
      expect([success, `${stderr}`]).toEqual([true, ''])
      expect(await deliverTo(['./receiver'], folder.path)).toEqual(VERIFIES)
    },
    300_000,
  )
})

describe('the tables of docs/gate.md', () => {
  let document: Json

  beforeAll(async () => {
    await using fixture = await bootGate()
    document = (await fixture.app.raw('/openapi.json')).body
  })

  test('have every route of gate and no other, those of signing in on their own page', () => {
    const isOfGate = (path: string) =>
      /^\/(v1\/gate|access|public\/gate|auth\/self-service)\//.test(path)
    const routes = Object.entries<object>(document.paths)
      .filter(([path]) => isOfGate(path))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      )
    const shown = [page, signInPage].flatMap((one) =>
      one.table('Route', 'Scope').map(([route]) => plain(route)),
    )

    const inWords = (route: string) =>
      route.replace('/v1/gate', '').replaceAll(/\{\w+_id\}/g, '{id}')
    expect(shown.toSorted()).toEqual(routes.map(inWords).toSorted())
  })

  test('have the scope that each route asks for', async () => {
    await using fixture = await bootGate()
    const { app, acme } = fixture
    const { key } = await acme.key('gate', 'live', ['none'])
    for (const [route, scope] of page.table('Route', 'Scope')) {
      const [method = '', path = ''] = plain(route).replaceAll('{id}', 'x').split(' ')
      const isBelow = !path.startsWith('/access') && !path.startsWith('/public')
      const answer = await app.raw(`${isBelow ? '/v1/gate' : ''}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify({ api_key: key, subject: 'x' }) }),
      })
      const message = answer.body.error?.message ?? answer.body.error
      const asked = /^the key lacks the scope (.*)$/.exec(message)?.[1] ?? 'none'
      expect([route, asked]).toEqual([route, plain(scope)])
    }
  })

  test('have every scope', () => {
    const shown = page.table('Scope', 'Allows').map(([scope]) => plain(scope))
    expect(shown.toSorted()).toEqual([...ENGINE_SCOPES.gate].toSorted())
  })

  test('have every event', () => {
    const shown = page.table('Event', 'When').map(([event]) => plain(event))
    expect(shown).toEqual([...EVENT_TYPES])
  })

  test('have the schedule of a fresh installation', () => {
    const seconds = page
      .table('Attempt', 'Delay after the previous failure')
      .map(([, wait = '']) => (wait === 'none' ? 0 : Number(wait.replace(' s', ''))))
    expect(seconds.map((s) => s * 1000)).toEqual([...testConfig().gate.webhookDelaysMs])
  })

  test('have every setting that a tenant can change, with a body that is taken', async () => {
    await using fixture = await bootGate()
    const { api } = fixture
    const rows = page.table('Route', 'Body')
    const settings = Object.entries<object>(document.paths)
      .filter(([path, methods]) => path.startsWith('/v1/gate/settings/') && 'put' in methods)
      .map(([path]) => path.replace('/v1/gate', ''))
    expect(rows.map(([route]) => plain(route))).toEqual(settings)
    for (const [route, body] of rows) {
      const sent = JSON.parse(plain(body).replace('(…)', '(principal, action, resource)'))
      expect(await api.put(`/v1/gate${plain(route)}`, sent)).toMatchObject({ status: 200 })
    }
  })
})
