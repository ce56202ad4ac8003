import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { serve } from '../../src/http/serve.ts'
import { useApp } from '../support/app.ts'

// Which address of a list counts is in client-address.test.ts.

/** Of sign-ins from one address in a minute. */
const MAX = 3

const flags = {
  'server-trusted-proxies': '127.0.0.0/8,10.0.0.0/8,::1',
  'limits-sign-ins-per-minute': `${MAX}`,
}
const app = await useApp({ flags })
const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
const { key } = await (await app.tenant()).key('gate')
const { body: flow } = await app.client(key).get('/v1/gate/auth/recovery')
const isToken = ({ attributes }: { attributes: { name: string } }) =>
  attributes.name === 'csrf_token'
const csrf_token = flow.ui.nodes.find(isToken).attributes.value

/** All buckets are full again. */
beforeEach(() => app.clock.advance(60_000))
afterAll(() => listener.stop())

const requests = () =>
  app.log.map((line) => JSON.parse(line)).filter(({ message }) => message === 'request')

/** The status of what a client library would join, drop or refuse to send; none after a hang-up. */
function say(head: string[], { body = '', hangUp = false } = {}): Promise<number> {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  const lines = [...head, 'Host: localhost', ...length, 'Connection: close', '', body]
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(listener.port, '127.0.0.1', () =>
      socket.write(lines.join('\r\n'), () => hangUp && socket.resetAndDestroy()),
    )
    socket.on('data', (chunk) => (answer += chunk))
    socket.on('close', () => resolve(Number(answer.split(' ', 2)[1])))
    socket.on('error', reject)
  })
}

test('Behind a trusted proxy, the client is the last of several fields or lists', async () => {
  const LINE = 'GET /v1/relay/messages HTTP/1.1'
  for (const lines of [
    ['X-Forwarded-For: 6.6.6.6', 'x-forwarded-for: 1.2.3.4'],
    ['X-Forwarded-For: 6.6.6.6, 7.7.7.7', 'X-Forwarded-For: 1.2.3.4, 10.0.0.2'],
  ]) {
    await say([LINE, ...lines])
    expect(requests().at(-1).from).toBe('1.2.3.4')
  }
  const list = Array(10_000).fill('10.0.0.1').join(',')
  expect(await say([LINE, `X-Forwarded-For: 1.2.3.4,${list}`])).toBe(431)
})

describe('These count as one client:', () => {
  const branch = (client: string, method = 'GET') =>
    say([
      `${method} /auth/self-service/login?from=${flow.id} HTTP/1.1`,
      'Accept: text/html',
      `X-Forwarded-For: ${client}`,
    ])

  test.each([
    ['an IPv6 network of 64 bits', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
    ['one with a port', '2001:db8:0:1::1', '[2001:db8:0:1::3]:443', '2001:db8:0:2::1'],
    ['an IPv4 address in IPv6', '1.2.3.4', '::ffff:1.2.3.4', '1.2.3.5'],
    ['one in hexadecimal', '1.2.3.4', '::ffff:102:304', '1.2.3.5'],
    ['one with a port', '1.2.3.4', '1.2.3.4:5678', '1.2.3.5'],
    ['what a client adds on the left', '1.2.3.4', '6.6.6.6, 1.2.3.4', '1.2.3.5'],
  ])('%s', async (_, client, same, other) => {
    for (let n = 0; n < MAX; n++) expect(await branch(client)).toBe(303)
    expect(await branch(client)).toBe(429)
    expect(await branch(same)).toBe(429)
    expect(await branch(client, 'HEAD')).toBe(429)
    expect(await branch(other)).toBe(303)
  })

  test('a client that waits for answers, and the same that hangs up', async () => {
    for (let n = 0; n < MAX; n++) await branch('1.2.3.4')
    const seen = requests().length
    const body = JSON.stringify({ method: 'code', email: 'a@b.example', csrf_token })
    const head = [
      `POST /auth/self-service/recovery?flow=${flow.id} HTTP/1.1`,
      'Content-Type: application/json',
      'X-Forwarded-For: 1.2.3.4',
    ]
    await say(head, { body, hangUp: true })
    for (let n = 0; n < 5; n++) await say(['GET /healthz HTTP/1.1'])
    const heard = requests().slice(seen)
    expect(heard.filter(({ method, status }) => method === 'POST' && status !== 429)).toEqual([])
  })
})
