import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Listener, serve } from '../../src/http/serve.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'

/** Of sign-ins from one address in a minute. */
const MAX = 3

let app: TestApp
let listener: Listener
let flow: { id: string; csrf: string }

beforeAll(async () => {
  const flags = {
    'server-trusted-proxies': '127.0.0.0/8,10.0.0.0/8,::1',
    'limits-sign-ins-per-minute': `${MAX}`,
  }
  app = await bootTestApp({ flags })
  listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  const { key } = await (await app.tenant()).key('gate')
  const { body } = await app.client(key).get('/v1/gate/auth/recovery')
  const token = body.ui.nodes.find(
    ({ attributes }: { attributes: { name: string } }) => attributes.name === 'csrf_token',
  )
  flow = { id: body.id, csrf: token.attributes.value }
})

/** All buckets are full again. */
beforeEach(() => app.clock.advance(60_000))

afterAll(async () => {
  await listener.stop()
  await app.stop()
})

const requests = () =>
  app.log.map((line) => JSON.parse(line)).filter(({ message }) => message === 'request')

/** Speaks HTTP by hand: what a client library would join, drop or refuse to send. */
function say(head: string[], { body = '', hangUp = false } = {}): Promise<string> {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  const lines = [...head, 'Host: localhost', ...length, 'Connection: close', '', body]
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(listener.port, '127.0.0.1', () =>
      socket.write(lines.join('\r\n'), () => hangUp && socket.resetAndDestroy()),
    )
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

const statusIn = (answer: string) => Number(answer.split(' ', 2)[1])

/** Who the server takes a client for that sends these lines. */
async function takenFor(...lines: string[]): Promise<string> {
  await say(['GET /v1/relay/messages HTTP/1.1', ...lines])
  return requests().at(-1).from
}

describe('behind a trusted proxy the client is', () => {
  const cases: [string, string[], string][] = [
    [
      'the last of several fields',
      ['X-Forwarded-For: 6.6.6.6', 'x-forwarded-for: 1.2.3.4'],
      '1.2.3.4',
    ],
    [
      'the last of several lists',
      ['X-Forwarded-For: 6.6.6.6, 7.7.7.7', 'X-Forwarded-For: 1.2.3.4, 10.0.0.2'],
      '1.2.3.4',
    ],
    [
      'not what other fields say',
      ['Forwarded: for=6.6.6.6', 'X-Real-IP: 6.6.6.6', 'True-Client-IP: 6.6.6.6'],
      '127.0.0.1',
    ],
    ['the proxy where nobody is named', ['X-Forwarded-For: '], '127.0.0.1'],
    ['the proxy where the last is nobody', ['X-Forwarded-For: 6.6.6.6, ,'], '127.0.0.1'],
    [
      'whoever stands before a proxy in IPv6 dress',
      ['X-Forwarded-For: 1.2.3.4, ::ffff:a00:1'],
      '1.2.3.4',
    ],
    [
      'whoever stands before a proxy spelled at length',
      ['X-Forwarded-For: 1.2.3.4, 0:0:0:0:0:0:0:1'],
      '1.2.3.4',
    ],
    ['not a proxy for looking like one', ['X-Forwarded-For: 1.2.3.4, 010.0.0.1'], '010.0.0.1'],
  ]
  for (const [title, lines, from] of cases)
    test(title, async () => {
      expect(await takenFor(...lines)).toBe(from)
    })

  test('nobody where the list is longer than a head may be', async () => {
    const list = Array(10_000).fill('10.0.0.1').join(',')
    const answer = await say([
      'GET /v1/relay/messages HTTP/1.1',
      `X-Forwarded-For: 1.2.3.4,${list}`,
    ])
    expect(statusIn(answer)).toBe(431)
  })
})

describe('as one are counted', () => {
  const branch = async (client: string, method = 'GET') =>
    statusIn(
      await say([
        `${method} /auth/self-service/login?from=${flow.id} HTTP/1.1`,
        'Accept: text/html',
        `X-Forwarded-For: ${client}`,
      ]),
    )

  async function spend(client: string) {
    for (let n = 0; n < MAX; n++) expect(await branch(client)).toBe(303)
    expect(await branch(client)).toBe(429)
  }

  test('all of an IPv6 network of 64 bits, and not those of the next', async () => {
    await spend('2001:db8:0:1::1')
    expect(await branch('2001:db8:0:1:ffff::2')).toBe(429)
    expect(await branch('[2001:db8:0:1::3]:443')).toBe(429)
    expect(await branch('2001:db8:0:2::1')).toBe(303)
  })

  test('an IPv4 address, and the same wrapped in IPv6', async () => {
    await spend('1.2.3.4')
    expect(await branch('::ffff:1.2.3.4')).toBe(429)
    expect(await branch('::ffff:102:304')).toBe(429)
    expect(await branch('1.2.3.4:5678')).toBe(429)
    expect(await branch('1.2.3.5')).toBe(303)
  })

  test('a client, and what it adds on the left', async () => {
    await spend('1.2.3.4')
    expect(await branch('6.6.6.6, 1.2.3.4')).toBe(429)
  })

  test('a client that asks, and the same that asks for the head alone', async () => {
    await spend('1.2.3.4')
    expect(await branch('1.2.3.4', 'HEAD')).toBe(429)
  })

  test('a client that waits for answers, and the same that hangs up', async () => {
    await spend('1.2.3.4')
    const seen = requests().length
    const body = JSON.stringify({ method: 'code', email: 'a@b.example', csrf_token: flow.csrf })
    const head = [
      `POST /auth/self-service/recovery?flow=${flow.id} HTTP/1.1`,
      'Content-Type: application/json',
      'X-Forwarded-For: 1.2.3.4',
    ]

    await say(head, { body, hangUp: true })
    for (let n = 0; n < 5; n++) await takenFor('X-Forwarded-For: 1.2.3.5')

    const heard = requests().slice(seen)
    expect(heard.filter(({ method, status }) => method === 'POST' && status !== 429)).toEqual([])
  })
})
