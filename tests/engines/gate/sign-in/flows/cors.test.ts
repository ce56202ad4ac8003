import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { serve } from '../../../../../src/http/serve.ts'
import type { Json } from '../../fixture.ts'
import { HOUR, MINUTE } from '../../identities/people.ts'
import { bootChecked, type Checked } from './checked.ts'
import { AUTH, bootFlows, csrfOf, PASSWORD, pathOf, SELF_SERVICE } from './fixture.ts'

const ORIGIN = { origin: 'https://app.example.com' }
const JSON_TYPE = { 'content-type': 'application/json' }

let fixture: Checked
let token: string
beforeAll(async () => {
  fixture = await bootChecked()
  token = (await fixture.register('somebody@example.com')).session_token
})
afterAll(() => fixture[Symbol.asyncDispose]())

const start = (kind: string) => fixture.start(kind, { 'x-session-token': token })

const corsIn = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))

const list = (text: string | null | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .sort()

const preflight = (path: string, method = 'POST', asked = 'content-type') =>
  fixture.app.raw(path, {
    method: 'OPTIONS',
    headers: {
      ...ORIGIN,
      'access-control-request-method': method,
      'access-control-request-headers': asked,
    },
  })

describe('a page of another origin', () => {
  test.each(FLOW_KINDS)('is told beforehand that it may send a form: %s', async (kind) => {
    const { status, body, headers } = await preflight(pathOf((await start(kind)).ui.action))
    expect({ status, body }).toEqual({ status: 204, body: '' })
    const cors = corsIn(headers)
    expect(cors['access-control-allow-origin']).toBe('*')
    expect(list(cors['access-control-allow-methods'])).toEqual(['get', 'post'])
    expect(list(cors['access-control-allow-headers'])).toEqual([
      'accept',
      'accept-language',
      'content-type',
      'x-session-token',
    ])
    expect(Number(cors['access-control-max-age'])).toBe(600)
  })

  test('is told nothing about the flow by that, and changes nothing', async () => {
    const known = await preflight(pathOf((await start('login')).ui.action))
    const unknown = await preflight(`${SELF_SERVICE}/login?flow=nonsense`)
    const none = await preflight(`${SELF_SERVICE}/login`)
    for (const other of [unknown, none]) {
      expect(other.status).toBe(known.status)
      expect(corsIn(other.headers)).toEqual(corsIn(known.headers))
    }
  })

  test('may not bring what belongs to a browser or a server along', async () => {
    const { headers } = await preflight(`${SELF_SERVICE}/login`)
    expect(headers.has('access-control-allow-credentials')).toBe(false)
    expect(list(headers.get('access-control-allow-headers'))).not.toContain('authorization')
    expect(list(headers.get('access-control-allow-headers'))).not.toContain('cookie')
  })

  /** What may come of a form, and how it comes to it. */
  const OUTCOMES: [status: number, asked: () => Promise<{ status: number; headers: Headers }>][] = [
    [200, async () => send(await start('login'), { ...LOGIN, password: PASSWORD })],
    [422, async () => send(await start('login'), { ...LOGIN, password: 'wrong' })],
    [403, async () => send(await start('login'), { csrf_token: 'x' })],
    [404, async () => fixture.app.raw(`${SELF_SERVICE}/login?flow=x`, { headers: ORIGIN })],
    [404, async () => post(`${SELF_SERVICE}/login?flow=x`, '{}')],
    [400, async () => fixture.app.raw(`${SELF_SERVICE}/login`, { headers: ORIGIN })],
    [400, async () => post(await pathOfNew('login'), '{')],
    [400, async () => post(await pathOfNew('login'), '[]')],
    [415, async () => post(await pathOfNew('login'), '{}', { 'content-type': 'text/plain' })],
    [415, async () => post(await pathOfNew('login'), '{}', { 'content-encoding': 'gzip' })],
    [413, async () => post(await pathOfNew('login'), 'x'.repeat(1_048_577))],
    [401, async () => fixture.app.raw(await pathOfNew('settings'), { headers: ORIGIN })],
    [401, async () => post(await pathOfNew('login'), '{}', { authorization: 'Bearer x' })],
  ]
  const LOGIN = { method: 'password', identifier: 'somebody@example.com' }
  const pathOfNew = async (kind: string) => pathOf((await start(kind)).ui.action)
  const send = (flow: Json, fields: Json) => fixture.send(flow, fields, ORIGIN)
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fixture.app.raw(path, {
      method: 'POST',
      headers: { ...ORIGIN, ...JSON_TYPE, ...headers },
      body,
    })

  test.each(OUTCOMES.map(([status, asked], at) => [status, at, asked] as const))(
    'can read what came of it: %i, case %i',
    async (status, _, asked) => {
      const answer = await asked()
      expect(answer.status).toBe(status)
      expect(corsIn(answer.headers)).toMatchObject({ 'access-control-allow-origin': '*' })
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
    },
  )

  test('can read when to try again', async () => {
    await using own = await bootChecked({ flags: { 'limits-sign-ins-per-minute': '1' } })
    await own.tryPassword('nobody@example.com')
    const answer = await own.tryPassword('nobody@example.com')
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(list(answer.headers.get('access-control-expose-headers'))).toContain('retry-after')
  })

  test('can read where to go on from an expired flow', async () => {
    await using own = await bootChecked()
    const flow = await own.start('login')
    own.clock.jump(HOUR)
    const answer = await own.send(flow, {}, ORIGIN)
    expect(answer.status).toBe(410)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('reads no endpoint that is for servers', async () => {
    for (const method of ['GET', 'OPTIONS'])
      for (const path of [`${AUTH}/login`, `${AUTH}/recovery/submit`, '/v1/gate/sessions/whoami']) {
        const request = new Request(`http://localhost${path}`, {
          method,
          headers: { ...ORIGIN, authorization: `Bearer ${fixture.key}` },
        })
        expect(corsIn((await fixture.app.app.handle(request)).headers)).toEqual({})
      }
  })

  test('is answered the same, whatever cookies there are', async () => {
    const flow = await start('login')
    const plain = await fixture.app.raw(pathOf(flow.ui.action), { headers: ORIGIN })
    for (const cookie of ['gatehouse_browser=x', `gatehouse_browser=${token}`, 'a=b; c=d']) {
      const other = await fixture.app.raw(pathOf(flow.ui.action), {
        headers: { ...ORIGIN, cookie },
      })
      expect(other.body).toEqual(plain.body)
      expect(other.headers.has('set-cookie')).toBe(false)
    }
  })
})

describe('an answer about a flow', () => {
  test('is kept by nobody, and differs by what the asker reads', async () => {
    const flow = await start('login')
    const read = await fixture.app.raw(pathOf(flow.ui.action))
    const sent = await fixture.send(flow, { method: 'password' })
    const started = await fixture.ask('login')
    for (const { headers } of [read, sent, started]) {
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
    expect(list(read.headers.get('vary'))).toEqual(['accept', 'accept-language'])
  })

  test('is JSON unless a page is asked for', async () => {
    const path = pathOf((await start('login')).ui.action)
    const typeFor = async (accept: string | undefined) => {
      const headers = accept === undefined ? undefined : { accept }
      return (await fixture.app.raw(path, { headers })).headers.get('content-type')
    }
    for (const accept of [undefined, '', '*/*', 'application/json', 'text/plain', 'text/*'])
      expect(await typeFor(accept), accept).toStartWith('application/json')
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const accept of ['text/html', browser])
      expect(await typeFor(accept), accept).toStartWith('text/html')
  })
})

describe('over a socket, HEAD', () => {
  async function listening() {
    const own = await bootFlows()
    const listener = serve(own.app.app, { host: '127.0.0.1', port: 0 }, own.app.platform.log)
    return {
      ...own,
      url: listener.url,
      [Symbol.asyncDispose]: async () => {
        await listener.stop()
        await own.app.stop()
      },
    }
  }

  test('is as GET without the body, for flows and for pages', async () => {
    await using own = await listening()
    const { ui } = await own.start('login')
    for (const accept of ['application/json', 'text/html']) {
      const got = await fetch(own.url + pathOf(ui.action), { headers: { accept } })
      const text = await got.text()
      const head = await fetch(own.url + pathOf(ui.action), { method: 'HEAD', headers: { accept } })
      expect(await head.text()).toBe('')
      expect(head.status).toBe(got.status)
      expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'))
      expect(head.headers.get('content-length')).toBe(`${Buffer.byteLength(text)}`)
      expect(corsIn(head.headers)).toEqual(corsIn(got.headers))
    }
  })

  test('answers for refusals too, and asks for a key where GET does', async () => {
    await using own = await listening()
    const { ui } = await own.start('login')
    const head = (path: string) => fetch(own.url + path, { method: 'HEAD' })
    expect((await head(`${SELF_SERVICE}/login?flow=x`)).status).toBe(404)
    expect((await head(`${SELF_SERVICE}/login`)).status).toBe(400)
    expect((await head(`${AUTH}/login`)).status).toBe(401)
    own.clock.jump(60 * MINUTE)
    // To say where one can go on, GET begins another flow: HEAD writes nothing.
    expect((await head(pathOf(ui.action))).status).toBe(405)
  })

  test('a whole sign-in goes over it, from a page of another origin', async () => {
    await using own = await listening()
    await own.register('one@example.com')
    const flow = await own.start('login')
    const asked = await fetch(own.url + pathOf(flow.ui.action), {
      method: 'OPTIONS',
      headers: { ...ORIGIN, 'access-control-request-method': 'POST' },
    })
    expect(asked.status).toBe(204)
    const answer = await fetch(own.url + pathOf(flow.ui.action), {
      method: 'POST',
      headers: { ...ORIGIN, ...JSON_TYPE, 'user-agent': 'Browser/1.0' },
      body: JSON.stringify({
        csrf_token: csrfOf(flow),
        method: 'password',
        identifier: 'one@example.com',
        password: PASSWORD,
      }),
    })
    const { session }: Json = await answer.json()
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(session.devices).toEqual([
      {
        id: expect.any(String),
        ip_address: '127.0.0.1',
        user_agent: 'Browser/1.0',
        location: null,
      },
    ])
  })
})
