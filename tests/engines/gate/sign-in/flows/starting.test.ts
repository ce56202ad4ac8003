import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, type Json, plain } from '../../fixture.ts'
import { ACTOR, DAY, UNKNOWN_ID } from '../../identities/people.ts'
import { bootChecked, type Checked } from './checked.ts'
import { AUTH, csrfOf, flowParty, PASSWORD, pathOf, SELF_SERVICE } from './fixture.ts'

const SUBMITTED = ['recovery', 'verification', 'settings'] as const
const NOT_FOUND = { error: 'flow not found', id: 'flow_not_found' }

let fixture: Checked
let token: string
let other: Awaited<ReturnType<typeof flowParty>>
beforeAll(async () => {
  fixture = await bootChecked()
  token = (await fixture.register('somebody@example.com')).session_token
  other = await flowParty(fixture.app)
})
afterAll(() => fixture[Symbol.asyncDispose]())

const flowsKept = () => count(fixture.app, 'gate_flows')

/** As somebody asks for a flow who has this key, or none. */
const askWith = (authorization: string | undefined, path: string, init: RequestInit = {}) =>
  fixture.app.raw(path, {
    ...init,
    headers: {
      'x-session-token': token,
      ...(authorization !== undefined && { authorization }),
      ...(init.headers as Record<string, string>),
    },
  })

const keyWith = async (...of: Parameters<typeof fixture.acme.key>) =>
  `Bearer ${(await fixture.acme.key(...of)).key}`

describe('a flow is started', () => {
  test.each(FLOW_KINDS)('with a key whose scopes have `flows`: %s', async (kind) => {
    const key = await keyWith('gate', 'live', ['flows'])
    expect(await askWith(key, `${AUTH}/${kind}`)).toMatchObject({ status: 200 })
  })

  test('with a test key too: people are the same in both environments', async () => {
    const key = await keyWith('gate', 'test')
    expect(await askWith(key, `${AUTH}/login`)).toMatchObject({ status: 200 })
    expect(await askWith(key, `${AUTH}/settings`)).toMatchObject({ status: 200 })
  })

  test.each(FLOW_KINDS)('by nobody without a good key: %s', async (kind) => {
    const revoked = await fixture.acme.key('gate', 'live')
    await fixture.app.platform.keys.revoke(ACTOR, revoked.id)
    const before = flowsKept()
    for (const [header, words] of [
      [undefined, 'missing API key'],
      ['', 'invalid or revoked'],
      ['Bearer', 'invalid or revoked'],
      ['Bearer svc_gate_live_sk_nonsense', 'invalid or revoked'],
      [`Basic ${fixture.key}`, 'invalid or revoked'],
      [`Bearer ${fixture.key}x`, 'invalid or revoked'],
      [`Bearer ${revoked.key}`, 'invalid or revoked'],
    ] as const) {
      const answer = await askWith(header, `${AUTH}/${kind}`)
      expect(answer.headers.get('www-authenticate'), header).toBe('Bearer')
      expect(answer).toMatchObject(plain(401, words))
    }
    expect(flowsKept()).toBe(before)
  })

  test.each(FLOW_KINDS)(
    'by no key that lacks the scope, or is of another engine: %s',
    async (kind) => {
      const others = ['identities:read', 'identities:write', 'sessions:write', 'settings:write']
      const before = flowsKept()
      const lacking = await keyWith('gate', 'live', [...others, 'tokens:write', 'authorize'])
      expect(await askWith(lacking, `${AUTH}/${kind}`)).toMatchObject(plain(403, 'flows'))
      const foreign = await keyWith('relay')
      expect(await askWith(foreign, `${AUTH}/${kind}`)).toMatchObject(plain(403, 'relay key'))
      expect(flowsKept()).toBe(before)
    },
  )

  test.each(FLOW_KINDS)(
    'for no tenant that owes us money, though it can go on: %s',
    async (kind) => {
      const own = await flowParty(fixture.app, 'In arrears')
      const { session_token } = await own.register('one@example.com')
      const headers = { 'x-session-token': session_token }
      const open = await own.start(kind, headers)
      const { suspend, resume } = fixture.app.platform.tenants
      for (const [reason, words] of [
        ['billing', 'the account is suspended'],
        ['renewal', 'the renewal is unpaid'],
      ] as const) {
        await suspend(ACTOR, own.id, reason)
        const before = flowsKept()
        const answer = await own.ask(kind, headers)
        expect(answer).toMatchObject({ status: 402, body: { error: words } })
        expect(flowsKept()).toBe(before)
        const read = await fixture.app.raw(pathOf(open.ui.action), { headers })
        expect(read).toMatchObject({ status: 200 })
        await resume(ACTOR, own.id)
      }
      expect(await own.ask(kind, headers)).toMatchObject({ status: 200 })
    },
  )

  test('of no kind that there is not', async () => {
    for (const path of ['', '/', '/logout', '/Login', '/methods', '/login/x']) {
      const answer = await fixture.api.get(`${AUTH}${path}`)
      expect(answer, path).toMatchObject(plain(404, 'no such route'))
    }
    expect(await fixture.api.post(`${AUTH}/login`, {})).toMatchObject(plain(405, 'GET'))
    expect(await fixture.api.get(`${AUTH}/recovery/submit`)).toMatchObject(plain(405, 'POST'))
    for (const kind of ['login', 'registration'])
      expect(await fixture.api.post(`${AUTH}/${kind}/submit`, {})).toMatchObject(
        plain(404, 'no such route'),
      )
  })
})

