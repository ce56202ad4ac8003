import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { ACTOR, count, type Json } from '../../fixture.ts'
import { HOUR, MINUTE, SECOND } from '../../identities/people.ts'
import { bareNodes, bootChecked, saidIn } from './checked.ts'
import { csrfOf, flowParty, PASSWORD, pathOf, SELF_SERVICE, totpAt } from './fixture.ts'

const EMAIL = 'one@example.com'
const EXPIRED: Record<FlowKind, number> = {
  login: 4010001,
  registration: 4040001,
  settings: 4050001,
  recovery: 4060005,
  verification: 4070005,
}
const SUBMITTED: readonly FlowKind[] = ['recovery', 'verification', 'settings']

/** Somebody signed in, and what each kind of flow does for them. */
async function bootExpiry() {
  const fixture = await bootChecked({ flags: { 'gate-session-lifetime': '365d' } })
  const { session_token: token, identity } = await fixture.register(EMAIL)
  fixture.clock.jump(MINUTE)
  const mine = { 'x-session-token': token }
  const start = (kind: string, headers: Record<string, string> = {}, query = '') =>
    fixture.start(kind, { ...mine, ...headers }, query)
  const read = (flow: Pick<Json, 'ui'>) =>
    fixture.app.raw(pathOf(flow.ui.action), { headers: mine })
  const send = (flow: Json, fields: Json, headers = mine) => fixture.send(flow, fields, headers)
  const expire = () => fixture.clock.jump(HOUR)
  return { ...fixture, token, identity, mine, start, read, send, expire }
}

let fixture: Awaited<ReturnType<typeof bootExpiry>>
beforeAll(async () => {
  fixture = await bootExpiry()
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** With `id` of a flow of this kind. */
const at = (kind: string, id: string) => `${SELF_SERVICE}/${kind}?flow=${id}`

let addresses = 0

/** What is good for each kind, with an address that nothing was sent to before. */
function fieldsFor(kind: FlowKind, email = `${kind}-${addresses++}@example.com`): Json {
  switch (kind) {
    case 'login':
      return { method: 'password', identifier: EMAIL, password: PASSWORD }
    case 'registration':
      return { method: 'password', traits: { email }, password: PASSWORD }
    case 'settings':
      return { method: 'profile', traits: { email: EMAIL } }
    default:
      return { method: 'code', email }
  }
}

describe.each(FLOW_KINDS)('a flow of %s', (kind) => {
  test('goes on to its last millisecond', async () => {
    const flow = await fixture.start(kind)
    fixture.clock.jump(HOUR - 1)
    expect((await fixture.read(flow)).body).toEqual(flow)
    expect((await fixture.send(flow, fieldsFor(kind))).status).toBe(200)
  })

  test('is gone then, and says where to go on', async () => {
    const flow = await fixture.start(kind)
    fixture.clock.jump(HOUR)
    const { status, body } = await fixture.read(flow)
    expect(status).toBe(410)
    expect(body).toStrictEqual({
      error: 'the flow has expired',
      id: 'self_service_flow_expired',
      use_flow_id: body.use_flow_id,
      expired_at: flow.expires_at,
      since: 0,
    })
    expect(body.use_flow_id).not.toBe(flow.id)
    fixture.clock.jump(1500)
    expect((await fixture.read(flow)).body).toStrictEqual({ ...body, since: 1500 })
  })

  test('is gone for a form as it is for a look, and does nothing more', async () => {
    const flow = await fixture.start(kind)
    fixture.expire()
    const { body: gone } = await fixture.read(flow)
    const TABLES = ['gate_identities', 'gate_sessions', 'mails']
    const rows = () => TABLES.map((table) => count(fixture.app, table))
    const before = rows()
    expect(await fixture.send(flow, fieldsFor(kind))).toMatchObject({ status: 410, body: gone })
    expect(await fixture.send(flow, {})).toMatchObject({ status: 410, body: gone })
    expect(rows()).toEqual(before)
    if (!SUBMITTED.includes(kind)) return
    const submitted = await fixture.submit(
      kind,
      { flow: flow.id, ...fieldsFor(kind) },
      fixture.mine,
    )
    expect(submitted).toMatchObject({ status: 410, body: gone })
  })

  test('leads to one other flow, however often and however many ask', async () => {
    const flow = await fixture.start(kind)
    fixture.expire()
    const before = count(fixture.app, 'gate_flows')
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => fixture.read(flow)),
      ...Array.from({ length: 5 }, () => fixture.send(flow, fieldsFor(kind))),
    ])
    expect(new Set(answers.map(({ body }) => body.use_flow_id)).size).toBe(1)
    expect(count(fixture.app, 'gate_flows')).toBe(before + 1)
  })

  test('leads to a flow of the same kind, which says why, and works', async () => {
    const returnTo = 'https://app.example.com/after'
    const flow = await fixture.start(kind, { 'x-return-to': returnTo })
    fixture.clock.jump(HOUR + 5 * SECOND)
    const { use_flow_id: id } = (await fixture.read(flow)).body
    const now = fixture.clock.now()
    const { status, body: next } = await fixture.app.raw(at(kind, id), { headers: fixture.mine })
    expect(status).toBe(200)
    expect(next).toMatchObject({
      id,
      state: flow.state,
      return_to: returnTo,
      issued_at: new Date(now).toISOString(),
      expires_at: new Date(now + HOUR).toISOString(),
    })
    expect(saidIn(next)).toEqual([EXPIRED[kind]])
    expect(next.ui.messages[0].type).toBe('error')
    const withoutToken = ({ attributes }: Json) =>
      attributes.name !== 'csrf_token' && attributes.id?.startsWith('totp') !== true
    expect(bareNodes(next).filter(withoutToken)).toEqual(bareNodes(flow).filter(withoutToken))
    expect(csrfOf(next)).not.toBe(csrfOf(flow))
    const crossed = await fixture.send(next, { ...fieldsFor(kind), csrf_token: csrfOf(flow) })
    expect(crossed.status).toBe(403)
    expect((await fixture.send(next, fieldsFor(kind))).status).toBe(200)
    expect((await fixture.read(flow)).body.use_flow_id).toBe(id)
  })

  test('leads to a third one when the second has expired as well', async () => {
    const flow = await fixture.start(kind)
    fixture.expire()
    const { use_flow_id: second } = (await fixture.read(flow)).body
    fixture.clock.jump(HOUR - 1)
    expect((await fixture.read(flow)).body.use_flow_id).toBe(second)
    fixture.clock.jump(1)
    const { use_flow_id: third } = (await fixture.read(flow)).body
    expect(third).not.toBe(second)
    expect((await fixture.read(flow)).body.use_flow_id).toBe(third)
    const ofSecond = (await fixture.app.raw(at(kind, second), { headers: fixture.mine })).body
    expect(ofSecond).toMatchObject({ id: 'self_service_flow_expired' })
    expect((await fixture.app.raw(at(kind, third), { headers: fixture.mine })).status).toBe(200)
  })

  test('is no flow of another kind, expired or not', async () => {
    const flow = await fixture.start(kind)
    fixture.expire()
    const before = count(fixture.app, 'gate_flows')
    for (const other of FLOW_KINDS.filter((one) => one !== kind)) {
      const { status, body } = await fixture.app.raw(at(other, flow.id), { headers: fixture.mine })
      expect(status).toBe(404)
      expect(body).toEqual({ error: 'flow not found', id: 'flow_not_found' })
    }
    expect(count(fixture.app, 'gate_flows')).toBe(before)
  })
})

