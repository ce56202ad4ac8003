import { beforeEach, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { ACTOR, count, DAY, HOUR, plain, SETTINGS, UNKNOWN_ID } from '../../fixture.ts'
import { ADA, withToken } from './acts.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import { AUTH, csrfOf, PASSWORD, pathOf, SELF_SERVICE } from './fixture.ts'

const NOT_FOUND = { status: 404, body: { error: 'flow not found', id: 'flow_not_found' } }

const { app, clock, newTenant } = await useFlows()
let acme: Tenant
let headers: { 'x-session-token': string }
beforeEach(async () => {
  acme = await newTenant()
  headers = withToken((await acme.register(ADA)).session_token)
})

const flowsKept = () => count(app, 'gate_flows')

const request = (method: string, path: string, authorization?: string) =>
  app.raw(path, { method, headers: { ...headers, ...(authorization && { authorization }) } })

const keyOf = async (...of: Parameters<typeof acme.newKey>) =>
  `Bearer ${(await acme.newKey(...of)).key}`

test('A suspended tenant starts no flow, and its open ones can be read', async () => {
  const open = await acme.start('login')
  const { suspend, resume } = app.platform.tenants
  await suspend(ACTOR, acme.id, 'billing')
  const before = flowsKept()
  for (const kind of FLOW_KINDS)
    expect(await acme.ask(kind, headers)).toMatchObject(plain(402, 'the account is suspended'))
  expect(flowsKept()).toBe(before)
  expect(await request('GET', pathOf(open.ui.action))).toMatchObject({ status: 200 })
  await resume(ACTOR, acme.id)
  expect(await acme.ask('login')).toMatchObject({ status: 200 })
})

test.each([
  ['settings', ''],
  ['login', '?aal=aal2'],
  ['login', '?refresh=true'],
  ['login', '?aal=aal2&refresh=true'],
])('A flow for a session needs its token: %s%s', async (kind, query) => {
  const ended = await acme.register('ended@example.com')
  await acme.api.delete(`/v1/gate/sessions/${ended.session.id}`)
  const stranger = await (await newTenant()).register(ADA)
  const missing = await acme.ask(kind, {}, query)
  expect(missing.headers.get('www-authenticate')).toBe('Bearer')
  expect(missing).toMatchObject(plain(401, 'X-Session-Token'))
  const token = headers['x-session-token']
  const others = [ended, stranger].map(({ session_token }) => session_token)
  for (const wrong of ['', 'gat_st_', 'nonsense', `${token}x`, token.slice(0, -1), ...others]) {
    const answer = await acme.ask(kind, withToken(wrong), query)
    expect(answer, wrong).toMatchObject(plain(401, 'session token'))
  }
  clock.jump(DAY)
  expect(await acme.ask('settings', headers)).toMatchObject(plain(401, 'ended'))
})

test('A flow for a session is not asked for by another value', async () => {
  for (const [query, words] of [
    ['?aal=aal3', 'aal: must be one of aal1, aal2'],
    ['?refresh=1', 'refresh: must be one of true, false'],
  ])
    expect(await acme.ask('login', headers, query)).toMatchObject(plain(400, words))
})

test('The address of a flow has its kind and its id, and may have parameters that links collect', async () => {
  const { ui, id } = await acme.start('login')
  for (const method of ['GET', 'POST']) {
    const at = (rest: string) => request(method, `${SELF_SERVICE}/${rest}`)
    for (const wrong of FLOW_KINDS.filter((other) => other !== 'login'))
      expect(await at(`${wrong}?flow=${id}`)).toMatchObject(NOT_FOUND)
    for (const wrong of ['', 'x', UNKNOWN_ID, id.toUpperCase(), `${id}%00`, 'x'.repeat(5000)])
      expect(await at(`login?flow=${wrong}`)).toMatchObject(NOT_FOUND)
    for (const kind of ['logout', 'Login', 'login%2f', '__proto__', 'constructor'])
      expect(await at(`${kind}?flow=${id}`)).toMatchObject(plain(404, 'no such route'))
    expect(await at('login')).toMatchObject(plain(400, 'flow: is required'))
  }
  const longer = `${pathOf(ui.action)}&utm_source=mail&fbclid=1`
  expect(await request('GET', longer)).toMatchObject({ status: 200, body: { id } })
  const sent = await request('POST', longer)
  expect(sent).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
})

test('A server submits a flow of its tenant by its id, in the query or in the body', async () => {
  const fields = { method: 'profile', traits: { email: ADA } }
  const type = { 'content-type': 'application/json', authorization: `Bearer ${acme.key}` }
  const submit = (query: string, flow?: unknown) => {
    const body = JSON.stringify({ ...fields, flow })
    const init = { method: 'POST', headers: { ...headers, ...type }, body }
    return app.raw(`${AUTH}/settings/submit${query}`, init)
  }
  const start = () => acme.start('settings', headers)
  const [first, second, flow] = [await start(), await start(), await start()]
  const inQuery = await submit(`?flow=${first.id}`)
  expect(inQuery).toMatchObject({ status: 200, body: { id: first.id } })
  const both = await submit(`?flow=${first.id}`, second.id)
  expect(both).toMatchObject({ status: 200, body: { id: second.id } })
  for (const [query, flow] of [[''], ['?flow='], ['', ''], ['', 5], ['', [first.id]]] as const)
    expect(await submit(query, flow)).toMatchObject(plain(400, 'flow: is required'))

  const stranger = await newTenant()
  const body = { flow: flow.id, ...fields, csrf_token: csrfOf(flow) }
  expect(await stranger.submit('settings', body, headers)).toMatchObject(NOT_FOUND)
  const other = await acme.start('login')
  expect(await submit('', other.id)).toMatchObject(NOT_FOUND)
  clock.jump(HOUR)
  const before = flowsKept()
  expect(await stranger.submit('settings', body, headers)).toMatchObject(NOT_FOUND)
  expect(flowsKept()).toBe(before)
})

test('A key at the address of a flow needs the scope, and does not replace the token of the form', async () => {
  const login = { method: 'password', identifier: ADA, password: PASSWORD }
  const sendWith = async (authorization: string) =>
    acme.send(await acme.start('login'), login, { authorization })
  expect(await sendWith(`Bearer ${acme.key}`)).toMatchObject({ status: 200 })
  expect(await sendWith('Bearer nonsense')).toMatchObject(plain(401, 'invalid API key'))
  expect(await sendWith(await keyOf('relay'))).toMatchObject(plain(403, 'relay key'))
  const lacking = await keyOf('gate', 'live', ['identities:read'])
  expect(await sendWith(lacking)).toMatchObject(plain(403, 'flows'))
  const stranger = await newTenant()
  expect(await sendWith(`Bearer ${stranger.key}`)).toMatchObject(NOT_FOUND)
  const { ui } = await acme.start('login')
  const forged = await request('POST', pathOf(ui.action), `Bearer ${acme.key}`)
  expect(forged).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
})

test('The return URLs hold for all flows that the tenant starts from then on', async () => {
  const ask = (kind: string, url: string, of = acme) =>
    of.ask(kind, { ...headers, 'x-return-to': url })
  const listed = 'https://new.example.com/x'
  const other = 'https://app.example.com/in'
  const before = await ask('login', other)
  await acme.api.put(`${SETTINGS}/return-urls`, { return_urls: ['https://new.example.com/'] })
  const flows = flowsKept()
  for (const kind of FLOW_KINDS)
    expect(await ask(kind, other)).toMatchObject(plain(400, 'X-Return-To'))
  expect(flowsKept()).toBe(flows)
  expect(await ask('login', listed)).toMatchObject({ status: 200, body: { return_to: listed } })
  expect((await acme.read(before.body.ui.action)).body.return_to).toBe(other)
  expect((await ask('login', other, await newTenant())).body.return_to).toBe(other)
})
