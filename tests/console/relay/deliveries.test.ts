import { expect, test } from 'bun:test'
import { sign } from '../../../src/delivery/signing.ts'
import type { Target } from '../../support/target.ts'
import { textOf, UNKNOWN_ID, useConsole } from '../fixture.ts'
import { listen, streamIn } from '../live-listener.ts'

const PAGE = '/deliveries'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const app = await useConsole()

async function delivered(responses: Parameters<Target['answers']>[0][], fields: object = {}) {
  const acme = await app.newTenant()
  const { owner, target } = acme
  const answerNext = () => target.answers(responses.shift() ?? (() => new Response('')))
  answerNext()
  const endpoint = await acme.endpoint(fields)
  const message = await acme.message()
  const id = await acme.deliveryOf(message)
  const path = `${PAGE}/${id}`
  const retry = async () => {
    answerNext()
    const page = await owner.press(path, 'Retry')
    await app.clock.settled()
    return page
  }
  return { ...acme, endpoint, message, id, path, retry, see: () => owner.open(path) }
}

const answering =
  (status: number, body = '', headers = {}) =>
  () =>
    new Response(body, { status, headers })

const curlIn = (html: string): string | undefined => {
  const [, code] = /<code>(curl -g [\s\S]*?)<\/code>/.exec(html) ?? []
  return code && textOf(code)
}

test('The list filters by status and endpoint', async () => {
  const { owner, endpoint, message, target } = await app.newTenant()
  target.fails(500, '/bad')
  const good = await endpoint()
  const bad = await endpoint({ url: new URL('/bad', target.url).href })
  await message()
  for (const [query, count] of [
    ['', 2],
    ['status=retrying', 1],
    ['status=succeeded', 1],
    [`endpoint=${good}&status=succeeded`, 1],
    [`endpoint=${bad}&status=succeeded`, 0],
    [`endpoint=${UNKNOWN_ID}`, 0],
  ])
    expect([query, (await owner.open(`${PAGE}?${query}`)).rows.length]).toEqual([query, count])
  await owner.sees(PAGE, '1 of the last 2 deliveries failed or retrying')
})

test('Failed deliveries are the first filter, with their number in the list', async () => {
  const { id: tenantId, owner, endpoint, message, target } = await app.newTenant()
  target.fails(410, '/gone')
  const good = await endpoint()
  const [gone] = [await endpoint({ url: new URL('/gone', target.url).href })]
  await endpoint({ url: new URL('/gone', target.url).href })
  await message()
  for (const [query, chips] of [
    ['', 'Failed2 All Pending'],
    [`endpoint=${gone}`, 'Failed1 All Pending'],
    [`endpoint=${good}`, 'All Pending Delivering Retrying Held Delivered Failed0 Cancelled'],
    ['since=2027-01-01', 'Delivered Failed0 Cancelled'],
  ])
    expect((await owner.open(`${PAGE}?${query}`)).text).toContain(chips as string)
  const stream = { tenantId, name: 'relay.live' } as const
  const countOf = (endpointId: string | undefined, most: number) =>
    app.delivery.deliveries.failedCount(stream, {}, { endpointId, most })
  expect([countOf(undefined, 1), countOf(gone, 2), countOf(gone, 3)]).toEqual([1, undefined, 1])
})

test('Only the first page updates itself', async () => {
  const { owner, endpoint, message } = await app.newTenant()
  const id = await endpoint()
  for (let n = 0; n < 51; n++) await message()
  const first = await owner.open(PAGE)
  const streamOf = async (path: string) => streamIn((await owner.open(path)).html)
  expect(await streamOf(`${PAGE}?endpoint=${id}`)).toContain(`endpoint=${id}`)
  for (const path of [`${PAGE}?status=failed`, `${PAGE}?since=2026-01-01`, first.next])
    expect(await streamOf(path)).toBe('')
  const listener = await listen(app.url + streamIn(first.html), owner.headers)
  await message({ event_type: 'order.new' })
  await app.clock.advance(1000)
  await listener.until(() => listener.text().includes('order.new'))
  for (const change of [
    `hx-target="#row-${first.rows[0]}" hx-swap="beforebegin"`,
    `hx-target="#row-${first.rows[49]}" hx-swap="delete"`,
    'hx-target="#deliveries-pages"',
  ])
    expect(listener.text()).toContain(change)
  listener.leave()
})

test('A failed delivery shows request, response, and the next retry', async () => {
  const retryAfter = { 'retry-after': '60' }
  const { see } = await delivered([answering(503, '{"error":"busy"}', retryAfter)])
  const page = await see()
  expect(page.text).toMatch(
    /Failure .*Sent POST to .* Response: status 503 .*busy.* Next retry: attempt 2 .*in 1 min/,
  )
  page.says('Attempt 1 failed: Status 503 after', 'with a request to wait 60 s')
  page.says('"order": 42', '"error": "busy"', 'webhook-signature: v1,', 'Timing of attempt 1')
  const unreachable = await delivered([], { url: 'http://127.0.0.1:1/hook' })
  expect((await unreachable.see()).text).toMatch(/No response: .* after /)
})

