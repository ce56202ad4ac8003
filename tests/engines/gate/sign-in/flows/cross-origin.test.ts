import { beforeEach, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { serve } from '../../../../../src/http/serve.ts'
import type { Answer } from '../../../../support/app.ts'
import { count, HOUR, type Json } from '../../fixture.ts'
import { ADA, FORMS, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { useFlows } from './code-fixture.ts'
import { AUTH, bootFlows, csrfOf, type Flows, pathOf, SELF_SERVICE } from './fixture.ts'

const error = 'csrf_token: is missing, or belongs to another flow'
const REFUSED = { status: 403, body: { error, id: 'security_csrf_violation' } }

const { app, clock, newTenant } = await useFlows()
let acme: Flows
let token: string
beforeEach(async () => {
  acme = await newTenant()
  token = (await acme.register(ADA)).session_token
})

const start = (kind: string) => acme.start(kind, withToken(token))

/** Sends these fields and no others. */
const send = (flow: Json, fields: Json, headers: Record<string, string> = {}) =>
  app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...withToken(token), ...headers },
    body: JSON.stringify(fields),
  })

const ORIGIN = { origin: 'https://app.example.com' }
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'accept, accept-language, content-type, x-session-token',
  'access-control-max-age': '600',
  'access-control-expose-headers': 'retry-after',
}
const corsIn = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))

const TABLES = ['gate_identities', 'gate_sessions', 'gate_codes', 'mails', 'gate_flows']
const rows = () => TABLES.map((table) => count(app, table))

test.each(FLOW_KINDS)('A %s form does nothing without the token of its flow', async (kind) => {
  const flow = await start(kind)
  const good = csrfOf(flow)
  const others = [csrfOf(await start(kind)), csrfOf(await start('verification'))]
  const near = [good.slice(1), `${good}0`, good.toUpperCase(), '0'.repeat(64), flow.id]
  const before = rows()
  for (const csrf_token of [undefined, null, '', 0, true, {}, [good], ...near, ...others])
    expect(await send(flow, { ...FORMS[kind], csrf_token })).toMatchObject(REFUSED)
  expect(await send(flow, { method: ['password'] })).toMatchObject(REFUSED)
  expect(rows()).toEqual(before)

  const failed = await send(flow, { csrf_token: good, method: 'nonsense' })
  expect([failed.status, csrfOf(failed.body)]).toEqual([422, good])
  expect(await send(flow, { ...FORMS[kind], csrf_token: good })).toMatchObject({ status: 200 })
})

test('A token counts in the body only, of several in a form the last one', async () => {
  const flow = await start('login')
  const good = csrfOf(flow)
  const elsewhere = { 'x-csrf-token': good, cookie: `csrf_token=${good}` }
  expect(await send(flow, FORMS.login, elsewhere)).toMatchObject(REFUSED)
  const inQuery = { ui: { action: `${flow.ui.action}&csrf_token=${good}` } }
  expect(await send(inQuery, FORMS.login)).toMatchObject(REFUSED)
  const sendForm = (...tokens: string[]) => {
    const fields = tokens.map((one): [string, string] => ['csrf_token', one])
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = `${new URLSearchParams([...fields, ...Object.entries<string>(FORMS.login)])}`
    return app.raw(pathOf(flow.ui.action), { method: 'POST', headers, body })
  }
  expect(await sendForm()).toMatchObject(REFUSED)
  expect(await sendForm(good, 'x')).toMatchObject(REFUSED)
  expect(await sendForm('x', good)).toMatchObject({ status: 200 })
})

test('A wrong token is no attempt at the password; it differs between installations', async () => {
  const limit = { 'limits-sign-ins-per-identifier-per-minute': '1' }
  await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '2', ...limit } })
  await own.register(ADA)
  const theirs = await own.start('login')
  for (let n = 0; n < 3; n++)
    expect(await own.send(theirs, { ...FORMS.login, csrf_token: 'x' })).toMatchObject(REFUSED)
  expect(await own.send(theirs, FORMS.login)).toMatchObject({ status: 200 })
  await own.tryPassword(ADA, 'wrong')
  const limited = await own.tryPassword(ADA)
  expect([limited.status, corsIn(limited.headers)]).toEqual([429, CORS])
  expect(limited.headers.get('retry-after')).toMatch(/^\d+$/)

  const flow = await start('login')
  const { id } = await own.start('login')
  own.app.db.client.run('update gate_flows set id = ? where id = ?', [flow.id, id])
  const { body } = await own.read(flow.ui.action)
  expect(body.id).toBe(flow.id)
  expect(csrfOf(body)).not.toBe(csrfOf(flow))
})

