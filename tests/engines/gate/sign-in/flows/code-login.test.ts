import { describe, expect, test } from 'bun:test'
import { HOUR, IDENTITIES, type Json, MINUTE } from '../../fixture.ts'
import { ADA, BOB, withToken } from './acts.ts'
import { blurred, listening, saidIn, steady } from './checked.ts'
import {
  asked,
  codeRows,
  complaintsIn,
  fatesOf,
  isoAt,
  MAIL_GAP_MS,
  person,
  read,
  sessionsOf,
  signedIn,
  type Tenant,
  unproven,
  useFlows,
  waiting,
  whose,
} from './code-fixture.ts'
import { node, nodeNames, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock } = flows
const newTenant = () => flows.newTenant({ passwordless_enabled: true })

const enter = (acme: Tenant, flow: Json, code: unknown, more: Json = {}) =>
  acme.send(flow, { method: 'code', code, ...more })

/** A person, and a sign-in that waits for the code. */
async function signingIn() {
  const acme = await newTenant()
  const identity = await person(acme, ADA)
  return { acme, identity, ...(await waiting(acme, 'login', ADA)) }
}

describe('asking for a code', () => {
  test('is answered alike for all people, but emails only those who may sign in', async () => {
    const acme = await newTenant()
    await person(acme, ADA)
    await person(acme, 'inactive@example.com', { state: 'inactive' })
    await unproven(acme, 'unproven@example.com')
    const ask = async (identifier: string) => {
      const answer = await acme.send(await acme.start('login'), { method: 'code', identifier })
      return steady(answer, identifier)
    }
    const known = await ask(` ${ADA.toUpperCase()}\n`)
    expect(known.status).toBe(200)
    expect(blurred(known)).not.toContain(acme.codeFor(ADA))
    expect(acme.mailsTo(ADA)).toMatchObject([{ kind: 'login', state: 'kept' }])
    for (const [name, fate] of [
      ['unproven', 'kept'],
      ['inactive', 'withheld: no account that can sign in has this address'],
      ['unknown', 'withheld: no account that can sign in has this address'],
    ]) {
      const email = `${name}@example.com`
      expect(await ask(email), name).toEqual(
        JSON.parse(JSON.stringify(known).replaceAll(ADA, '<own>')),
      )
      expect(fatesOf(acme, email)).toEqual([fate as string])
    }
  })

  test.each([
    ['nobody', 'identifier:4000040'],
    ['a@b@c', 'identifier:4000040'],
    [`${'x'.repeat(300)}@example.com`, 'identifier:4000040'],
    ['a@example.com, b@example.com', 'identifier:4000040'],
    ['', 'identifier:4000002'],
    [undefined, 'identifier:4000002'],
  ])('needs an address: %p', async (identifier, id) => {
    const acme = await newTenant()
    const flow = await acme.start('login')
    const { status, body } = await acme.send(flow, { method: 'code', identifier })
    expect([status, body.state, saidIn(body)]).toEqual([422, 'choose_method', [id]])
    expect(codeRows(acme, flow)).toEqual([])
  })

  test('needs a tenant that has switched it on', async () => {
    const acme = await flows.newTenant()
    const flow = await acme.start('login')
    for (const fields of [
      { method: 'code', identifier: ADA },
      { method: 'code', code: '000000' },
      { code: '000000' },
      { resend: 'code', identifier: ADA },
    ]) {
      const { status, body } = await acme.send(flow, fields)
      expect([status, saidIn(body)]).toEqual([422, [4010002]])
    }
    expect(acme.mailsTo(ADA)).toEqual([])
    await acme.security({ passwordless_enabled: true })
    await acme.sendWell(flow, { method: 'code', identifier: ADA })
    expect(acme.mailsTo(ADA)).toHaveLength(1)
  })

  test('leaves the flow as it was if it comes too soon', async () => {
    const { acme } = await signingIn()
    const flow = await acme.start('login')
    expect((await acme.send(flow, { method: 'code', identifier: ADA })).status).toBe(429)
    expect((await read(acme, flow)).body).toEqual(flow)
  })
})

