import { describe, expect, test } from 'bun:test'
import { sign } from '../../../src/delivery/signing.ts'
import type { Target } from '../../support/target.ts'
import { textOf, UNKNOWN_ID, useConsole } from '../fixture.ts'
import { listen, streamIn } from '../live-listener.ts'

const PAGE = '/console/deliveries'

const app = await useConsole()

/** One delivery to an endpoint that answers with these responses in turn. */
async function delivered(responses: Parameters<Target['answers']>[0][], fields: object = {}) {
  const acme = await app.newTenant()
  const { owner, target } = acme
  const answerNext = () => {
    const [next = () => new Response('')] = responses.splice(0, 1)
    target.answers(next)
  }
  answerNext()
  const endpoint = await acme.endpoint(fields)
  const message = await acme.message()
  const id = await acme.deliveryOf(message)
  const path = `${PAGE}/${id}`
  const retry = async () => {
    answerNext()
    const answer = await owner.send(`${path}/resend`)
    await app.clock.settled()
    return answer
  }
  return { ...acme, endpoint, message, id, path, retry, see: () => owner.open(path) }
}

const answering = (status: number, body = '', headers = {}) => {
  return () => new Response(body, { status, headers })
}

/** The curl command of a page. */
const curlIn = (html: string): string | undefined => {
  const [, code] = /<code>(curl -g [\s\S]*?)<\/code>/.exec(html) ?? []
  return code && textOf(code)
}

describe('The list', () => {
  test('is empty at first, and filters by status and endpoint', async () => {
    const { owner, endpoint, message, target } = await app.newTenant()
    expect((await owner.open(PAGE)).text).toContain('No deliveries yet')
    target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    const good = await endpoint()
    const bad = await endpoint({ url: new URL('/bad', target.url).href })
    await message()
    for (const [query, count] of [
      ['', 2],
      ['status=&endpoint=', 2],
      ['status=retrying', 1],
      ['status=succeeded', 1],
      ['status=failed', 0],
      [`endpoint=${good}&status=succeeded`, 1],
      [`endpoint=${bad}&status=succeeded`, 0],
      [`endpoint=${UNKNOWN_ID}`, 0],
    ])
      expect([query, (await owner.open(`${PAGE}?${query}`)).rows.length]).toEqual([query, count])
    const { text } = await owner.open(PAGE)
    expect(text).toContain('1 of the last 2 deliveries failed or retrying')
  })

  test('updates itself on its first page alone, and the next page starts where it ends', async () => {
    const { owner, endpoint, message } = await app.newTenant()
    const id = await endpoint()
    for (let n = 0; n < 51; n++) await message()
    const first = await owner.open(PAGE)
    const second = await owner.open(first.next)
    expect([first.rows.length, second.rows.length, second.prev]).toEqual([50, 1, PAGE])
    const streams = []
    for (const query of ['', `?endpoint=${id}`, '?status=failed'])
      streams.push(streamIn((await owner.open(PAGE + query)).html))
    expect(streams).toEqual([
      expect.stringContaining('/console/live/deliveries?'),
      expect.stringContaining(`endpoint=${id}`),
      '',
    ])
    expect(streamIn(second.html)).toBe('')

    const listener = await listen(app.url + streamIn(first.html), owner.headers)
    await message({ event_type: 'order.new' })
    await app.clock.advance(1000)
    await listener.until(() => listener.text().includes('order.new'))
    const [newest, oldest] = [first.rows[0], first.rows[49]]
    for (const change of [
      `hx-target="#row-${newest}" hx-swap="beforebegin"`,
      `hx-target="#row-${oldest}" hx-swap="delete"`,
      'hx-target="#deliveries-pages"',
    ])
      expect(listener.text()).toContain(change)
    listener.leave()
  })
})

describe('A failed delivery', () => {
  test('shows request, response, and the next retry', async () => {
    const retryAfter = { 'retry-after': '60' }
    const { see, as, path } = await delivered([answering(503, '{"error":"busy"}', retryAfter)])
    const { text } = await see()
    expect(text).toMatch(
      /Failure .*Sent POST to .* Response: status 503 .*busy.* Next retry: attempt 2 .*in 1 min/,
    )
    for (const words of [
      'Attempt 1 failed: Status 503 after',
      'with a request to wait 60 s',
      'Next attempt in 1 min',
      '"order": 42',
      '"error": "busy"',
      'webhook-signature: v1,',
      'Timing of attempt 1',
    ])
      expect(text).toContain(words)
    expect((await (await as('viewer')).open(path)).text).not.toContain('Retry ')
  })

  test('says why there was no response', async () => {
    const { see } = await delivered([], { url: 'http://127.0.0.1:1/hook' })
    expect((await see()).text).toMatch(/No response: .* after /)
  })

  test('is held while its endpoint is paused, and not retried', async () => {
    const { see, owner, endpoint, path } = await delivered([answering(500)])
    await owner.send(`/console/endpoints/${endpoint}/pause`)
    const { text, html } = await see()
    expect(text).toContain('Held until the endpoint is resumed')
    expect(html).toContain(`<a href="/console/endpoints/${endpoint}">View endpoint</a>`)
    expect(html).not.toContain('Retry</button>')
    expect((await owner.send(`${path}/resend`)).status).toBe(409)
  })

  test('is retried and cancelled by the operator', async () => {
    const { see, owner, retry, id, path, target } = await delivered([
      answering(500),
      answering(500),
    ])
    expect((await retry()).location).toBe(`${path}?done=resent`)
    expect(target.requests).toHaveLength(2)
    const cancelled = await owner.send(`${path}/cancel`)
    expect(cancelled.location).toBe(`${path}?done=cancelled`)
    const page = await owner.follow(cancelled)
    expect(page.text).toContain('Delivery cancelled.')
    expect(page.html).not.toContain(`${path}/cancel`)
    expect((await owner.send(`${path}/cancel`)).status).toBe(409)
    for (const action of ['delivery.resent', 'delivery.cancelled'])
      expect(owner.audited(action)).toEqual([`delivery:${id}`])
    expect((await see()).text).not.toContain('Next retry')
  })
})

