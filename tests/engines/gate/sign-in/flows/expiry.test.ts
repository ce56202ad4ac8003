import { describe, expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { ACTOR, count, type Json, MINUTE, SECOND } from '../../fixture.ts'
import { ADA, BOB, RETURN_TO, read as readAt, withToken } from './acts.ts'
import { bareNodes, saidIn } from './checked.ts'
import { FLOW_MS, isoAt, read, signedIn, type Tenant, useFlows, waiting } from './code-fixture.ts'
import { csrfOf, PASSWORD, SELF_SERVICE, totpAt } from './fixture.ts'

const flows = await useFlows({ flags: { 'gate-session-lifetime': '365d' } })
const { clock, app } = flows

const EXPIRED: Record<FlowKind, number> = {
  login: 4010001,
  registration: 4040001,
  settings: 4050001,
  recovery: 4060005,
  verification: 4070005,
}
const SUBMITTED: readonly FlowKind[] = ['recovery', 'verification', 'settings']

/** A valid form of each kind. */
const FORMS: Record<FlowKind, Json> = {
  login: { method: 'password', identifier: ADA, password: PASSWORD },
  registration: { method: 'password', traits: { email: BOB }, password: PASSWORD },
  settings: { method: 'profile', traits: { email: ADA } },
  recovery: { method: 'code', email: ADA },
  verification: { method: 'code', email: ADA },
}

/** A tenant with a signed-in person, whose token is sent with everything. */
async function withAda() {
  const acme = await flows.newTenant()
  const { token, identity } = await signedIn(acme, ADA)
  const mine = withToken(token)
  const start = (kind: string, headers: Record<string, string> = {}, query = '') =>
    acme.start(kind, { ...mine, ...headers }, query)
  const look = ({ ui }: Json) => readAt(acme, ui.action, mine)
  /** The flow of this id. */
  const at = (kind: string, id: string, headers: Record<string, string> = mine) =>
    app.raw(`${SELF_SERVICE}/${kind}?flow=${id}`, { headers })
  return { acme, token, identity, mine, start, look, at }
}

const flowsOf = ({ tenantId }: Tenant) => count(app, `gate_flows where tenant_id = '${tenantId}'`)

describe.each(FLOW_KINDS)('a flow of kind %s', (kind) => {
  test('is good to its last millisecond', async () => {
    const { acme, start, look, mine } = await withAda()
    const flow = await start(kind)
    clock.jump(FLOW_MS - 1)
    expect((await look(flow)).body).toEqual(flow)
    expect((await acme.send(flow, FORMS[kind], mine)).status).toBe(200)
  })

  test('is gone then, for all who read and submit it, and names one other flow', async () => {
    const { acme, start, look, mine, at } = await withAda()
    const flow = await start(kind)
    clock.jump(FLOW_MS)
    const rows = () =>
      ['gate_identities', 'gate_sessions', 'mails'].map((table) => count(app, table))
    const before = [...rows(), flowsOf(acme)]
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => look(flow)),
      ...Array.from({ length: 4 }, () => acme.send(flow, FORMS[kind], mine)),
      acme.send(flow, {}, mine),
    ])
    if (SUBMITTED.includes(kind))
      answers.push(await acme.submit(kind, { flow: flow.id, ...FORMS[kind] }, mine))
    const { use_flow_id } = answers[0]?.body ?? {}
    expect(use_flow_id).not.toBe(flow.id)
    const gone = {
      error: 'the flow has expired',
      id: 'self_service_flow_expired',
      use_flow_id,
      expired_at: flow.expires_at,
      since: 0,
    }
    for (const { status, body } of answers)
      expect({ status, body }).toStrictEqual({ status: 410, body: gone })
    expect([...rows(), flowsOf(acme) - 1]).toEqual(before)
    clock.jump(1500)
    expect((await look(flow)).body).toStrictEqual({ ...gone, since: 1500 })

    const missing = { error: 'flow not found', id: 'flow_not_found' }
    for (const other of FLOW_KINDS.filter((one) => one !== kind))
      expect(await at(other, flow.id)).toMatchObject({ status: 404, body: missing })
  })

  test('is followed by a flow of its kind that says why, and works', async () => {
    const { acme, start, look, mine, at } = await withAda()
    const flow = await start(kind, { 'x-return-to': RETURN_TO })
    clock.jump(FLOW_MS + 5 * SECOND)
    const { use_flow_id: id } = (await look(flow)).body
    const { body: next } = await at(kind, id)
    expect(next).toMatchObject({
      id,
      state: flow.state,
      return_to: RETURN_TO,
      issued_at: isoAt(clock.now()),
      expires_at: isoAt(clock.now() + FLOW_MS),
    })
    expect(saidIn(next)).toEqual([EXPIRED[kind]])
    expect(next.ui.messages[0].type).toBe('error')
    const isSteady = ({ attributes }: Json) =>
      attributes.name !== 'csrf_token' && attributes.id?.startsWith('totp') !== true
    expect(bareNodes(next).filter(isSteady)).toEqual(bareNodes(flow).filter(isSteady))
    const crossed = await acme.send(next, { ...FORMS[kind], csrf_token: csrfOf(flow) }, mine)
    expect(crossed.status).toBe(403)
    expect((await acme.send(next, FORMS[kind], mine)).status).toBe(200)
    expect((await look(flow)).body.use_flow_id).toBe(id)
  })

  test('is followed by a third one once the second has expired', async () => {
    const { start, look, at } = await withAda()
    const flow = await start(kind)
    const next = async () => (await look(flow)).body.use_flow_id
    clock.jump(FLOW_MS)
    const second = await next()
    clock.jump(FLOW_MS - 1)
    expect(await next()).toBe(second)
    clock.jump(1)
    const third = await next()
    expect(third).not.toBe(second)
    expect(await next()).toBe(third)
    expect((await at(kind, second)).body.id).toBe('self_service_flow_expired')
    expect((await at(kind, third)).status).toBe(200)
  })

  test('is not followed while its tenant is suspended, unless it was before', async () => {
    const { acme, start, look, mine } = await withAda()
    const [flow, followed] = [await start(kind), await start(kind)]
    clock.jump(FLOW_MS)
    const { body: next } = await look(followed)
    const before = flowsOf(acme)
    const { suspend, resume } = app.platform.tenants
    await suspend(ACTOR, acme.id, 'billing')
    const refused = { status: 402, body: { error: 'the account is suspended' } }
    expect(await look(flow)).toMatchObject(refused)
    expect(await acme.send(flow, FORMS[kind], mine)).toMatchObject(refused)
    if (SUBMITTED.includes(kind))
      expect(await acme.submit(kind, { flow: flow.id, ...FORMS[kind] }, mine)).toMatchObject(
        refused,
      )
    expect(await look(followed)).toMatchObject({ status: 410, body: next })
    expect(flowsOf(acme)).toBe(before)
    await resume(ACTOR, acme.id)
    expect((await look(flow)).status).toBe(410)
    expect(flowsOf(acme)).toBe(before + 1)
  })
})

