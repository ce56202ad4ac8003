import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { serve } from '../../../../../src/http/serve.ts'
import { HOUR, type Json } from '../../fixture.ts'
import { ADA, withToken } from './acts.ts'
import { useFlows } from './code-fixture.ts'
import { AUTH, bootFlows, csrfOf, type Flows, PASSWORD, pathOf, SELF_SERVICE } from './fixture.ts'

const ORIGIN = { origin: 'https://app.example.com' }
const JSON_TYPE = { 'content-type': 'application/json' }

const { app, clock, newTenant } = await useFlows()
let acme: Flows
let token: string
beforeEach(async () => {
  acme = await newTenant()
  token = (await acme.register(ADA)).session_token
})

const pathOfNew = async (kind: string) =>
  pathOf((await acme.start(kind, withToken(token))).ui.action)

const corsIn = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'accept, accept-language, content-type, x-session-token',
  'access-control-max-age': '600',
  'access-control-expose-headers': 'retry-after',
}

describe('A page of another origin', () => {
  test('may send a form, which the preflight of any flow tells, known or not', async () => {
    const preflight = {
      ...ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    }
    const known = await Promise.all(FLOW_KINDS.map(pathOfNew))
    const unknown = [`${SELF_SERVICE}/login?flow=nonsense`, `${SELF_SERVICE}/login`]
    for (const path of [...known, ...unknown]) {
      const { status, body, headers } = await app.raw(path, {
        method: 'OPTIONS',
        headers: preflight,
      })
      expect({ status, body }).toEqual({ status: 204, body: '' })
      expect(corsIn(headers)).toEqual(CORS)
    }
  })

  const LOGIN = { method: 'password', identifier: ADA }
  const get = (path: string) => app.raw(path, { headers: ORIGIN })
  const post = (path: string, body: string, more: Record<string, string> = {}) =>
    app.raw(path, { method: 'POST', headers: { ...ORIGIN, ...JSON_TYPE, ...more }, body })
  const send = async (fields: Json) => acme.send(await acme.start('login'), fields, ORIGIN)

  test.each<[number, string, () => Promise<{ status: number; headers: Headers }>]>([
    [200, 'a sign-in', () => send({ ...LOGIN, password: PASSWORD })],
    [422, 'a wrong password', () => send({ ...LOGIN, password: 'wrong' })],
    [403, 'a wrong token', () => send({ csrf_token: 'x' })],
    [404, 'an unknown flow', () => get(`${SELF_SERVICE}/login?flow=x`)],
    [404, 'a form of one', () => post(`${SELF_SERVICE}/login?flow=x`, '{}')],
    [400, 'no flow', () => get(`${SELF_SERVICE}/login`)],
    [400, 'no JSON', async () => post(await pathOfNew('login'), '{')],
    [
      415,
      'text',
      async () => post(await pathOfNew('login'), '{}', { 'content-type': 'text/plain' }),
    ],
    [415, 'gzip', async () => post(await pathOfNew('login'), '{}', { 'content-encoding': 'gzip' })],
    [413, 'a large body', async () => post(await pathOfNew('login'), 'x'.repeat(1_048_577))],
    [401, 'settings without a token', async () => get(await pathOfNew('settings'))],
    [
      401,
      'a wrong key',
      async () => post(await pathOfNew('login'), '{}', { authorization: 'Bearer x' }),
    ],
  ])('can read a %d after %s', async (status, _, ask) => {
    const answer = await ask()
    expect(answer.status).toBe(status)
    expect(corsIn(answer.headers)).toEqual(CORS)
  })

  test('can read an expired flow’s answer, and when to try again', async () => {
    const flow = await acme.start('login')
    clock.jump(HOUR)
    const expired = await acme.send(flow, {}, ORIGIN)
    expect(expired.status).toBe(410)

    await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '1' } })
    await own.tryPassword(ADA)
    const limited = await own.tryPassword(ADA)
    expect(limited.status).toBe(429)
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/)
    for (const { headers } of [expired, limited]) expect(corsIn(headers)).toEqual(CORS)
  })

  test('cannot read endpoints for servers', async () => {
    for (const method of ['GET', 'OPTIONS'])
      for (const path of [`${AUTH}/login`, `${AUTH}/recovery/submit`, '/v1/gate/sessions/whoami']) {
        const headers = { ...ORIGIN, authorization: `Bearer ${acme.key}` }
        expect(corsIn((await app.raw(path, { method, headers })).headers)).toEqual({})
      }
  })

  test('gets the same answer whatever the cookies are', async () => {
    const path = await pathOfNew('login')
    const plain = await get(path)
    for (const cookie of ['gatehouse_browser=x', `gatehouse_browser=${token}`, 'a=b; c=d']) {
      const other = await app.raw(path, { headers: { ...ORIGIN, cookie } })
      expect(other.body).toEqual(plain.body)
      expect(other.headers.has('set-cookie')).toBe(false)
    }
  })
})

test('Answers about flows are not stored by anyone', async () => {
  const flow = await acme.start('login')
  const read = await app.raw(pathOf(flow.ui.action))
  const sent = await acme.send(flow, { method: 'password' })
  for (const { headers } of [read, sent, await acme.ask('login')]) {
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
})

describe('Over a socket', () => {
  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  afterAll(listener.stop)

  test('HEAD is GET without the body, but starts no new flow', async () => {
    const url = listener.url + (await pathOfNew('login'))
    for (const accept of ['application/json', 'text/html']) {
      const got = await fetch(url, { headers: { accept } })
      const text = await got.text()
      const head = await fetch(url, { method: 'HEAD', headers: { accept } })
      expect(await head.text()).toBe('')
      expect(head.status).toBe(got.status)
      expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'))
      expect(head.headers.get('content-length')).toBe(`${Buffer.byteLength(text)}`)
      expect(corsIn(head.headers)).toEqual(corsIn(got.headers))
    }
    const head = async (path: string) =>
      (await fetch(listener.url + path, { method: 'HEAD' })).status
    expect(await head(`${SELF_SERVICE}/login?flow=x`)).toBe(404)
    expect(await head(`${SELF_SERVICE}/login`)).toBe(400)
    expect(await head(`${AUTH}/login`)).toBe(401)
    clock.jump(HOUR)
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(405)
  })

  test('a session has the address of its browser', async () => {
    const flow = await acme.start('login')
    const fields = { method: 'password', identifier: ADA, password: PASSWORD }
    const answer = await fetch(listener.url + pathOf(flow.ui.action), {
      method: 'POST',
      headers: { ...ORIGIN, ...JSON_TYPE, 'user-agent': 'Browser/1.0' },
      body: JSON.stringify({ csrf_token: csrfOf(flow), ...fields }),
    })
    const { session }: Json = await answer.json()
    expect(corsIn(answer.headers)).toEqual(CORS)
    const device = { ip_address: '127.0.0.1', user_agent: 'Browser/1.0', location: null }
    expect(session.devices).toEqual([{ id: expect.any(String), ...device }])
  })
})
