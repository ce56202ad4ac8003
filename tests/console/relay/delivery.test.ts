import { describe, expect, test } from 'bun:test'
import { sign } from '../../../src/delivery/signing.ts'
import { bootRelayPages, type RelayFixture, wordsOf } from './fixture.ts'

const PAGE = '/console/deliveries'

/** One delivery to a receiver that answers so. */
async function deliveryThat(
  fixture: RelayFixture,
  answers: () => Response,
  of: Record<string, unknown> = {},
) {
  fixture.target.answers(answers)
  const endpoint = await fixture.endpoint(of)
  const message = await fixture.message()
  return { endpoint, message, id: await fixture.deliveryOf(message) }
}

async function resent(fixture: RelayFixture, id: string, answers: () => Response) {
  fixture.target.answers(answers)
  await fixture.post(`${PAGE}/${id}/resend`)
  await fixture.app.clock.settled()
  return fixture.open(`${PAGE}/${id}`)
}

const unescaped = (html: string) =>
  html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')

/** The command that is offered, without what colours it. */
const curlIn = (html: string): string | undefined => {
  const [, code] = /<code>(curl -g [\s\S]*?)<\/code>/.exec(html) ?? []
  return code && unescaped(code)
}

describe('a delivery that fails', () => {
  test('tells what was sent, what came back, what comes next and when', async () => {
    await using fixture = await bootRelayPages()
    const { id } = await deliveryThat(
      fixture,
      () => new Response('{"error":"busy"}', { status: 503, headers: { 'retry-after': '60' } }),
    )
    const { body } = await fixture.open(`${PAGE}/${id}`)
    const words = wordsOf(body)
    expect(words).toMatch(
      /Failure .*Sent POST to .* Response: status 503 .*busy.* Next retry: attempt 2 .*in 1 min/,
    )
    expect(words).toContain('with a request to wait 60 s')
    expect(body.match(new RegExp(`${id}/resend`, 'g'))).toHaveLength(1)
    const seen = await fixture.open(`${PAGE}/${id}`, 'viewer')
    expect(wordsOf(seen.body)).toContain('Failure')
    expect(seen.body).not.toContain('Retry')
  })

  test('says why no answer came', async () => {
    await using fixture = await bootRelayPages()
    const { id } = await deliveryThat(fixture, () => new Response(''), {
      url: 'http://127.0.0.1:1/hook',
    })
    expect(wordsOf((await fixture.open(`${PAGE}/${id}`)).body)).toMatch(/No response: .* after /)
  })

  test('is held while its endpoint is paused, and leads there', async () => {
    await using fixture = await bootRelayPages()
    const { id, endpoint } = await deliveryThat(fixture, () => new Response('', { status: 500 }))
    await fixture.post(`/console/endpoints/${endpoint}/pause`)
    const { body } = await fixture.open(`${PAGE}/${id}`)
    expect(wordsOf(body)).toContain('Held until the endpoint is resumed')
    expect(body).toContain(`<a href="/console/endpoints/${endpoint}">View endpoint</a>`)
  })

  test('has no such story once it has arrived, or was cancelled before anything was tried', async () => {
    await using fixture = await bootRelayPages()
    const { id } = await deliveryThat(fixture, () => new Response('', { status: 500 }))
    const { body } = await resent(fixture, id, () => new Response(''))
    expect(wordsOf(body)).not.toContain('Failure')
    expect(body).toContain('Retry')
  })
})

describe('an attempt', () => {
  test('is held against the one before it', async () => {
    await using fixture = await bootRelayPages()
    const answer = (status: number, error: string, server: string) => () =>
      new Response(JSON.stringify({ error, retry: true }), { status, headers: { server } })
    const { id } = await deliveryThat(fixture, answer(503, 'busy', 'nginx'))
    const first = await fixture.open(`${PAGE}/${id}`)
    expect(wordsOf(first.body)).not.toContain('Changes since the previous attempt')

    const { body } = await resent(fixture, id, answer(500, 'away', 'envoy'))
    const words = wordsOf(body)
    expect(words).toContain('Outcome Before Status 503 After Status 500')
    expect(words).toContain('server (received) Before nginx After envoy')
    expect(words).not.toContain('webhook-signature, sent')
    expect(body).toMatch(/<del>- {3}.*busy/)
    expect(body).toMatch(/<ins>\+ {3}.*away/)

    const same = await resent(fixture, id, answer(500, 'away', 'envoy'))
    expect(wordsOf(same.body)).toContain('No changes')
  })

  test('is shown in one line where a receiver answers with markup', async () => {
    await using fixture = await bootRelayPages()
    const { id } = await deliveryThat(
      fixture,
      () => new Response('<script>alert(1)', { status: 500 }),
    )
    const { body } = await resent(
      fixture,
      id,
      () =>
        new Response('<script>alert(2)', { status: 500, headers: { 'x-a': '<script>alert(3)' } }),
    )
    expect(body).toContain('Changes since the previous attempt')
    expect(body).not.toContain('<script>alert')
  })

  test('leads to its message, its endpoint, its type and their log', async () => {
    await using fixture = await bootRelayPages()
    const { id, endpoint, message } = await deliveryThat(fixture, () => new Response(''))
    const { body } = await fixture.open(`${PAGE}/${id}`)
    for (const path of [
      `messages/${message}`,
      'messages?event_type=order.paid',
      `endpoints/${endpoint}`,
      `deliveries?endpoint=${endpoint}`,
    ])
      expect(body).toContain(`href="/console/${path}"`)
  })
})

