import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bodyOf, FORMATS } from '../src/delivery/formats.ts'
import { matchOf } from '../src/delivery/matching.ts'
import { EndpointOutcome } from '../src/engines/relay/model/messages.ts'
import { STATUSES } from '../src/http/delivery-log/model.ts'
import { bootTestApp } from './support/app.ts'
import { until } from './support/binary.ts'
import { testConfig } from './support/config.ts'
import { temporaryFolder } from './support/folder.ts'
import { freePort } from './support/port.ts'

/** What docs/relay.md shows is run as it stands there. */

const ROOT = join(import.meta.dir, '..')
const PAGE = await Bun.file(join(ROOT, 'docs', 'relay.md')).text()

/** The one block of code in this language that has `words` in it. */
function block(language: string, words: string): string {
  const blocks = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, itsLanguage, text]) => itsLanguage === language && text?.includes(words))
    .map(([, , text]) => text as string)
  expect(blocks).toHaveLength(1)
  return blocks[0] as string
}

/** The cells of the rows of the table below this header row. */
function table(header: string): string[][] {
  const rows = PAGE.slice(PAGE.indexOf(header)).split('\n\n')[0]?.split('\n').slice(2) ?? []
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

const plain = (cell = '') => cell.replaceAll('`', '')

const PYTHON = Bun.which('python3')
const hasLibrary =
  PYTHON !== null && Bun.spawnSync([PYTHON, '-c', 'import standardwebhooks']).success
const JAVASCRIPT = Bun.which('node') ?? process.execPath
/** Only when asked for, with `TEST_GO=1`: a first build takes minutes. */
const GO = process.env.TEST_GO === '1' ? Bun.which('go') : null
const GO_LIBRARY = 'github.com/standard-webhooks/standard-webhooks/libraries'
const goCache = GO === null ? '' : `${Bun.spawnSync([GO, 'env', 'GOMODCACHE']).stdout}`.trim()
const hasGoLibrary = GO !== null && existsSync(join(goCache, `${GO_LIBRARY}@v0.0.1`))

/**
 * Starts a receiver, delivers a message to it, and sends it forgeries of that very request.
 * Answers the statuses: what was delivered, sent once more, and each of the forgeries.
 */
async function deliverTo(command: string[], cwd: string) {
  await using app = await bootTestApp({ start: new Date().toISOString() })
  const { key } = await (await app.tenant()).key('relay', 'live')
  const api = app.client(key)
  const port = freePort()
  const url = `http://127.0.0.1:${port}/hook`
  const created = await api.post('/v1/relay/endpoints', { url })
  expect(created.status).toBe(201)
  const { id, secret } = created.body
  await using receiver = Bun.spawn(command, {
    cwd,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: `${port}` },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const isUp = () =>
    fetch(url, { method: 'POST', body: '{}' }).then(
      ({ status }) => status === 400,
      () => receiver.exitCode !== null,
    )
  await until(isUp)
  if (receiver.exitCode !== null) throw new Error(await new Response(receiver.stderr).text())

  await api.post('/v1/relay/messages', { event_type: 'invoice.paid', payload: { total: 119 } })
  const last = async () => (await api.get(`/v1/relay/deliveries?endpoint_id=${id}`)).body.data[0]
  await until(async () => (await last())?.attempts === 1)
  const delivery = (await api.get(`/v1/relay/deliveries/${(await last()).id}`)).body
  const { request_body: body, attempt_log } = delivery
  const [{ request, response }] = attempt_log

  const send = async (body: string, headers: Record<string, string> = {}) =>
    (await fetch(url, { method: 'POST', headers: { ...request.headers, ...headers }, body })).status
  return {
    status: delivery.status,
    answered: response.status,
    again: await send(body),
    forged: [
      await send(body.replace('119', '911')),
      await send(body, { 'webhook-id': 'another' }),
      await send(body, { 'webhook-signature': 'v1,%%%' }),
      await send(body, { 'webhook-signature': 'nonsense' }),
    ],
  }
}

const VERIFIES = { status: 'succeeded', answered: 204, again: 204, forged: [400, 400, 400, 400] }

describe('the receivers of docs/relay.md take a real delivery and refuse what is not', () => {
  const receiver = block('js', 'createServer')

  /** Where a script finds the libraries of this repository. */
  async function javascript(text: string) {
    using folder = temporaryFolder()
    symlinkSync(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'))
    await Bun.write(join(folder.path, 'receiver.mjs'), text)
    return await deliverTo([JAVASCRIPT, 'receiver.mjs'], folder.path)
  }

  test('in Node, with standardwebhooks', async () => {
    expect(await javascript(receiver)).toEqual(VERIFIES)
  }, 30_000)

  test('in Node, with svix', async () => {
    const [import_, ...check] = block('js', "'svix'").trimEnd().split('\n')
    const changed = receiver
      .replace(/^import \{ Webhook \}.*$/m, `${import_}`)
      .replace(/^ *const event = webhook.verify.*$/m, check.join('\n'))
    expect(changed).not.toContain("standardwebhooks'")
    expect(await javascript(changed)).toEqual(VERIFIES)
  }, 30_000)

  test.skipIf(!hasLibrary)(
    'in Python, with standardwebhooks',
    async () => {
      using folder = temporaryFolder()
      await Bun.write(join(folder.path, 'receiver.py'), block('python', 'HTTPServer'))
      expect(await deliverTo([PYTHON as string, 'receiver.py'], folder.path)).toEqual(VERIFIES)
    },
    30_000,
  )

  test.skipIf(!hasGoLibrary)(
    'in Go, with standard-webhooks',
    async () => {
      using folder = temporaryFolder()
      const module = `module receiver\n\ngo 1.22\n\nrequire ${GO_LIBRARY} v0.0.1\n`
      await Bun.write(join(folder.path, 'go.mod'), module)
      await Bun.write(join(folder.path, 'main.go'), block('go', 'package main'))
      const { success, stderr } = Bun.spawnSync([GO as string, 'build', '-o', 'receiver', '.'], {
        cwd: folder.path,
        env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOSUMDB: 'off' },
      })
      expect([success, `${stderr}`]).toEqual([true, ''])
      expect(await deliverTo(['./receiver'], folder.path)).toEqual(VERIFIES)
    },
    300_000,
  )
})

const vectors = new Map(
  PAGE.slice(PAGE.indexOf('### Test vectors'))
    .split('\n## ')[0]
    ?.split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))
    .map(([name, value]) => [plain(name).trim(), plain(value).trim()] as const),
)
const vector = (name: string): string => {
  const value = vectors.get(name)
  if (value === undefined) throw new Error(`no vector ${name} in ${[...vectors.keys()]}`)
  return value
}