describe('the right code', () => {
  test('opens a session of the person it was sent to, and needs no other field', async () => {
    const { acme, identity, flow, code } = await signingIn()
    await person(acme, BOB)
    clock.jump(MINUTE)
    const done = await acme.sendWell(flow, { code, identifier: BOB })
    const { session_token: token, session } = done
    expect(Object.keys(done).sort()).toEqual(['continue_with', 'session', 'session_token'])
    expect(session).toMatchObject({ token, identity: { id: identity.id } })
    const completed_at = isoAt(clock.now())
    expect(session.authentication_methods).toEqual([{ method: 'code', aal: 'aal1', completed_at }])
    const shown = [{ action: 'set_ory_session_token', ory_session_token: token }]
    expect(done.continue_with).toEqual(shown)
    expect(await whose(acme, token)).toBe(identity.id)
    expect((await acme.tryPassword(ADA)).status).toBe(200)
  })

  test('verifies the address, and removes credentials that a stranger may have set', async () => {
    const acme = await newTenant()
    const { identity, session_token: strangers } = await acme.register(ADA)
    clock.jump(MAIL_GAP_MS)
    await using hooks = await listening(acme)
    const { flow, code } = await waiting(acme, 'login', ADA)
    const { session, session_token } = await acme.sendWell(flow, { code })
    const verified_at = isoAt(clock.now())
    const verified = { verified: true, status: 'completed', verified_at }
    expect(session.identity.verifiable_addresses).toMatchObject([verified])
    expect((await hooks.events()).map(({ event_type, data }) => [event_type, data])).toEqual([
      ['identity.email_verified', { identity_id: identity.id, payload: {} }],
      ['identity.login', { identity_id: identity.id, payload: { email: ADA } }],
    ])
    expect((await acme.tryPassword(ADA)).status).toBe(422)
    expect(await whose(acme, strangers)).toBe(401)
    expect(await whose(acme, session_token)).toBe(identity.id)
    expect((await acme.readIdentity(identity)).credentials).toEqual({})
  })

  test('leaves the second factor to be shown', async () => {
    const acme = await flows.newTenant({ passwordless_enabled: true, mfa_enabled: true })
    await acme.enrol((await signedIn(acme, ADA)).token)
    clock.jump(MAIL_GAP_MS)
    await using hooks = await listening(acme)
    const { flow, code } = await waiting(acme, 'login', ADA)
    const done = await acme.sendWell(flow, { code })
    expect(done.session).toMatchObject({ identity: null, authenticator_assurance_level: 'aal1' })
    expect(done.continue_with.map(({ action }: Json) => action)).toContain('redirect_browser_to')
    expect(await whose(acme, done.session_token)).toBe(403)
    expect(await hooks.events()).toEqual([])
  })
})

