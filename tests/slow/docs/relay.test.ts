import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bodyOf, FORMATS } from '../../../src/delivery/formats.ts'
import { EndpointOutcome } from '../../../src/engines/relay/model/messages.ts'
import { STATUSES } from '../../../src/http/delivery-log/model.ts'
import { bootTestApp } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage, plain } from '../../support/page.ts'
import { freePort } from '../../support/port.ts'
import { GO, startProgram } from '../../support/shown.ts'

const page = await openPage('relay.md')

const PYTHON = Bun.which('python3')
const hasLibrary =
  PYTHON !== null && Bun.spawnSync([PYTHON, '-c', 'import standardwebhooks']).success
const GO_LIBRARY = 'github.com/standard-webhooks/standard-webhooks/libraries'
const goCache = GO === null ? '' : `${Bun.spawnSync([GO, 'env', 'GOMODCACHE']).stdout}`.trim()
const hasGoLibrary = GO !== null && existsSync(join(goCache, `${GO_LIBRARY}@v0.0.1`))

/** Delivers a message to a receiver, and sends it forgeries of that request: the statuses. */
async function deliverTo(language: string, text: string) {
  await using app = await bootTestApp({ start: new Date().toISOString() })
  const api = app.client((await (await app.tenant()).key('relay', 'live')).key)
  const port = freePort()
  const url = `http://127.0.0.1:${port}/hook`
  const { id, secret } = (await api.post('/v1/relay/endpoints', { url })).body
  const requires = `\nrequire ${GO_LIBRARY} v0.0.1\n`
  await using _ = await startProgram({
    ...{ language, text, port, requires },
    env: { ...(process.env as Record<string, string>), WEBHOOK_SECRET: secret },
  })
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
    response: response.status,
    again: await send(body),
    forged: [
      await send(body.replace('119', '911')),
      await send(body, { 'webhook-id': 'another' }),
      await send(body, { 'webhook-signature': 'v1,%%%' }),
      await send(body, { 'webhook-signature': 'nonsense' }),
    ],
  }
}

const receiver = page.block('js', 'createServer')
const [svix, ...check] = page.block('js', "'svix'").trimEnd().split('\n')
const receiverWithSvix = receiver
  .replace(/^import \{ Webhook \}.*$/m, `${svix}`)
  .replace(/^ *const event = webhook.verify.*$/m, check.join('\n'))

for (const [name, isThere, language, text] of [
  ['Node, with standardwebhooks', true, 'js', receiver],
  ['Node, with svix', true, 'js', receiverWithSvix],
  ['Python', hasLibrary, 'python', page.block('python', 'HTTPServer')],
  ['Go', hasGoLibrary, 'go', page.block('go', 'package main')],
] as const)
  test.skipIf(!isThere)(
    `The receiver in ${name} takes a real delivery and refuses forgeries`,
    async () => {
      expect(receiverWithSvix).not.toContain("standardwebhooks'")
      const verified = { status: 'succeeded', response: 204, again: 204 }
      expect(await deliverTo(language, text)).toEqual({ ...verified, forged: Array(4).fill(400) })
    },
    300_000,
  )