describe('a flow that has expired', () => {
  test('leads on in the language that it had', async () => {
    const flow = await fixture.start('login', { 'accept-language': 'de' })
    fixture.expire()
    const { use_flow_id: id } = (await fixture.read(flow)).body
    const next = (await fixture.app.raw(at('login', id))).body
    expect(next.ui.messages[0].text).toContain('Anmeldung')
  })

  test('is no way on for whoever has a code for it', async () => {
    await using fixture = await bootExpiry()
    await fixture.security({ passwordless_enabled: true })
    const flow = await fixture.start('login')
    fixture.clock.jump(HOUR - MINUTE)
    await fixture.sendWell(flow, { method: 'code', identifier: EMAIL })
    const code = fixture.codeFor(EMAIL)
    fixture.clock.jump(MINUTE)
    const gone = await fixture.send(flow, { code })
    expect(gone.status).toBe(410)
    const next = (await fixture.app.raw(at('login', gone.body.use_flow_id))).body
    expect(next.state).toBe('choose_method')
    const refused = await fixture.send(next, { code })
    expect(refused.status).toBe(422)
  })

  test('leads on also when it was ended in time', async () => {
    const flow = await fixture.start('login')
    await fixture.sendWell(flow, fieldsFor('login'))
    fixture.expire()
    const { status, body } = await fixture.send(flow, fieldsFor('login'))
    expect(status).toBe(410)
    const next = (await fixture.app.raw(at('login', body.use_flow_id))).body
    expect((await fixture.send(next, fieldsFor('login'))).status).toBe(200)
  })

  test('leads on for the session that it was for, and for no other', async () => {
    const flow = await fixture.start('settings')
    const refresh = await fixture.start('login', {}, '?refresh=true')
    fixture.expire()
    const settings = (await fixture.read(flow)).body.use_flow_id
    const stranger = await fixture.register('two@example.com')
    for (const [token, status] of [
      [undefined, 401],
      [stranger.session_token, 403],
      [fixture.token, 200],
    ] as const) {
      const headers: Record<string, string> = token ? { 'x-session-token': token } : {}
      expect((await fixture.app.raw(at('settings', settings), { headers })).status).toBe(status)
    }
    const login = (await fixture.read(refresh)).body.use_flow_id
    const next = (await fixture.app.raw(at('login', login), { headers: fixture.mine })).body
    expect(next).toMatchObject({ refresh: true, requested_aal: 'aal1' })
    const done = await fixture.sendWell(next, { password: PASSWORD }, fixture.mine)
    expect(done.session_token).toBe(fixture.token)
    expect(done.session.identity.id).toBe(fixture.identity.id)
  })

  test('leads nobody on who does not show the session that it was for', async () => {
    const { session_token: token } = await fixture.register(`theirs-${addresses++}@example.com`)
    const mine = { 'x-session-token': token }
    const settings = await fixture.start('settings', mine)
    const refresh = await fixture.start('login', mine, '?refresh=true')
    fixture.expire()
    const before = count(fixture.app, 'gate_flows')
    for (const { ui } of [settings, refresh]) {
      const { status, body } = await fixture.app.raw(pathOf(ui.action))
      expect(status).toBe(401)
      expect(body).toStrictEqual({ error: body.error, id: 'session_inactive' })
    }
    expect(count(fixture.app, 'gate_flows')).toBe(before)
  })

  test('leads on to the second factor that is owed, and to the same session', async () => {
    await using fixture = await bootExpiry()
    await fixture.security({ mfa_enabled: true })
    const secret = await fixture.enrol(fixture.token)
    fixture.clock.jump(MINUTE)
    const { session_token: token, continue_with } = await fixture.signIn(EMAIL)
    const { redirect_browser_to } = continue_with.at(-1)
    fixture.expire()
    const headers = { 'x-session-token': token }
    const gone = await fixture.app.raw(pathOf(redirect_browser_to), { headers })
    expect(gone.status).toBe(410)
    const { use_flow_id: id } = gone.body
    const { body: next } = await fixture.app.raw(at('login', id), { headers })
    const totp_code = totpAt(secret, fixture.clock.now())
    const done = await fixture.send(next, { method: 'totp', totp_code }, headers)
    expect(next.requested_aal).toBe('aal2')
    expect(done.status).toBe(200)
    expect(done.body.session_token).toBe(token)
    expect((await fixture.whoami(token)).status).toBe(200)
  })
})

