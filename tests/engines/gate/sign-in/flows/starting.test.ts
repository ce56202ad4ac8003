import { beforeEach, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { ACTOR, count, DAY, HOUR, type Json, plain, UNKNOWN_ID } from '../../fixture.ts'
import { ADA, withToken } from './acts.ts'
import { AUTH, csrfOf, PASSWORD, pathOf, SELF_SERVICE, useFlows } from './fixture.ts'

const SUBMITTED = ['recovery', 'verification', 'settings'] as const
const NOT_FOUND = { status: 404, body: { error: 'flow not found', id: 'flow_not_found' } }

const { app, clock, newTenant } = await useFlows()
let acme: Awaited<ReturnType<typeof newTenant>>
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

describe('A flow', () => {
  test('is started with a key that has the scope flows, of any environment', async () => {
    for (const kind of FLOW_KINDS) {
      const narrow = await keyOf('gate', 'live', ['flows'])
      expect(await request('GET', `${AUTH}/${kind}`, narrow)).toMatchObject({ status: 200 })
      const inTest = await keyOf('gate', 'test')
      expect(await request('GET', `${AUTH}/${kind}`, inTest)).toMatchObject({ status: 200 })
    }
  })

  test.each([
    ['billing', 'the account is suspended'],
    ['renewal', 'the renewal is unpaid'],
  ] as const)(
    'cannot be started while the tenant is suspended for %s, but continues',
    async (reason, error) => {
      const open = await Promise.all(FLOW_KINDS.map((kind) => acme.start(kind, headers)))
      const { suspend, resume } = app.platform.tenants
      await suspend(ACTOR, acme.id, reason)
      const before = flowsKept()
      for (const kind of FLOW_KINDS)
        expect(await acme.ask(kind, headers)).toMatchObject({ status: 402, body: { error } })
      expect(flowsKept()).toBe(before)
      for (const { ui } of open)
        expect(await request('GET', pathOf(ui.action))).toMatchObject({ status: 200 })
      await resume(ACTOR, acme.id)
      expect(await acme.ask('login')).toMatchObject({ status: 200 })
    },
  )

  test('has one of five kinds, three of which can be submitted by the server', async () => {
    const { api } = acme
    for (const path of ['', '/', '/logout', '/Login', '/methods', '/login/x'])
      expect(await api.get(AUTH + path), path).toMatchObject(plain(404, 'no such route'))
    expect(await api.post(`${AUTH}/login`, {})).toMatchObject(plain(405, 'GET'))
    expect(await api.get(`${AUTH}/recovery/submit`)).toMatchObject(plain(405, 'POST'))
    for (const kind of ['login', 'registration'])
      expect((await api.post(`${AUTH}/${kind}/submit`, {})).status).toBe(404)
  })
})

describe('A flow for a session', () => {
  const KINDS = [
    ['settings', ''],
    ['login', '?aal=aal2'],
    ['login', '?refresh=true'],
    ['login', '?aal=aal2&refresh=true'],
  ] as const

  test.each(KINDS)('needs its token: %s%s', async (kind, query) => {
    const ended = await acme.register('ended@example.com')
    await acme.api.delete(`/v1/gate/sessions/${ended.session.id}`)
    const stranger = await (await newTenant()).register(ADA)
    const missing = await acme.ask(kind, {}, query)
    expect(missing.headers.get('www-authenticate')).toBe('Bearer')
    expect(missing).toMatchObject(plain(401, 'X-Session-Token'))
    const token = headers['x-session-token']
    const others = [ended, stranger].map(({ session_token }) => session_token)
    for (const wrong of ['', 'gat_st_', 'nonsense', `${token}x`, token.slice(0, -1), ...others])
      expect(await acme.ask(kind, withToken(wrong), query), wrong).toMatchObject(
        plain(401, 'session token'),
      )
  })

  test('needs a session that lasts', async () => {
    clock.jump(DAY - 1)
    expect(await acme.ask('settings', headers)).toMatchObject({ status: 200 })
    clock.jump(1)
    expect(await acme.ask('settings', headers)).toMatchObject(plain(401, 'ended'))
  })

  test.each([
    ['?aal=aal3', 'aal: must be one of aal1, aal2'],
    ['?aal=', 'aal: must be one of aal1, aal2'],
    ['?aal=AAL2', 'aal: must be one of aal1, aal2'],
    ['?refresh=1', 'refresh: must be one of true, false'],
    ['?refresh=TRUE', 'refresh: must be one of true, false'],
  ])('is not asked for by %s', async (query, words) => {
    expect(await acme.ask('login', headers, query)).toMatchObject(plain(400, words))
  })
})

describe('The address of a flow', () => {
  test.each(FLOW_KINDS)('is that of a %s', async (kind) => {
    const { id } = await acme.start(kind, headers)
    for (const wrong of FLOW_KINDS.filter((other) => other !== kind))
      for (const method of ['GET', 'POST'])
        expect(await request(method, `${SELF_SERVICE}/${wrong}?flow=${id}`)).toMatchObject(
          NOT_FOUND,
        )
  })

  test('has the id of a flow', async () => {
    const { id } = await acme.start('login')
    const long = 'x'.repeat(5000)
    for (const method of ['GET', 'POST']) {
      for (const wrong of ['', ' ', 'x', UNKNOWN_ID, id.toUpperCase(), `${id}%00`, `${id}'`, long])
        expect(await request(method, `${SELF_SERVICE}/login?flow=${wrong}`)).toMatchObject(
          NOT_FOUND,
        )
      for (const kind of ['logout', 'Login', 'login%2f', 'methods', '__proto__', 'constructor'])
        expect(await request(method, `${SELF_SERVICE}/${kind}?flow=${id}`)).toMatchObject(
          plain(404, 'no such route'),
        )
      const bare = await request(method, `${SELF_SERVICE}/login`)
      expect(bare).toMatchObject(plain(400, 'flow: is required'))
    }
  })

  test('may have other parameters, which links collect, but no other methods', async () => {
    const { ui, id } = await acme.start('verification')
    const longer = `${pathOf(ui.action)}&utm_source=mail&fbclid=1`
    expect(await request('GET', longer)).toMatchObject({ status: 200, body: { id } })
    const sent = await request('POST', longer)
    expect(sent).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const answer = await request(method, longer)
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('GET, POST')
    }
  })
})