test('The test vectors are right, those of the quick start, and told from forgeries by the checks', async () => {
  const section = page.text.slice(page.text.indexOf('### Test vectors')).split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)]
  const vectors = new Map(rows.map(([, name, value]) => [plain(name).trim(), plain(value).trim()]))
  const vector = (name: string) => vectors.get(name) ?? ''
  const [secret, id, time] = [vector('secret'), vector('id'), vector('time')]
  const body = vector('body, 110 bytes')
  const service = vector('signature in X-Service-Signature')
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const standard = createHmac('sha256', bytes).update(`${id}.${time}.${body}`).digest('base64')
  expect([body.length, secret.length]).toEqual([110, 50])
  expect(vector('key of webhook-signature, in hex')).toBe(bytes.toString('hex'))
  expect(vector('signature in webhook-signature')).toBe(standard)
  expect(service).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'))
  for (const line of [
    `webhook-id: ${id}\n`,
    `webhook-timestamp: ${time}\n`,
    `webhook-signature: v1,${standard}\n`,
    `x-service-signature: t=${time},v1=${service}\n`,
    `\n${body}\n`,
    `"secret":"${secret}"`,
  ])
    expect(page.text).toContain(line)

  const genuine = `t=${time},v1=${service}`
  const at = Number(time)
  const accepted: [string, string, string, number][] = [
    [body, genuine, secret, at],
    [body, genuine, secret, at + 300],
    [body, `t=${time},v1=${'0'.repeat(64)},v1=${service}`, secret, at],
  ]
  const refused: typeof accepted = [
    [`${body} `, genuine, secret, at],
    [body, genuine, `${secret}x`, at],
    [body, genuine, secret, at + 301],
    [body, genuine, secret, at - 301],
  ]
  const headers = [genuine.replace('t=1', 't=2'), genuine.replace('v1=', 'v2='), `v1=${service}`]
  for (const header of [...headers, 'nonsense', `t=${time},v1=`, `t=${time},v1`, ''])
    refused.push([body, header, secret, at])
  const cases = [...accepted, ...refused]
  const expected = [...accepted.map(() => true), ...refused.map(() => false)]
  using folder = temporaryFolder()
  const file = join(folder.path, 'service-signature.mjs')
  await Bun.write(file, page.block('js', 'isGenuine'))
  const { isGenuine } = await import(file)
  const found = cases.map(([text, header, key, now]) => isGenuine(text, header, key, now * 1000))
  expect(found).toEqual(expected)

  if (PYTHON === null) return
  await Bun.write(join(folder.path, 'service_signature.py'), page.block('python', 'is_genuine'))
  const run = `import json, sys
from service_signature import is_genuine
print(json.dumps([is_genuine(b.encode(), h, s, n) for b, h, s, n in json.loads(sys.argv[1])]))`
  const words = [PYTHON, '-c', run, JSON.stringify(cases)]
  const { stdout, stderr } = Bun.spawnSync(words, { cwd: folder.path })
  expect(`${stderr}`).toBe('')
  expect(JSON.parse(`${stdout}`)).toEqual(expected)
})

test('The tables have the retry schedule, every reason why an endpoint does not get a message, and the bodies of the formats', () => {
  const units: Record<string, number> = { h: 3600, min: 60, s: 1 }
  const inSeconds = (cell = '') =>
    [...cell.matchAll(/(\d+) (h|min|s)/g)]
      .map(([, n, unit = '']) => Number(n) * (units[unit] ?? 0))
      .reduce((sum, seconds) => sum + seconds, 0)
  let since = 0
  const delays = [0, ...testConfig().relay.retryDelaysMs].map((ms) => ms / 1000)
  const expected = delays.map((delay, i) => {
    since += delay
    return [i + 1, delay, since]
  })
  const rows = page.table('Attempt', 'Delay after the last failure')
  const shown = rows.map(([attempt, wait, sum]) => [
    Number(attempt),
    inSeconds(wait),
    inSeconds(sum),
  ])
  expect(shown).toEqual(expected)

  const { enum: verdicts } = EndpointOutcome.properties.verdict as unknown as { enum: string[] }
  const whyNot = verdicts.filter((verdict) => !STATUSES.some((status) => status === verdict))
  expect(page.table('Verdict', 'Meaning').map(([verdict]) => plain(verdict))).toEqual(whyNot)
  const message = {
    id: '01a1fefd-6eb4-755f-9e5c-de9e79c30865',
    tenantId: '01a1fefb-d72c-75da-9de3-374ed7a48f64',
    type: 'fmt.paid',
    acceptedAt: Date.parse('2026-11-21T16:43:04.244Z'),
    payload: '{"invoice": "2026-117",   "total": 119.00}',
  }
  for (const format of FORMATS) expect(page.text).toContain(`\`${bodyOf(format, message)}\``)
})