describe('an expired flow', () => {
  test('is followed in its language, also after it was completed', async () => {
    const { acme, start, look, at, mine } = await withAda()
    const flow = await start('login', { 'accept-language': 'de' })
    await acme.sendWell(flow, FORMS.login, mine)
    clock.jump(FLOW_MS)
    const { body: next } = await at('login', (await look(flow)).body.use_flow_id)
    expect(next.ui.messages[0].text).toContain('Anmeldung')
    expect((await acme.send(next, FORMS.login, mine)).status).toBe(200)
  })

  test('takes no code, and neither does the one that follows', async () => {
    const { acme, look, at } = await withAda()
    await acme.security({ passwordless_enabled: true })
    const { flow, code } = await waiting(acme, 'login', ADA)
    clock.jump(FLOW_MS)
    expect((await acme.send(flow, { code })).status).toBe(410)
    const { body: next } = await at('login', (await look(flow)).body.use_flow_id, {})
    expect(next.state).toBe('choose_method')
    expect((await acme.send(next, { code })).status).toBe(422)
  })

  test('for a session is followed only for that session', async () => {
    const { acme, token, identity, mine, start, look, at } = await withAda()
    const { token: bob } = await signedIn(acme, BOB)
    const [settings, refresh] = [await start('settings'), await start('login', {}, '?refresh=true')]
    clock.jump(FLOW_MS)
    const before = flowsOf(acme)
    for (const flow of [settings, refresh]) {
      const { status, body } = await read(acme, flow)
      expect({ status, body }).toEqual({
        status: 401,
        body: { error: expect.any(String), id: 'session_inactive' },
      })
    }
    expect(flowsOf(acme)).toBe(before)

    const { use_flow_id: id } = (await look(settings)).body
    expect((await at('settings', id, {})).status).toBe(401)
    expect((await at('settings', id, withToken(bob))).status).toBe(403)
    expect((await at('settings', id)).status).toBe(200)
    const { body: next } = await at('login', (await look(refresh)).body.use_flow_id)
    expect(next).toMatchObject({ refresh: true, requested_aal: 'aal1' })
    const done = await acme.sendWell(next, { password: PASSWORD }, mine)
    expect(done).toMatchObject({ session_token: token, session: { identity: { id: identity.id } } })
  })

  test('for a second factor is followed by one for the same session', async () => {
    const { acme, token: first, at } = await withAda()
    await acme.security({ mfa_enabled: true })
    const secret = await acme.enrol(first)
    clock.jump(MINUTE)
    const { session_token: token, continue_with } = await acme.signIn(ADA)
    clock.jump(FLOW_MS)
    const gone = await acme.read(continue_with.at(-1).redirect_browser_to)
    expect(gone.status).toBe(410)
    const { body: next } = await at('login', gone.body.use_flow_id, withToken(token))
    expect(next.requested_aal).toBe('aal2')
    const totp_code = totpAt(secret, clock.now())
    const done = await acme.send(next, { method: 'totp', totp_code }, withToken(token))
    expect(done).toMatchObject({ status: 200, body: { session_token: token } })
    expect((await acme.whoami(token)).status).toBe(200)
  })
})

// The allowance is a setting of the instance.
test.each([
  ['free', 'the monthly allowance is used up'],
  ['metered', 'the monthly spend cap is reached'],
] as const)(
  'an expired flow of a tenant on the %s plan without allowance is followed next month',
  async (plan, words) => {
    const own = await useFlows({ flags: { 'metering-free-requests': '1' } })
    const flow = await own.start('registration')
    await own.start('registration')
    await own.app.platform.tenants.change(ACTOR, own.acme.id, { plan, spendCapCents: 0 })
    own.clock.jump(FLOW_MS)
    const answer = await own.read(flow.ui.action)
    const waitMs = Number(answer.headers.get('retry-after')) * SECOND
    expect(answer).toMatchObject({ status: 429, body: { error: expect.stringContaining(words) } })
    const until = new Date(own.clock.now() + waitMs)
    expect([until.getUTCDate(), until.getUTCHours()]).toEqual([1, 0])
    own.clock.jump(waitMs)
    expect((await own.read(flow.ui.action)).status).toBe(410)
  },
)