describe('a request to send by hand', () => {
  const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

  test('is signed as it is drawn, and is what a resend would send', async () => {
    await using fixture = await bootRelayPages()
    const { id, message } = await deliveryThat(fixture, () => new Response(''), { secret: SECRET })
    await fixture.app.clock.advance(90_000)
    const command = curlIn((await fixture.open(`${PAGE}/${id}`)).body) ?? ''
    const [, body = ''] = /--data-raw '(.*)'$/.exec(command) ?? []
    const timestamp = Math.floor(fixture.app.clock.now() / 1000)
    const { standard, service } = sign({ id: message, timestamp, body, secrets: [SECRET] })
    expect(body).toBe(fixture.target.requests[0]?.body ?? '')
    expect(command).toContain(`-H 'webhook-id: ${message}'`)
    expect(command).toContain(`-H 'webhook-signature: ${standard}'`)
    expect(command).toContain(`-Signature: ${service}'`)
    expect(command).not.toContain(SECRET)
  })

  test('is for those alone who may send it again, signatures that are recorded too', async () => {
    await using fixture = await bootRelayPages()
    const { id } = await deliveryThat(fixture, () => new Response(''))
    expect(curlIn((await fixture.open(`${PAGE}/${id}`, 'member')).body)).toBeDefined()
    const { body } = await fixture.open(`${PAGE}/${id}`, 'viewer')
    expect(curlIn(body)).toBeUndefined()
    expect(body).not.toContain('v1,')
    expect(body).not.toContain('v1=')
    expect(wordsOf(body)).toContain('webhook-signature: ********')
  })

  test('is not told to those by a receiver that repeats what it was sent', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(({ headers }) => {
      const sent = Object.fromEntries(headers)
      return Response.json(sent, {
        status: 500,
        headers: { 'x-sent': sent['webhook-signature'] ?? '' },
      })
    })
    const endpoint = await fixture.endpoint()
    const id = await fixture.deliveryOf(await fixture.message())
    const { headers } = fixture.target.requests[0] ?? {}
    const [, digest = ''] = (headers?.get('webhook-signature') ?? '').split(',')
    expect(digest.length).toBeGreaterThan(40)
    for (const path of [`${PAGE}/${id}`, `/console/endpoints/${endpoint}`]) {
      expect((await fixture.open(path, 'viewer')).body).not.toContain(digest)
      expect((await fixture.open(path, 'member')).body).toContain(digest)
    }
  })

  test('keeps secret headers secret', async () => {
    await using fixture = await bootRelayPages()
    const { id } = await deliveryThat(fixture, () => new Response(''), {
      headers: { Authorization: 'Bearer abc', 'X-Team': 'orders' },
    })
    const { body } = await fixture.open(`${PAGE}/${id}`)
    expect(curlIn(body)).toContain("-H 'Authorization: ********'")
    expect(curlIn(body)).toContain("-H 'X-Team: orders'")
    expect(body).not.toContain('Bearer abc')
  })

  test('gives a shell nothing to do but what it says', async () => {
    await using fixture = await bootRelayPages()
    const url = new URL("/$A$(touch x)'`{a,b}", fixture.target.url).href
    const { id } = await deliveryThat(fixture, () => new Response(''), { url })
    const command = curlIn((await fixture.open(`${PAGE}/${id}`)).body) ?? ''
    const shell = Bun.spawnSync(['sh', '-c', command.replace(/^curl/, 'printf "%s\\n"')])
    expect(shell.stdout.toString().split('\n').slice(0, 2)).toEqual(['-g', url])
  })

  test('is not offered once its endpoint is gone, or its secret cannot be opened', async () => {
    await using fixture = await bootRelayPages()
    const { id, endpoint } = await deliveryThat(fixture, () => new Response(''))
    fixture.app.db.client.run(
      'UPDATE endpoints SET secrets = (SELECT headers FROM endpoints LIMIT 1)',
    )
    const lost = await fixture.open(`${PAGE}/${id}`)
    expect([lost.status, curlIn(lost.body)]).toEqual([200, undefined])
    await fixture.post(`/console/endpoints/${endpoint}/delete`)
    const gone = await fixture.open(`${PAGE}/${id}`)
    expect([gone.status, curlIn(gone.body)]).toEqual([200, undefined])
  })
})