describe('A submission by the tenant’s server', () => {
  let unknown = 0
  /** To an address that got no mail yet. */
  const fieldsFor = (kind: string): Json =>
    kind === 'settings'
      ? { method: 'profile', traits: { email: ADA } }
      : { method: 'code', email: `unknown-${unknown++}@example.com` }

  test.each(SUBMITTED)('of a %s names the flow in the body or in the URL', async (kind) => {
    const [first, second] = [await acme.start(kind, headers), await acme.start(kind, headers)]
    const submit = (query: string, flow?: unknown) =>
      app.raw(`${AUTH}/${kind}/submit${query}`, {
        method: 'POST',
        headers: {
          ...headers,
          authorization: `Bearer ${acme.key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ ...fieldsFor(kind), flow }),
      })
    const inQuery = await submit(`?flow=${first.id}`)
    expect(inQuery).toMatchObject({ status: 200, body: { id: first.id } })
    const both = await submit(`?flow=${first.id}`, second.id)
    expect(both).toMatchObject({ status: 200, body: { id: second.id } })
    for (const [query, flow] of [[''], ['?flow='], ['', ''], ['', 5], ['', [first.id]]] as const)
      expect(await submit(query, flow)).toMatchObject(plain(400, 'flow: is required'))
  })

  test.each(SUBMITTED)('of a %s finds no flow of another tenant or kind', async (kind) => {
    const stranger = await newTenant()
    const flow = await acme.start(kind, headers)
    const body = { flow: flow.id, ...fieldsFor(kind), csrf_token: csrfOf(flow) }
    expect(await stranger.submit(kind, body, headers)).toMatchObject(NOT_FOUND)
    for (const wrong of FLOW_KINDS.filter((other) => other !== kind)) {
      const other = await acme.start(wrong, headers)
      expect(await acme.submit(kind, { ...body, flow: other.id }, headers)).toMatchObject(NOT_FOUND)
    }
    clock.jump(HOUR)
    const before = flowsKept()
    expect(await stranger.submit(kind, body, headers)).toMatchObject(NOT_FOUND)
    expect(flowsKept()).toBe(before)
  })
})

describe('A key at the address of a flow', () => {
  const login = { method: 'password', identifier: ADA, password: PASSWORD }

  test('may be sent, if it has the scope, and does not replace the token of the form', async () => {
    const sendWith = async (authorization: string) =>
      acme.send(await acme.start('login'), login, { authorization })
    expect(await sendWith(`Bearer ${acme.key}`)).toMatchObject({ status: 200 })
    expect(await sendWith('Bearer nonsense')).toMatchObject(plain(401, 'invalid or revoked'))
    expect(await sendWith(await keyOf('relay'))).toMatchObject(plain(403, 'relay key'))
    const lacking = await keyOf('gate', 'live', ['identities:read'])
    expect(await sendWith(lacking)).toMatchObject(plain(403, 'flows'))
    const stranger = await newTenant()
    expect(await sendWith(`Bearer ${stranger.key}`)).toMatchObject(NOT_FOUND)
    const { ui } = await acme.start('login')
    const forged = await request('POST', pathOf(ui.action), `Bearer ${acme.key}`)
    expect(forged).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
  })
})