test('The token of a page works in its browser, and for no program', async () => {
  const flow = await start('login')
  const [browser, other] = [newBrowser(app), newBrowser(app)]
  const page = await browser.visit(flow.ui.action)
  await other.visit(flow.ui.action)
  const csrf_token = page.forms[0]?.hidden.csrf_token as string
  expect(csrf_token).toMatch(/^[0-9a-f]{128}$/)
  // Masked anew, since a page is compressed.
  const again = (await browser.visit(flow.ui.action)).forms[0]?.hidden.csrf_token as string
  expect(again).not.toBe(csrf_token)
  const post = (by: typeof browser, given: string) =>
    by.post(flow.ui.action, { csrf_token: given, ...FORMS.login })
  for (const stranger of [newBrowser(app), other])
    expect(await post(stranger, csrf_token)).toMatchObject({ status: 403, forms: [] })
  const altered = `${csrf_token[0] === '0' ? '1' : '0'}${csrf_token.slice(1)}`
  for (const wrong of ['', 'x', csrfOf(flow), altered])
    expect(await post(browser, wrong)).toMatchObject({ status: 403, forms: [] })
  expect(await send(flow, { ...FORMS.login, csrf_token })).toMatchObject(REFUSED)
  expect((await post(browser, csrf_token)).status).toBe(303)
})

test('A token is needed to learn that a flow is over or expired', async () => {
  const flow = await start('login')
  await acme.sendWell(flow, FORMS.login)
  expect(await acme.send(flow, { csrf_token: 'x' })).toMatchObject(REFUSED)
  clock.jump(HOUR)
  expect(await acme.send(flow, { csrf_token: 'x' })).toMatchObject(REFUSED)
  expect(await acme.send(flow, {})).toMatchObject({ status: 410 })
})

const get = (path: string) => app.raw(path, { headers: ORIGIN })
const post = (path: string, body: string, more: Record<string, string> = {}) =>
  app.raw(path, {
    method: 'POST',
    headers: { ...ORIGIN, 'content-type': 'application/json', ...more },
    body,
  })

test('A page of another origin may send a form, which the preflight of any flow tells', async () => {
  const headers = { ...ORIGIN, 'access-control-request-method': 'POST' }
  for (const path of [`${SELF_SERVICE}/settings?flow=x`, `${SELF_SERVICE}/login`]) {
    const answer = await app.raw(path, { method: 'OPTIONS', headers })
    expect(answer).toMatchObject({ status: 204, body: '' })
    expect(corsIn(answer.headers)).toEqual(CORS)
  }
})

test('A page of another origin can read every answer about a flow, which is not stored', async () => {
  const flow = await acme.start('login')
  const path = pathOf(flow.ui.action)
  const unknown = `${SELF_SERVICE}/login?flow=x`
  const answers: [number, Answer][] = [
    [422, await acme.send(flow, { ...FORMS.login, password: 'wrong' }, ORIGIN)],
    [403, await acme.send(flow, { csrf_token: 'x' }, ORIGIN)],
    [404, await get(unknown)],
    [404, await post(unknown, '{}')],
    [400, await get(`${SELF_SERVICE}/login`)],
    [400, await post(path, '{')],
    [415, await post(path, '{}', { 'content-type': 'text/plain' })],
    [413, await post(path, 'x'.repeat(1_048_577))],
    [401, await post(path, '{}', { authorization: 'Bearer x' })],
    [401, await get(pathOf((await start('settings')).ui.action))],
    [200, await acme.send(flow, FORMS.login, ORIGIN)],
  ]
  const open = await acme.start('login')
  clock.jump(HOUR)
  answers.push([410, await acme.send(open, {}, ORIGIN)])
  for (const [status, { headers, ...answer }] of answers) {
    expect(answer.status).toBe(status)
    expect(corsIn(headers)).toEqual(CORS)
    expect(headers.get('cache-control')).toBe('no-store')
  }
})

test('A page of another origin cannot read endpoints for servers, and its cookies change nothing', async () => {
  for (const method of ['GET', 'OPTIONS'])
    for (const path of [`${AUTH}/login`, `${AUTH}/recovery/submit`]) {
      const headers = { ...ORIGIN, authorization: `Bearer ${acme.key}` }
      expect(corsIn((await app.raw(path, { method, headers })).headers)).toEqual({})
    }
  const path = pathOf((await start('login')).ui.action)
  const headers = { ...ORIGIN, cookie: `gatehouse_browser=${token}` }
  const answer = await app.raw(path, { headers })
  expect(answer.body).toEqual((await get(path)).body)
  expect(answer.headers.has('set-cookie')).toBe(false)
})

test('HEAD reads flows and starts no new one', async () => {
  const path = pathOf((await acme.start('login')).ui.action)
  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  const head = (path: string) => fetch(listener.url + path, { method: 'HEAD', headers: ORIGIN })
  const open = await head(path)
  expect([open.status, corsIn(open.headers)]).toEqual([200, CORS])
  expect((await head(`${AUTH}/login`)).status).toBe(401)
  clock.jump(HOUR)
  expect((await head(path)).status).toBe(405)
  await listener.stop()
})
