import { expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, type Json, MINUTE } from '../../fixture.ts'
import { ADA, BOB, FORMS, RETURN_TO, refuses, withToken } from './acts.ts'
import { isoAt } from './checked.ts'
import { FLOW_MS, useFlows } from './code-fixture.ts'
import { csrfOf, messageIds, nodeNames, PASSWORD, SELF_SERVICE, totpAt } from './fixture.ts'

const flows = await useFlows({ flags: { 'gate-session-lifetime': '365d' } })
const { clock, app } = flows

const EXPIRED: Record<FlowKind, number> = {
  login: 4010001,
  registration: 4040001,
  settings: 4050001,
  recovery: 4060005,
  verification: 4070005,
}

const AWAY = { 'x-return-to': RETURN_TO, 'accept-language': 'de' }

/** A tenant with a signed-in person, whose token is sent with everything. */
async function withAda() {
  const acme = await flows.newTenant()
  const { token, identity } = await acme.signedIn(ADA)
  const mine = withToken(token)
  const start = (kind: string, headers: Record<string, string> = {}, query = '') =>
    acme.start(kind, { ...mine, ...headers }, query)
  const reread = ({ ui }: Json) => acme.readAt(ui.action, mine)
  const at = (kind: string, id: string, headers: Record<string, string> = mine) =>
    app.raw(`${SELF_SERVICE}/${kind}?flow=${id}`, { headers })
  const flowsKept = () => count(app, `gate_flows where tenant_id = '${acme.tenantId}'`)
  return { acme, token, identity, mine, start, reread, at, flowsKept }
}

test.each(FLOW_KINDS)('A %s flow works for an hour, and then has a successor', async (kind) => {
  const { acme, start, reread, mine, at, flowsKept } = await withAda()
  const [flow, inTime] = [await start(kind, AWAY), await start(kind)]
  clock.jump(FLOW_MS - 1)
  expect((await reread(inTime)).body).toEqual(inTime)
  const newcomer = kind === 'registration' && { traits: { email: 'new@example.com' } }
  expect((await acme.send(inTime, { ...FORMS[kind], ...newcomer }, mine)).status).toBe(200)
  clock.jump(1)
  const rows = () => ['gate_identities', 'gate_sessions', 'mails'].map((table) => count(app, table))
  const before = [...rows(), flowsKept()]
  const expired = [reread(flow), reread(flow), acme.send(flow, FORMS[kind], mine)]
  if (kind !== 'login' && kind !== 'registration')
    expired.push(acme.submit(kind, { flow: flow.id, ...FORMS[kind] }, mine))
  const answers = await Promise.all(expired)
  const { use_flow_id: id } = answers[0]?.body ?? {}
  const known = { error: 'the flow has expired', id: 'self_service_flow_expired' }
  const gone = { ...known, use_flow_id: id, expired_at: flow.expires_at, since: 0 }
  for (const { status, body } of answers)
    expect({ status, body }).toStrictEqual({ status: 410, body: gone })
  expect([...rows(), flowsKept() - 1]).toEqual(before)

  const { body: next } = await at(kind, id)
  const times = { issued_at: isoAt(clock.now()), expires_at: isoAt(clock.now() + FLOW_MS) }
  expect(next).toMatchObject({ id, state: flow.state, return_to: RETURN_TO, ...times })
  expect(id).not.toBe(flow.id)
  expect(messageIds(next)).toEqual([EXPIRED[kind]])
  expect(next.ui.messages[0].text).toContain('abgelaufen')
  expect(nodeNames(next)).toEqual(nodeNames(flow))
  const crossed = await acme.send(next, { ...FORMS[kind], csrf_token: csrfOf(flow) }, mine)
  expect(crossed.status).toBe(403)
  expect((await acme.send(next, FORMS[kind], mine)).status).toBe(200)

  // It stays the same until it expires, too.
  clock.jump(FLOW_MS - 1)
  expect((await reread(flow)).body).toStrictEqual({ ...gone, since: FLOW_MS - 1 })
  clock.jump(1)
  const third = (await reread(flow)).body.use_flow_id
  expect(third).not.toBe(id)
  expect((await at(kind, id)).body.id).toBe('self_service_flow_expired')
  expect((await at(kind, third)).status).toBe(200)
})

test('An expired flow for a session is followed only for that session', async () => {
  const { acme, token, identity, mine, start, reread, at, flowsKept } = await withAda()
  const { token: bob } = await acme.signedIn(BOB)
  const [settings, refresh] = [await start('settings'), await start('login', {}, '?refresh=true')]
  clock.jump(FLOW_MS)
  const before = flowsKept()
  for (const flow of [settings, refresh])
    expect(await acme.readFlow(flow)).toMatchObject(refuses(401, 'session_inactive'))
  expect(flowsKept()).toBe(before)
  const { use_flow_id: id } = (await reread(settings)).body
  expect((await at('settings', id, {})).status).toBe(401)
  expect((await at('settings', id, withToken(bob))).status).toBe(403)
  expect((await at('settings', id)).status).toBe(200)
  const { body: next } = await at('login', (await reread(refresh)).body.use_flow_id)
  expect(next).toMatchObject({ refresh: true, requested_aal: 'aal1' })
  const done = await acme.sendWell(next, { password: PASSWORD }, mine)
  expect(done).toMatchObject({ session_token: token, session: { identity: { id: identity.id } } })
})

test('An expired flow for a second factor is followed by one for the same session', async () => {
  const { acme, token: first, at } = await withAda()
  await acme.security({ mfa_enabled: true })
  const secret = await acme.enrol(first)
  clock.jump(MINUTE)
  const { token, flow } = await acme.halfway()
  clock.jump(FLOW_MS)
  const gone = await acme.send(flow, {}, withToken(token))
  const { body: next } = await at('login', gone.body.use_flow_id, withToken(token))
  expect(next.requested_aal).toBe('aal2')
  const totp_code = totpAt(secret, clock.now())
  const done = await acme.send(next, { method: 'totp', totp_code }, withToken(token))
  expect(done).toMatchObject({ status: 200, body: { session_token: token } })
})
