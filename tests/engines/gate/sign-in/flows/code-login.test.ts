import { expect, test } from 'bun:test'
import { type Json, MINUTE } from '../../fixture.ts'
import { ADA, BOB } from './acts.ts'
import { blurred, idsIn, isoAt, saidIn } from './checked.ts'
import { MAIL_GAP_MS, type Tenant, useFlows } from './code-fixture.ts'
import { node, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock } = flows
const newTenant = () => flows.newTenant({ passwordless_enabled: true })

const enter = (acme: Tenant, flow: Json, code: unknown, more: Json = {}) =>
  acme.send(flow, { method: 'code', code, ...more })

/** A person, and a sign-in that waits for the code. */
async function signingIn() {
  const acme = await newTenant()
  const identity = await acme.person(ADA)
  return { acme, identity, ...(await acme.waiting('login', ADA)) }
}

test('Asking for a code emails only those who may sign in', async () => {
  const acme = await newTenant()
  await acme.person(ADA)
  await acme.person('inactive@example.com', { state: 'inactive' })
  await acme.unproven('unproven@example.com')
  const sent = await acme.asked('login', ` ${ADA.toUpperCase()}\n`)
  expect(blurred(sent)).not.toContain(acme.codeFor(ADA))
  expect(acme.mailsTo(ADA)).toMatchObject([{ kind: 'login', state: 'kept' }])
  const withheld = 'withheld: no account that can sign in has this address'
  for (const [name, fate] of [
    ['unproven', 'kept'],
    ['inactive', withheld],
    ['unknown', withheld],
  ]) {
    await acme.asked('login', `${name}@example.com`)
    expect(acme.fatesOf(`${name}@example.com`)).toEqual([fate as string])
  }
})

test('Asking for a code needs an address', async () => {
  const acme = await newTenant()
  for (const [identifier, id] of [
    ['nobody', 'identifier:4000040'],
    ['a@example.com, b@example.com', 'identifier:4000040'],
    [undefined, 'identifier:4000002'],
  ]) {
    const flow = await acme.start('login')
    const { status, body } = await acme.send(flow, { method: 'code', identifier })
    expect([status, body.state, saidIn(body)]).toEqual([422, 'choose_method', [id]])
    expect(acme.codeRows(flow)).toEqual([])
  }
})

test('Codes need a tenant that has switched them on, and are refused while they are off', async () => {
  const globex = await flows.newTenant()
  const first = await globex.start('login')
  for (const fields of [
    { method: 'code', identifier: ADA },
    { code: '000000' },
    { resend: 'code', identifier: ADA },
  ])
    expect(idsIn(await globex.send(first, fields))).toEqual([422, 4010002])
  expect(globex.mailsTo(ADA)).toEqual([])
  await globex.security({ passwordless_enabled: true })
  await globex.sendWell(first, { method: 'code', identifier: ADA })
  expect(globex.mailsTo(ADA)).toHaveLength(1)

  const { acme, identity, flow, code } = await signingIn()
  await acme.security({ passwordless_enabled: false })
  expect(idsIn(await enter(acme, flow, code))).toEqual([422, 4010002])
  expect(await acme.sessionsOf(identity)).toEqual([])
  await acme.security({ passwordless_enabled: true })
  expect((await enter(acme, flow, code)).status).toBe(200)
})

test('The right code opens a session of the person it was sent to, and needs no other field', async () => {
  const { acme, identity, flow, code } = await signingIn()
  await acme.person(BOB)
  clock.jump(MINUTE)
  const done = await acme.sendWell(flow, { code, identifier: BOB })
  const { session_token: token, session } = done
  expect(Object.keys(done).sort()).toEqual(['continue_with', 'session', 'session_token'])
  expect(session).toMatchObject({ token, identity: { id: identity.id } })
  const completed_at = isoAt(clock.now())
  expect(session.authentication_methods).toEqual([{ method: 'code', aal: 'aal1', completed_at }])
  const shown = [{ action: 'set_ory_session_token', ory_session_token: token }]
  expect(done.continue_with).toEqual(shown)
  expect(await acme.whose(token)).toBe(identity.id)
  expect((await acme.tryPassword(ADA)).status).toBe(200)
})