test('A failed delivery is held while its endpoint is paused, else retried and cancelled', async () => {
  const { see, owner, retry, endpoint, id, path, target } = await delivered([
    answering(500),
    answering(500),
  ])
  await owner.press(`/endpoints/${endpoint}`, 'Pause endpoint')
  const held = (await see()).says('Held until the endpoint is resumed').omits('Retry</button>')
  expect(held.links).toContain(`/endpoints/${endpoint}`)
  expect((await owner.send(`${path}/resend`)).status).toBe(409)
  await owner.send(`/endpoints/${endpoint}/resume`, { held: 'drain' })
  await app.clock.settled()
  const before = target.requests.length
  await retry()
  expect(target.requests).toHaveLength(before + 1)
  const page = await owner.press(path, 'Cancel delivery')
  page.says('Delivery cancelled.').omits(`${path}/cancel`, 'Next retry')
  expect((await owner.send(`${path}/cancel`)).status).toBe(409)
  for (const action of ['delivery.resent', 'delivery.cancelled'])
    expect(owner.audited(action)).toEqual([`delivery:${id}`])
})

test('An attempt is selected by the address, and compared with the previous one', async () => {
  const body = (error: string) => JSON.stringify({ error, retry: true })
  const away = answering(500, body('away'), { server: 'envoy' })
  const busy = answering(503, body('busy'), { server: 'nginx' })
  const { see, retry, owner, path } = await delivered([busy, away, away])
  ;(await see()).omits('Changes since the previous attempt')
  await retry()
  const { text, html } = await see()
  expect(text).toContain('Outcome Before Status 503 After Status 500')
  expect(text).toContain('server (received) Before nginx After envoy')
  expect(text).not.toContain('webhook-signature, sent')
  expect(html).toMatch(/<del>- {3}.*busy[\s\S]*<ins>\+ {3}.*away/)
  await retry()
  ;(await see()).says('No changes')
  await retry()
  const last = (await see()).says('Delivered now', 'Retry</button>').omits('Failure', 'busy')
  const [, attempt] = /attempt=([\w-]+)/.exec(last.html) ?? []
  await owner.sees(`${path}?attempt=${attempt}`, 'busy')
  ;(await owner.open(`${path}?attempt=none`)).omits('busy')
})

test('A delivery links to its message, endpoint, event type and log, also after deletion', async () => {
  const { see, owner, endpoint, message } = await delivered([])
  const ofMessage = [`/messages/${message}`, '/messages?event_type=order.paid']
  const ofEndpoint = [`/endpoints/${endpoint}`, `/deliveries?endpoint=${endpoint}`]
  expect((await see()).links).toEqual(expect.arrayContaining([...ofMessage, ...ofEndpoint]))
  await owner.press(`/endpoints/${endpoint}`, 'Delete endpoint')
  expect(curlIn((await see()).says('Deleted endpoint').html)).toBeUndefined()
})

test('The curl command sends what a retry would, signed when the page is opened', async () => {
  const headers = { Authorization: 'Bearer abc', 'X-Team': 'orders' }
  const { see, endpoint, message, target } = await delivered([], { secret: SECRET, headers })
  await app.clock.advance(90_000)
  const { html } = (await see()).omits('Bearer abc')
  const command = curlIn(html) ?? ''
  const [, body = ''] = /--data-raw '(.*)'$/.exec(command) ?? []
  const timestamp = Math.floor(app.clock.now() / 1000)
  const { standard, service } = sign({ id: message, timestamp, body, secrets: [SECRET] })
  expect(body).toBe(target.requests[0]?.body ?? '')
  for (const part of [
    `-H 'webhook-id: ${message}'`,
    `-H 'webhook-signature: ${standard}'`,
    `-Signature: ${service}'`,
    "-H 'Authorization: ********'",
    "-H 'X-Team: orders'",
  ])
    expect(command).toContain(part)
  expect(command).not.toContain(SECRET)
  // Secrets that cannot be decrypted.
  app.db.client.run('UPDATE endpoints SET secrets = headers WHERE id = ?', [endpoint])
  const page = await see()
  expect([page.status, curlIn(page.html)]).toEqual([200, undefined])
})

test('Signatures are only for roles that may retry, even if the receiver repeats them', async () => {
  const { see, as, target, endpoint, path } = await delivered([
    ({ headers }) => {
      const sent = { 'x-sent': headers.get('webhook-signature') ?? '' }
      return Response.json(Object.fromEntries(headers), { status: 500, headers: sent })
    },
  ])
  const signature = target.requests[0]?.headers.get('webhook-signature') ?? ''
  const [, digest = ''] = signature.split(',')
  expect(digest.length).toBeGreaterThan(40)
  const [viewer, member] = [await as('viewer'), await as('member')]
  for (const page of [path, `/endpoints/${endpoint}`]) {
    ;(await viewer.open(page)).omits(digest)
    await member.sees(page, digest)
  }
  const { html } = await viewer.sees(path, 'webhook-signature: ********')
  expect([curlIn(html), curlIn((await see()).html)]).toEqual([undefined, expect.any(String)])
  expect(html).not.toMatch(/v1[,=](?!\*)/)
})

test('The curl command gives a shell nothing else to run', async () => {
  const acme = await app.newTenant()
  const url = new URL("/$A$(touch x)'`{a,b}", acme.target.url).href
  await acme.endpoint({ url })
  const id = await acme.deliveryOf(await acme.message())
  const command = curlIn((await acme.owner.open(`${PAGE}/${id}`)).html) ?? ''
  const shell = Bun.spawnSync(['sh', '-c', command.replace(/^curl/, 'printf "%s\\n"')])
  expect(shell.stdout.toString().split('\n').slice(0, 2)).toEqual(['-g', url])
})