describe('a flow about somebody signed in', () => {
  const asked = [
    ['settings', ''],
    ['login', '?aal=aal2'],
    ['login', '?refresh=true'],
    ['login', '?aal=aal2&refresh=true'],
  ] as const

  test.each(asked)('asks for the token of their session: %s%s', async (kind, query) => {
    const own = await flowParty(fixture.app, 'Tokens')
    const { session_token: ended, session } = await own.register('ended@example.com')
    await own.api.delete(`/v1/gate/sessions/${session.id}`)
    const missing = await own.ask(kind, {}, query)
    expect(missing.headers.get('www-authenticate')).toBe('Bearer')
    expect(missing).toMatchObject(plain(401, 'X-Session-Token'))
    for (const wrong of ['', 'gat_st_', 'nonsense', `${token}x`, token.slice(0, -1), ended, token])
      expect(await own.ask(kind, { 'x-session-token': wrong }, query), wrong).toMatchObject(
        plain(401, 'session token'),
      )
  })

  test('is not begun with a session that has run out', async () => {
    await using own = await bootChecked()
    const { session_token } = await own.register('one@example.com')
    own.clock.jump(DAY - 1)
    const headers = { 'x-session-token': session_token }
    expect(await own.ask('settings', headers)).toMatchObject({ status: 200 })
    own.clock.jump(1)
    expect(await own.ask('settings', headers)).toMatchObject(plain(401, 'ended'))
  })

  test('is no second factor of somebody who has none, or whose tenant asks for none', async () => {
    const headers = { 'x-session-token': token }
    expect(await fixture.ask('login', headers, '?aal=aal2')).toMatchObject(plain(400, 'aal'))
    await fixture.security({ mfa_enabled: true })
    expect(await fixture.ask('login', headers, '?aal=aal2')).toMatchObject(plain(400, 'aal'))
  })

  test.each([
    ['?aal=aal3', 'aal: must be one of aal1, aal2'],
    ['?aal=', 'aal: must be one of aal1, aal2'],
    ['?aal=AAL2', 'aal: must be one of aal1, aal2'],
    ['?refresh=1', 'refresh: must be one of true, false'],
    ['?refresh=', 'refresh: must be one of true, false'],
    ['?refresh=TRUE', 'refresh: must be one of true, false'],
  ])('is not asked for in other words: %s', async (query, words) => {
    expect(await fixture.ask('login', { 'x-session-token': token }, query)).toMatchObject(
      plain(400, words),
    )
  })

  test('needs no token for the plain case, whatever else the address says', async () => {
    for (const query of ['?aal=aal1', '?refresh=false', '?aal=aal1&refresh=false'])
      expect(await fixture.ask('login', {}, query)).toMatchObject({
        status: 200,
        body: { refresh: false, requested_aal: 'aal1' },
      })
  })
})