test('The right code verifies the address, and removes credentials that a stranger may have set', async () => {
  const acme = await newTenant()
  const { identity, session_token: strangers } = await acme.register(ADA)
  clock.jump(MAIL_GAP_MS)
  await using hooks = await acme.listening()
  const { flow, code } = await acme.waiting('login', ADA)
  const { session, session_token } = await acme.sendWell(flow, { code })
  const verified = { verified: true, status: 'completed', verified_at: isoAt(clock.now()) }
  expect(session.identity.verifiable_addresses).toMatchObject([verified])
  expect((await hooks.events()).map(({ event_type, data }) => [event_type, data])).toEqual([
    ['identity.email_verified', { identity_id: identity.id, payload: {} }],
    ['identity.login', { identity_id: identity.id, payload: { email: ADA } }],
  ])
  expect((await acme.tryPassword(ADA)).status).toBe(422)
  expect(await acme.whose(strangers)).toBe(401)
  expect(await acme.whose(session_token)).toBe(identity.id)
  expect((await acme.readIdentity(identity)).credentials).toEqual({})
})

test('The right code leaves the second factor to be shown', async () => {
  const acme = await flows.newTenant({ passwordless_enabled: true, mfa_enabled: true })
  await acme.enrol((await acme.signedIn(ADA)).token)
  clock.jump(MAIL_GAP_MS)
  await using hooks = await acme.listening()
  const { flow, code } = await acme.waiting('login', ADA)
  const done = await acme.sendWell(flow, { code })
  expect(done.session).toMatchObject({ identity: null, authenticator_assurance_level: 'aal1' })
  expect(done.continue_with.map(({ action }: Json) => action)).toContain('redirect_browser_to')
  expect(await acme.whose(done.session_token)).toBe(403)
  expect(await hooks.events()).toEqual([])
})

test('A code before one was sent is refused, and counts as a try', async () => {
  const acme = await newTenant()
  await acme.person(ADA)
  const flow = await acme.start('login')
  for (let tries = 0; tries < 5; tries++)
    expect(idsIn(await enter(acme, flow, '000000'))).toEqual([422, 4010008])
  await acme.sendWell(flow, { method: 'code', identifier: ADA })
  expect(idsIn(await enter(acme, flow, acme.codeFor(ADA)))).toEqual([422, 'code:4900001'])
})

test('A code ends once one is sent elsewhere, to an account or not', async () => {
  const { acme, flow, code } = await signingIn()
  const bob = await acme.person(BOB)
  for (const identifier of ['nobody@example.com', BOB]) {
    const sent = await acme.sendWell(flow, { method: 'code', identifier })
    expect(node(sent, 'identifier').attributes.value).toBe(identifier)
    expect((await enter(acme, flow, code)).status).toBe(422)
  }
  const { body } = await enter(acme, flow, acme.codeFor(BOB))
  expect(body.session.identity.id).toBe(bob.id)
})

test('A flow that waits for a code takes the password as well', async () => {
  const { acme, flow } = await signingIn()
  const fields = { method: 'password', identifier: ADA, password: PASSWORD }
  expect((await acme.send(flow, fields)).status).toBe(200)
  expect(acme.codeRows(flow)).toEqual([])
})

test('The button for another code sends one, with anything in the field; an empty field does not', async () => {
  const { acme, flow } = await signingIn()
  clock.jump(MAIL_GAP_MS)
  expect(idsIn(await enter(acme, flow, '', { identifier: ADA }))).toEqual([422, 'code:4000002'])
  for (const [at, code] of ['', '12', '000000'].entries()) {
    clock.jump(MAIL_GAP_MS)
    expect(acme.sentTo(ADA)).toHaveLength(at + 1)
    const { status, body } = await enter(acme, flow, code, { identifier: ADA, resend: 'code' })
    expect([status, saidIn(body)]).toEqual([200, [1010014]])
  }
  // None of it was a try.
  for (let tries = 0; tries < 4; tries++) await enter(acme, flow, 'abcdef')
  expect((await enter(acme, flow, acme.codeFor(ADA))).status).toBe(200)
})