describe('a flow that has expired, of a tenant that may start none', () => {
  const flows = () => count(fixture.app, 'gate_flows')

  /** One more tenant with somebody signed in, as whom its flows are asked for. */
  async function ownParty() {
    const own = await flowParty(fixture.app)
    const { session_token } = await own.register(EMAIL)
    return { ...own, headers: { 'x-session-token': session_token as string } }
  }

  test.each(FLOW_KINDS)('is followed by none, however it is asked for: %s', async (kind) => {
    const own = await ownParty()
    const flow = await own.start(kind, own.headers)
    fixture.expire()
    const before = flows()
    const { suspend, resume } = fixture.app.platform.tenants

    await suspend(ACTOR, own.id, 'billing')
    const refused = { status: 402, body: { error: 'the account is suspended' } }
    expect(await own.read(flow.ui.action, own.headers)).toMatchObject(refused)
    expect(await own.send(flow, fieldsFor(kind), own.headers)).toMatchObject(refused)
    if (SUBMITTED.includes(kind))
      expect(await own.submit(kind, { flow: flow.id, ...fieldsFor(kind) }, own.headers)).toEqual(
        expect.objectContaining(refused),
      )
    expect(flows()).toBe(before)

    await resume(ACTOR, own.id)
    expect((await own.read(flow.ui.action, own.headers)).status).toBe(410)
    expect(flows()).toBe(before + 1)
  })

  test.each([
    [
      'its allowance',
      'free',
      'the monthly allowance is used up; change the plan, or wait until next month',
    ],
    [
      'its spend cap',
      'metered',
      'the monthly spend cap is reached; raise the cap, or wait until next month',
    ],
  ] as const)('is followed by none until the next month: %s is spent', async (_, plan, words) => {
    await using fixture = await bootChecked({ flags: { 'metering-free-requests': '1' } })
    const flow = await fixture.start('registration')
    await fixture.start('registration')
    const { change } = fixture.app.platform.tenants
    await change(ACTOR, fixture.acme.id, { plan, spendCapCents: 0 })
    fixture.clock.jump(HOUR)

    const answer = await fixture.read(flow.ui.action)

    expect(answer).toMatchObject({ status: 429, body: { error: expect.stringContaining(words) } })
    const waitMs = Number(answer.headers.get('retry-after')) * SECOND
    const until = new Date(fixture.clock.now() + waitMs)
    expect([until.getUTCDate(), until.getUTCHours()]).toEqual([1, 0])
    fixture.clock.jump(waitMs)
    expect((await fixture.read(flow.ui.action)).status).toBe(410)
  })

  test('leads on to the one that has followed it already', async () => {
    const own = await ownParty()
    const flow = await own.start('registration')
    fixture.expire()
    const { use_flow_id } = (await own.read(flow.ui.action)).body
    await fixture.app.platform.tenants.suspend(ACTOR, own.id, 'billing')

    expect(await own.read(flow.ui.action)).toMatchObject({ status: 410, body: { use_flow_id } })
  })
})