describe('a code is refused', () => {
  test('before one was sent, and counts as a try', async () => {
    const acme = await newTenant()
    await person(acme, ADA)
    const flow = await acme.start('login')
    for (let tries = 0; tries < 5; tries++)
      expect(complaintsIn((await enter(acme, flow, '000000')).body)).toEqual([4010008])
    await acme.sendWell(flow, { method: 'code', identifier: ADA })
    const { body } = await enter(acme, flow, acme.codeFor(ADA))
    expect(complaintsIn(body)).toEqual(['code:4900001'])
  })

  test('alike for known and unknown addresses', async () => {
    const acme = await newTenant()
    await person(acme, ADA)
    const refused = async (identifier: string) =>
      steady(await enter(acme, await asked(acme, 'login', identifier), 'abcdef'), identifier)
    expect(await refused(BOB)).toEqual(await refused(ADA))
  })

  test('once one was sent to another address in the same flow', async () => {
    const { acme, flow, code } = await signingIn()
    const bob = await person(acme, BOB)
    const sent = await acme.sendWell(flow, { method: 'code', identifier: BOB })
    expect(node(sent, 'identifier').attributes.value).toBe(BOB)
    expect((await enter(acme, flow, code)).status).toBe(422)
    const { body } = await enter(acme, flow, acme.codeFor(BOB))
    expect(body.session.identity.id).toBe(bob.id)

    const again = await signingIn()
    await again.acme.sendWell(again.flow, { method: 'code', identifier: BOB })
    expect((await enter(again.acme, again.flow, again.code)).status).toBe(422)
  })

  const INTERRUPTIONS: [string, (acme: Tenant, identity: Json) => Promise<unknown>][] = [
    ['deactivated', (acme, identity) => acme.setState(identity, 'inactive')],
    [
      'deactivated for a while',
      async (acme, identity) => {
        for (const state of ['inactive', 'active'])
          await acme.setState(identity, state)
      },
    ],
    ['signed out', (acme, { id }) => acme.api.delete(`${IDENTITIES}/${id}/sessions`)],
    [
      'given another address',
      (acme, identity) =>
        acme.patch(identity, [
          { op: 'replace', path: '/traits/email', value: BOB },
        ]),
    ],
  ]

  test.each(INTERRUPTIONS)('once the person was %s', async (_, act) => {
    const { acme, identity, flow, code } = await signingIn()
    await act(acme, identity)
    const { status, body } = await enter(acme, flow, code)
    expect([status, complaintsIn(body)]).toEqual([422, ['code:4010008']])
    expect(await sessionsOf(acme, identity)).toEqual([])
  })

  test('once the person is deleted, with the email', async () => {
    const { acme, identity, flow, code } = await signingIn()
    await acme.api.delete(`${IDENTITIES}/${identity.id}`)
    expect((await enter(acme, flow, code)).status).toBe(404)
    expect(acme.sentTo(ADA)).toEqual([])
  })

  test('while the tenant has switched codes off', async () => {
    const { acme, identity, flow, code } = await signingIn()
    await acme.security({ passwordless_enabled: false })
    const { status, body } = await enter(acme, flow, code)
    expect([status, complaintsIn(body)]).toEqual([422, [4010002]])
    expect(await sessionsOf(acme, identity)).toEqual([])
    const byPassword = ['default:identifier', 'password:password', 'password:method=password']
    expect(nodeNames((await read(acme, flow)).body)).toEqual(byPassword)
    await acme.security({ passwordless_enabled: true })
    expect((await enter(acme, flow, code)).status).toBe(200)
  })
})

describe('a flow that waits for a code', () => {
  test('takes the password as well', async () => {
    const { acme, flow } = await signingIn()
    const fields = { method: 'password', identifier: ADA, password: PASSWORD }
    expect((await acme.send(flow, fields)).status).toBe(200)
    expect(codeRows(acme, flow)).toEqual([])
  })

  test('sends another code if its button is pressed, with anything in the field', async () => {
    const { acme, flow } = await signingIn()
    for (const code of ['', '12', '000000']) {
      clock.jump(MAIL_GAP_MS)
      const before = acme.sentTo(ADA).length
      const { status, body } = await enter(acme, flow, code, { identifier: ADA, resend: 'code' })
      expect([status, saidIn(body)]).toEqual([200, [1010014]])
      expect(acme.sentTo(ADA)).toHaveLength(before + 1)
    }
    // None of it was a try.
    for (let tries = 0; tries < 4; tries++) await enter(acme, flow, 'abcdef')
    expect((await enter(acme, flow, acme.codeFor(ADA))).status).toBe(200)
  })

  test('asks for the code if the field is empty, and sends no other', async () => {
    const { acme, flow, code } = await signingIn()
    clock.jump(MAIL_GAP_MS)
    const { status, body } = await enter(acme, flow, '', { identifier: ADA })
    expect([status, complaintsIn(body)]).toEqual([422, ['code:4000002']])
    expect(acme.sentTo(ADA)).toHaveLength(1)
    expect((await enter(acme, flow, code)).status).toBe(200)
  })
})

test.each([
  ['a verified', person],
  ['an unverified', unproven],
])('a signed-in person with %s address signs in again with a code to it', async (_, make) => {
  const acme = await newTenant()
  await make(acme, ADA, { password: PASSWORD })
  await person(acme, BOB)
  const { session_token: token, session } = await acme.signIn(ADA)
  clock.jump(2 * HOUR)
  const flow = await acme.start('login', withToken(token), '?refresh=true')
  await acme.sendWell(flow, { method: 'code', identifier: BOB })
  expect(acme.mailsTo(BOB)).toEqual([])
  const done = await acme.sendWell(flow, { code: acme.codeFor(ADA) })
  const authenticated_at = isoAt(clock.now())
  expect(done).toMatchObject({
    session_token: token,
    session: { id: session.id, authenticated_at },
  })
  expect((await acme.whoami(token)).status).toBe(200)
  const methods = done.session.authentication_methods.map(({ method }: Json) => method)
  expect(methods).toContain('code')
})