describe('the address of a flow', () => {
  test.each(FLOW_KINDS)('is no other kind of flow: %s', async (kind) => {
    const { id } = await fixture.start(kind, { 'x-session-token': token })
    for (const wrong of FLOW_KINDS.filter((other) => other !== kind)) {
      const path = `${SELF_SERVICE}/${wrong}?flow=${id}`
      expect(await fixture.app.raw(path)).toMatchObject({ status: 404, body: NOT_FOUND })
      const sent = await askWith(undefined, path, { method: 'POST' })
      expect(sent).toMatchObject({ status: 404, body: NOT_FOUND })
    }
  })

  test('is answered alike whatever is no id of a flow', async () => {
    const { id } = await fixture.start('login')
    const long = 'x'.repeat(5000)
    for (const wrong of ['', ' ', 'x', UNKNOWN_ID, id.toUpperCase(), `${id}%00`, `${id}'`, long]) {
      const path = `${SELF_SERVICE}/login?flow=${wrong}`
      expect(await fixture.app.raw(path), wrong).toMatchObject({ status: 404, body: NOT_FOUND })
      expect(await askWith(undefined, path, { method: 'POST' }), wrong).toMatchObject({
        status: 404,
        body: NOT_FOUND,
      })
    }
  })

  test('has to have an id', async () => {
    for (const method of ['GET', 'POST'])
      expect(await fixture.app.raw(`${SELF_SERVICE}/login`, { method })).toMatchObject(
        plain(400, 'flow: is required'),
      )
  })

  test.each(['logout', 'Login', 'login%2f', 'methods', '__proto__', 'constructor'])(
    'has a kind that there is: %s',
    async (kind) => {
      const { id } = await fixture.start('login')
      for (const method of ['GET', 'POST'])
        expect(
          await fixture.app.raw(`${SELF_SERVICE}/${kind}?flow=${id}`, { method }),
        ).toMatchObject(plain(404, 'no such route'))
    },
  )

  test('may have more in it: whoever passes links on adds to them', async () => {
    const { ui, id } = await fixture.start('verification')
    const longer = `${pathOf(ui.action)}&utm_source=mail&fbclid=1`
    expect(await fixture.app.raw(longer)).toMatchObject({ status: 200, body: { id } })
    const sent = await fixture.app.raw(longer, { method: 'POST' })
    expect(sent).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
  })

  test('takes no other methods', async () => {
    const { ui } = await fixture.start('login')
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const response = await fixture.app.app.handle(new Request(ui.action, { method }))
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('GET, POST')
    }
  })
})