describe('the test vectors of docs/relay.md', () => {
  const [secret, id, time, body] = ['secret', 'id', 'time', 'body, 110 bytes'].map(vector) as [
    string,
    string,
    string,
    string,
  ]

  test('are what the words beside them say', () => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const standard = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
    const service = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')

    expect(body).toHaveLength(110)
    expect(secret).toHaveLength(50)
    expect(vector('key of webhook-signature, in hex')).toBe(key.toString('hex'))
    expect(vector('signature in webhook-signature')).toBe(standard)
    expect(vector('signature in X-Service-Signature')).toBe(service)
  })

  test('are those of the delivery in the quick start', () => {
    const received = block('sh', 'Bun.serve')
    expect(received).toContain('console.log')
    expect(PAGE).toContain(`webhook-id: ${id}\n`)
    expect(PAGE).toContain(`webhook-timestamp: ${time}\n`)
    expect(PAGE).toContain(`webhook-signature: v1,${vector('signature in webhook-signature')}\n`)
    expect(PAGE).toContain(
      `x-service-signature: t=${time},v1=${vector('signature in X-Service-Signature')}\n`,
    )
    expect(PAGE).toContain(`\n${body}\n`)
    expect(PAGE).toContain(`"secret":"${secret}"`)
  })

  const genuine = `t=${time},v1=${vector('signature in X-Service-Signature')}`
  const old = `t=${time},v1=${'0'.repeat(64)},v1=${vector('signature in X-Service-Signature')}`
  const at = Number(time)
  /** Body, header, secret, seconds; and whether it is to be taken. */
  const cases: [string, string, string, number, boolean][] = [
    [body, genuine, secret, at, true],
    [body, genuine, secret, at + 300, true],
    [body, old, secret, at, true],
    [`${body} `, genuine, secret, at, false],
    [body, genuine, `${secret}x`, at, false],
    [body, genuine, secret, at + 301, false],
    [body, genuine, secret, at - 301, false],
    [body, genuine.replace('t=1', 't=2'), secret, at, false],
    [body, genuine.replace('v1=', 'v2='), secret, at, false],
    [body, `v1=${vector('signature in X-Service-Signature')}`, secret, at, false],
    [body, 'nonsense', secret, at, false],
    [body, `t=${time},v1=`, secret, at, false],
    [body, `t=${time},v1`, secret, at, false],
    [body, '', secret, at, false],
  ]
  const wanted = cases.map(([, , , , isGenuine]) => isGenuine)

  test('are told from forgeries by the check in Node', async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'service-signature.mjs')
    await Bun.write(file, block('js', 'isGenuine'))
    const { isGenuine } = await import(file)

    const found = cases.map(([text, header, key, now]) => isGenuine(text, header, key, now * 1000))
    expect(found).toEqual(wanted)
  })

  test.skipIf(PYTHON === null)('are told from forgeries by the check in Python', async () => {
    using folder = temporaryFolder()
    await Bun.write(join(folder.path, 'service_signature.py'), block('python', 'is_genuine'))
    const run = `import json, sys
from service_signature import is_genuine
print(json.dumps([is_genuine(b.encode(), h, s, n) for b, h, s, n, _ in json.loads(sys.argv[1])]))`
    const { stdout, stderr } = Bun.spawnSync([PYTHON as string, '-c', run, JSON.stringify(cases)], {
      cwd: folder.path,
    })
    expect(`${stderr}`).toBe('')
    expect(JSON.parse(`${stdout}`)).toEqual(wanted)
  })
})

