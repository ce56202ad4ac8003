import { beforeEach, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { serve } from '../../../../../src/http/serve.ts'
import { HOUR } from '../../fixture.ts'
import { ADA, withToken } from './acts.ts'
import { useFlows } from './code-fixture.ts'
import { AUTH, bootFlows, type Flows, PASSWORD, pathOf, SELF_SERVICE } from './fixture.ts'

const ORIGIN = { origin: 'https://app.example.com' }
const JSON_TYPE = { 'content-type': 'application/json' }
const LOGIN = { method: 'password', identifier: ADA, password: PASSWORD }

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

const get = (path: string) => app.raw(path, { headers: ORIGIN })
const post = (path: string, body: string, more: Record<string, string> = {}) =>
  app.raw(path, { method: 'POST', headers: { ...ORIGIN, ...JSON_TYPE, ...more }, body })

describe('A page of another origin', () => {
  test('may send a form, which the preflight of any flow tells, known or not', async () => {
    const headers = { ...ORIGIN, 'access-control-request-method': 'POST' }
    const known = await Promise.all(FLOW_KINDS.map(pathOfNew))
    for (const path of [...known, `${SELF_SERVICE}/login?flow=nonsense`, `${SELF_SERVICE}/login`]) {
      const answer = await app.raw(path, { method: 'OPTIONS', headers })
      expect(answer).toMatchObject({ status: 204, body: '' })
      expect(corsIn(answer.headers)).toEqual(CORS)
    }
  })

  test('can read every answer, and when to try again', async () => {
    const flow = await acme.start('login')
    const path = pathOf(flow.ui.action)
    const unknown = `${SELF_SERVICE}/login?flow=x`
    const answers = [
      [422, await acme.send(flow, { ...LOGIN, password: 'wrong' }, ORIGIN)],
      [403, await acme.send(flow, { csrf_token: 'x' }, ORIGIN)],
      [404, await get(unknown)],
      [404, await post(unknown, '{}')],
      [400, await get(`${SELF_SERVICE}/login`)],
      [400, await post(path, '{')],
      [415, await post(path, '{}', { 'content-type': 'text/plain' })],
      [415, await post(path, '{}', { 'content-encoding': 'gzip' })],
      [413, await post(path, 'x'.repeat(1_048_577))],
      [401, await post(path, '{}', { authorization: 'Bearer x' })],
      [401, await get(await pathOfNew('settings'))],
      [200, await acme.send(flow, LOGIN, ORIGIN)],
    ] as const
    const open = await acme.start('login')
    clock.jump(HOUR)
    const expired = await acme.send(open, {}, ORIGIN)

    await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '1' } })
    await own.tryPassword(ADA)
    const limited = await own.tryPassword(ADA)
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/)
    for (const [status, answer] of [...answers, [410, expired], [429, limited]] as const) {
      expect(answer.status).toBe(status)
      expect(corsIn(answer.headers)).toEqual(CORS)
    }
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

test('Answers about flows are not stored, and HEAD starts no new flow', async () => {
  const flow = await acme.start('login')
  const path = pathOf(flow.ui.action)
  const sent = await acme.send(flow, { method: 'password' })
  for (const { headers } of [await get(path), sent, await acme.ask('login')])
    expect(headers.get('cache-control')).toBe('no-store')

  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  const head = (path: string) => fetch(listener.url + path, { method: 'HEAD', headers: ORIGIN })
  const open = await head(path)
  expect([open.status, corsIn(open.headers)]).toEqual([200, CORS])
  expect((await head(`${SELF_SERVICE}/login?flow=x`)).status).toBe(404)
  expect((await head(`${AUTH}/login`)).status).toBe(401)
  clock.jump(HOUR)
  expect((await head(path)).status).toBe(405)
  await listener.stop()
})