describe('a submission by way of the tenant’s server', () => {
  const started = (kind: string) => fixture.start(kind, { 'x-session-token': token })
  const headers = () => ({ 'x-session-token': token })
  let nobodies = 0
  /** To an address that nobody has written to yet. */
  const fieldsFor = (
    kind: (typeof SUBMITTED)[number],
    email = `nobody-${nobodies++}@example.com`,
  ) =>
    kind === 'settings'
      ? { method: 'profile', traits: { email: 'somebody@example.com' } }
      : { method: 'code', email }

  test.each(SUBMITTED)('needs no token against forgery: %s', async (kind) => {
    const flow = (await started(kind)).id
    const answer = await fixture.submit(kind, { flow, ...fieldsFor(kind) }, headers())
    expect(answer).toMatchObject({ status: 200, body: { id: flow } })
  })

  test.each(SUBMITTED)(
    'names the flow in the body or in the address, the body first: %s',
    async (kind) => {
      const [first, second] = [(await started(kind)).id, (await started(kind)).id]
      const to = (query: string, flow?: string) =>
        fixture.app.raw(`${AUTH}/${kind}/submit${query}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${fixture.key}`,
            'content-type': 'application/json',
            ...headers(),
          },
          body: JSON.stringify({ ...(flow !== undefined && { flow }), ...fieldsFor(kind) }),
        })
      expect(await to(`?flow=${first}`)).toMatchObject({ status: 200, body: { id: first } })
      const both = await to(`?flow=${first}`, second)
      expect(both).toMatchObject({ status: 200, body: { id: second } })
      expect(await to('')).toMatchObject(plain(400, 'flow: is required'))
      expect(await to('?flow=')).toMatchObject(plain(400, 'flow: is required'))
    },
  )

  test.each(SUBMITTED)('has the id of a flow that is text: %s', async (kind) => {
    const { id } = await started(kind)
    for (const flow of ['', 5, true, [id], { id }])
      expect(await fixture.submit(kind, { flow }, headers())).toMatchObject(
        plain(400, 'flow: is required'),
      )
  })

  test.each(SUBMITTED)(
    'reaches no flow of another tenant, open, over or expired: %s',
    async (kind) => {
      await using own = await bootChecked()
      const stranger = await flowParty(own.app)
      const { session_token } = await own.register('one@example.com')
      const mine = { 'x-session-token': session_token }
      own.clock.jump(31_000)
      const flow = await own.start(kind, mine)
      const body = { flow: flow.id, ...fieldsFor(kind), csrf_token: csrfOf(flow) }
      const tried = () => stranger.submit(kind, body, mine)
      expect(await tried()).toMatchObject({ status: 404, body: NOT_FOUND })
      expect(await own.ask(kind, mine)).toMatchObject({ status: 200 })

      own.clock.jump(60 * 60_000)
      const before = count(own.app, 'gate_flows')
      expect(await tried()).toMatchObject({ status: 404, body: NOT_FOUND })
      expect(count(own.app, 'gate_flows')).toBe(before)
    },
  )

  test.each(SUBMITTED)('reaches no flow of another kind: %s', async (kind) => {
    for (const wrong of FLOW_KINDS.filter((other) => other !== kind)) {
      const { id: flow } = await started(wrong)
      expect(await fixture.submit(kind, { flow, ...fieldsFor(kind) }, headers())).toMatchObject({
        status: 404,
        body: NOT_FOUND,
      })
    }
  })

  test.each(SUBMITTED)(
    'needs a key with the scope, before the body is looked at: %s',
    async (kind) => {
      const path = `${AUTH}/${kind}/submit`
      const broken = { method: 'POST', body: '{', headers: { 'content-type': 'text/plain' } }
      expect(await askWith(undefined, path, broken)).toMatchObject(plain(401, 'missing API key'))
      expect(await askWith('Bearer nonsense', path, broken)).toMatchObject(plain(401, 'invalid'))
      const lacking = await keyWith('gate', 'live', ['identities:read'])
      expect(await askWith(lacking, path, broken)).toMatchObject(plain(403, 'flows'))
      const foreign = await keyWith('clockwork')
      expect(await askWith(foreign, path, broken)).toMatchObject(plain(403, 'clockwork key'))
      expect(await askWith(`Bearer ${fixture.key}`, path, broken)).toMatchObject({ status: 415 })
    },
  )
})

describe('a key at the address of a flow', () => {
  const login = { method: 'password', identifier: 'somebody@example.com', password: PASSWORD }

  const sendWith = async (authorization: string, of: Pick<Checked, 'start' | 'send'> = fixture) =>
    fixture.send(await of.start('login'), login, { authorization })

  test('is not needed, and may be there', async () => {
    expect(await fixture.tryPassword('somebody@example.com')).toMatchObject({ status: 200 })
    expect(await sendWith(`Bearer ${fixture.key}`)).toMatchObject({ status: 200 })
  })

  test('does not stand in for the token against forgery', async () => {
    const { ui } = await fixture.start('login')
    const answer = await askWith(`Bearer ${fixture.key}`, pathOf(ui.action), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(login),
    })
    expect(answer).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
  })

  test('has to be a good one of the engine', async () => {
    expect(await sendWith('Bearer nonsense')).toMatchObject(plain(401, 'invalid or revoked'))
    expect(await sendWith(await keyWith('relay'))).toMatchObject(plain(403, 'relay key'))
  })

  test('has to have the scope, as at the other endpoints', async () => {
    const lacking = await keyWith('gate', 'live', ['identities:read'])
    expect(await sendWith(lacking)).toMatchObject(plain(403, 'flows'))
  })

  test('of another tenant finds no such flow', async () => {
    expect(await sendWith(`Bearer ${other.key}`)).toMatchObject({ status: 404, body: NOT_FOUND })
    const theirs: Json = await sendWith(`Bearer ${fixture.key}`, other as never)
    expect(theirs).toMatchObject({ status: 404, body: NOT_FOUND })
  })
})