describe('An attempt', () => {
  test('is selected by the address, else it is the last', async () => {
    const { see, retry, owner, path } = await delivered([
      answering(503, 'the first'),
      answering(200, 'the second'),
    ])
    await retry()
    const last = await see()
    expect(last.html).toContain('the second')
    expect(last.text).toContain('Delivered now')
    expect(last.text).toContain('Previous attempt: Status 503')
    expect(last.text).not.toContain('Failure')
    expect(last.html).toContain('Retry</button>')
    const [, attempt] = /attempt=([\w-]+)/.exec(last.html) ?? []
    expect((await owner.open(`${path}?attempt=${attempt}`)).html).toContain('the first')
    expect((await owner.open(`${path}?attempt=none`)).html).toContain('the second')
  })

  test('is compared with the previous one', async () => {
    const body = (error: string) => JSON.stringify({ error, retry: true })
    const away = answering(500, body('away'), { server: 'envoy' })
    const { see, retry } = await delivered([
      answering(503, body('busy'), { server: 'nginx' }),
      away,
      away,
    ])
    expect((await see()).text).not.toContain('Changes since the previous attempt')
    await retry()
    const { text, html } = await see()
    expect(text).toContain('Outcome Before Status 503 After Status 500')
    expect(text).toContain('server (received) Before nginx After envoy')
    expect(text).not.toContain('webhook-signature, sent')
    expect(html).toMatch(/<del>- {3}.*busy/)
    expect(html).toMatch(/<ins>\+ {3}.*away/)
    await retry()
    expect((await see()).text).toContain('No changes')
  })
})

test('A delivery links to its message, endpoint, event type and log, also after deletion', async () => {
  const { see, owner, endpoint, message } = await delivered([])
  const { html } = await see()
  for (const path of [
    `messages/${message}`,
    'messages?event_type=order.paid',
    `endpoints/${endpoint}`,
    `deliveries?endpoint=${endpoint}`,
  ])
    expect(html).toContain(`href="/console/${path}"`)
  await owner.send(`/console/endpoints/${endpoint}/delete`)
  const gone = await see()
  expect(gone.text).toContain('Deleted endpoint')
  expect(curlIn(gone.html)).toBeUndefined()
})

describe('The curl command', () => {
  const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

  test('sends what a retry would, signed when the page is opened', async () => {
    const headers = { Authorization: 'Bearer abc', 'X-Team': 'orders' }
    const { see, message, target } = await delivered([], { secret: SECRET, headers })
    await app.clock.advance(90_000)
    const { html } = await see()
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
    expect(html).not.toContain('Bearer abc')
  })

  test('and signatures are only for roles that may retry, even if the receiver repeats them', async () => {
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
    for (const page of [path, `/console/endpoints/${endpoint}`]) {
      expect((await viewer.open(page)).html).not.toContain(digest)
      expect((await member.open(page)).html).toContain(digest)
    }
    const { html, text } = await viewer.open(path)
    expect([curlIn(html), curlIn((await see()).html)]).toEqual([undefined, expect.any(String)])
    expect(html).not.toMatch(/v1[,=](?!\*)/)
    expect(text).toContain('webhook-signature: ********')
  })

  test('gives a shell nothing else to run', async () => {
    const acme = await app.newTenant()
    const url = new URL("/$A$(touch x)'`{a,b}", acme.target.url).href
    await acme.endpoint({ url })
    const id = await acme.deliveryOf(await acme.message())
    const command = curlIn((await acme.owner.open(`${PAGE}/${id}`)).html) ?? ''
    const shell = Bun.spawnSync(['sh', '-c', command.replace(/^curl/, 'printf "%s\\n"')])
    expect(shell.stdout.toString().split('\n').slice(0, 2)).toEqual(['-g', url])
  })

  test('is missing when the secret cannot be decrypted', async () => {
    const { see, endpoint } = await delivered([])
    app.db.client.run('UPDATE endpoints SET secrets = headers WHERE id = ?', [endpoint])
    const { status, html } = await see()
    expect([status, curlIn(html)]).toEqual([200, undefined])
  })
})