describe('the tables of docs/relay.md', () => {
  test('have every route of the relay and no other', async () => {
    await using app = await bootTestApp()
    const { paths } = (await app.raw('/openapi.json')).body
    const routes = Object.entries<object>(paths)
      .filter(([path]) => path.startsWith('/v1/relay/'))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      )
    const shown = table('| Route').map(([route]) => plain(route))

    const inWords = (route: string) =>
      route
        .replace('/v1/relay', '')
        .replace('{name}', '{id}')
        .replaceAll(/\{\w+_id\}/g, '{id}')
    expect(shown.map(inWords).toSorted()).toEqual(routes.map(inWords).toSorted())
  })

  test('have the schedule of a fresh installation, added up', () => {
    const inSeconds = (cell: string) => {
      const units: Record<string, number> = { h: 3600, min: 60, s: 1 }
      return [...cell.matchAll(/(\d+) (h|min|s)/g)].reduce(
        (sum, [, n, unit]) => sum + Number(n) * (units[unit as string] as number),
        0,
      )
    }
    const rows = table('| Attempt |').map(([attempt, wait, since]) => [
      Number(attempt),
      inSeconds(wait as string),
      inSeconds(since as string),
    ])

    const delays = [0, ...testConfig().relay.retryDelaysMs].map((ms) => ms / 1000)
    let since = 0
    const expected = delays.map((delay, i) => {
      since += delay
      return [i + 1, delay, since]
    })
    expect(rows).toEqual(expected)
  })

  test('say which types and channels match', () => {
    const lists = (cell = '') => JSON.parse(/\[.*\]|null/.exec(cell)?.[0] ?? '[]')
    const grid = (corner: string) => {
      const head = PAGE.slice(PAGE.indexOf(corner)).split('\n')[0]?.split('|').slice(1, -1) ?? []
      return table(corner).flatMap(([own, ...cells]) =>
        cells.map((cell, i) => ({ own: lists(own), asked: plain(head[i]).trim(), cell })),
      )
    }
    const types = grid('`event_types` of the endpoint').map(({ own, asked, cell }) => ({
      shown: cell,
      is: matchOf({ eventTypes: own, channels: [] }, { type: asked, channels: [] }),
    }))
    const channels = grid('`channels` of the endpoint').map(({ own, asked, cell }) => ({
      shown: cell,
      is: matchOf({ eventTypes: null, channels: own }, { type: 'a', channels: lists(asked) }),
    }))

    expect([types.length, channels.length]).toEqual([20, 8])
    for (const { shown, is } of [...types, ...channels])
      expect(shown).toBe(is === 'matches' ? 'yes' : '')
  })

  test('have every reason why a message did not reach an endpoint', () => {
    const { enum: verdicts } = EndpointOutcome.properties.verdict as unknown as { enum: string[] }
    const whyNot = verdicts.filter((verdict) => !STATUSES.some((status) => status === verdict))
    expect(table('| Verdict').map(([verdict]) => plain(verdict))).toEqual(whyNot)
  })

  test('have the bodies of the three formats', () => {
    const message = {
      id: '01a1fefd-6eb4-755f-9e5c-de9e79c30865',
      tenantId: '01a1fefb-d72c-75da-9de3-374ed7a48f64',
      type: 'fmt.paid',
      acceptedAt: Date.parse('2026-11-21T16:43:04.244Z'),
      payload: '{"invoice": "2026-117",   "total": 119.00}',
    }
    for (const format of FORMATS) expect(PAGE).toContain(`\`${bodyOf(format, message)}\``)
  })
})
