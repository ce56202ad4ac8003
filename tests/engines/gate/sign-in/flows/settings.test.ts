import { expect, test } from 'bun:test'
import {
  actionsOn,
  auditOf,
  HOUR,
  type Json,
  rowsOf,
  SESSIONS,
  tablesWith,
  UNKNOWN_ID,
} from '../../fixture.ts'
import { ADA, BOB, complains, NEW_PASSWORD, refuses, withToken } from './acts.ts'
import { idsIn } from './checked.ts'
import { type Tenant, useFlows, WAYS } from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const INACTIVE = refuses(401, 'session_inactive')
const OTHER = refuses(403, 'security_identity_mismatch')
const OWED = refuses(403, 'session_aal2_required')
const OVER = complains(4050001)

async function withAda() {
  const acme = await flows.newTenant()
  const traits = { custom_data: { plan: 'free' } }
  const { session_token: token, identity } = await acme.register(ADA, PASSWORD, traits)
  return { acme, token: token as string, identity }
}

/** A change that everyone may make, and that can be seen. */
const mark = (value: unknown) => ({
  method: 'profile',
  traits: { email: ADA, custom_data: { mark: value } },
})

const markOf = async (acme: Tenant, identity: Json): Promise<unknown> =>
  (await acme.readIdentity(identity)).traits.custom_data.mark

test('A settings flow is shown to the sessions of its person alone, before and after it is complete', async () => {
  const { acme, token, identity } = await withAda()
  const { session_token: second } = await acme.signIn(ADA)
  const { session_token: foreign } = await (await flows.newTenant()).register(ADA)
  const { session_token: bob } = await acme.register(BOB)
  const flow = await acme.settings(token)
  expect(node(flow, 'traits.email').attributes.value).toBe(ADA)
  expect(JSON.stringify(flow)).not.toContain('gat_st_')
  const read = (of: string) => acme.readAt(flow.ui.action, of ? withToken(of) : {})
  for (const state of ['show_form', 'success']) {
    for (const wrong of ['', 'garbage', foreign]) expect(await read(wrong)).toMatchObject(INACTIVE)
    expect(await read(bob)).toMatchObject(OTHER)
    expect(JSON.stringify((await read(bob)).body)).not.toContain(identity.id)
    const shown = { id: flow.id, state, identity: { id: identity.id } }
    for (const good of [token, second])
      expect(await read(good)).toMatchObject({ status: 200, body: shown })
    await acme.send(flow, mark(1), withToken(token))
  }
  await acme.setState(identity, 'inactive')
  expect(await read(token)).toMatchObject(INACTIVE)
  expect(await acme.ask('settings', withToken(token))).toMatchObject({ status: 401 })
})

test.each(WAYS)('Settings, sent %s, take any own token, once', async (_, send) => {
  const { acme, token, identity } = await withAda()
  const { session_token: second } = await acme.signIn(ADA)
  for (const [at, good] of [token, second].entries()) {
    const flow = await acme.settings(token)
    const done = { status: 200, body: { id: flow.id, state: 'success' } }
    expect(await send(acme, flow, mark(at), good)).toMatchObject(done)
    expect(await send(acme, flow, mark('again'), good)).toMatchObject(OVER)
    expect(await markOf(acme, identity)).toBe(at)
  }
  const flow = await acme.settings(token)
  const both = await Promise.all([1, 2].map((n) => send(acme, flow, mark(n), token)))
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 422])
  expect(both.find(({ status }) => status === 422)).toMatchObject(OVER)
})

test.each(WAYS)('Settings, sent %s, refuse other tokens', async (_, send) => {
  const { acme, token, identity } = await withAda()
  const { session_token: foreign } = await (await flows.newTenant()).register(ADA)
  const bob = await acme.register(BOB)
  const { session_token: ended } = await acme.signIn(ADA)
  await acme.api.delete(`${SESSIONS}/${(await acme.sessionOf(ended)).id}`)
  const flow = await acme.settings(token)
  const odd = `${token.slice(0, -1)}!`
  for (const wrong of [undefined, 'garbage', acme.key, odd, foreign, ended])
    expect(await send(acme, flow, mark(1), wrong)).toMatchObject(INACTIVE)
  expect(await send(acme, flow, mark(1), bob.session_token)).toMatchObject(OTHER)
  for (const [fields, id] of [
    [{}, 4010004],
    [{ method: 'magic' }, 4010004],
    [{ totp_code: '123456' }, 4010004],
    [{ totp_unlink: 'true' }, 4010004],
    [{ method: 'lookup_secret', lookup_secret_regenerate: true }, 4010004],
  ] as [Json, number][])
    expect(idsIn(await send(acme, flow, fields, token))).toEqual([422, id])
  expect(await markOf(acme, identity)).toBeUndefined()
  expect((await acme.readIdentity(bob.identity)).traits).toEqual(bob.identity.traits)

  const globex = await flows.newTenant({ mfa_enabled: true })
  const first = await globex.register(ADA)
  const { session_token: half } = await globex.signIn(ADA)
  const begun = await globex.settings(half)
  await globex.enrol(first.session_token)
  const owed = await send(globex, begun, to(NEW_PASSWORD), half)
  expect(owed).toMatchObject(OWED)
  // What it owes is asked for at this URL.
  const login = await globex.readAt(owed.body.redirect_browser_to, withToken(half))
  expect(login).toMatchObject({ status: 200, body: { requested_aal: 'aal2' } })
})

test('A button states its method by its name, as a word or a boolean', async () => {
  const acme = await flows.newTenant({ mfa_enabled: true })
  const { session_token } = await acme.register(ADA)
  for (const value of ['true', true])
    for (const [name, expected] of [
      ['totp_unlink', complains(4000011)],
      ['lookup_secret_regenerate', { status: 200 }],
      ['lookup_secret_confirm', complains(4000014)],
      ['lookup_secret_reveal', complains(4900007)],
    ] as const)
      expect(await acme.change(session_token, { [name]: value })).toMatchObject(expected)
})

const save = (acme: Tenant, token: string, traits: unknown) =>
  acme.change(token, { method: 'profile', traits })

test('The profile keeps custom data that is not sent, and replaces it otherwise', async () => {
  const { acme, token, identity } = await withAda()
  const stored = async () => (await acme.readIdentity(identity)).traits
  const about = `identity:${identity.id}`
  const before = actionsOn(app, about)
  // It needs no recent sign-in.
  clock.jump(23 * HOUR)
  const { body } = await save(acme, token, { email: ADA })
  expect([body.state, messageIds(body), nodeNames(body)]).toEqual(['success', [1050001], []])
  const tenant_id = acme.tenantId
  expect(await stored()).toEqual({ email: ADA, tenant_id, custom_data: { plan: 'free' } })
  expect(actionsOn(app, about)).toEqual(before)

  for (const custom_data of [{ theme: { dark: true } }, {}]) {
    // The tenant is not theirs to choose.
    const traits = { email: ADA, custom_data, tenant_id: UNKNOWN_ID }
    expect((await save(acme, token, traits)).body.identity.traits.custom_data).toEqual(custom_data)
    expect(await stored()).toEqual({ email: ADA, tenant_id, custom_data })
  }
  expect(actionsOn(app, about).slice(before.length)).toEqual(Array(2).fill('identity.updated'))
  const byOwner = { actor_kind: 'person', actor_id: identity.id }
  expect(auditOf(app, about).at(-1)).toMatchObject(byOwner)
})

test('An invalid profile is refused', async () => {
  const { acme, token, identity } = await withAda()
  for (const [traits, id] of [
    [{ email: ADA, role: 'admin' }, 4000001],
    [{ email: ADA, custom_data: { a: 'x'.repeat(65_536) } }, 4000001],
    ['x', 4000026],
  ] as const)
    expect(idsIn(await save(acme, token, traits))).toEqual([422, id])
  const answer = await save(acme, token, { email: '<b>no' })
  expect(node(answer.body, 'traits.email').attributes.value).toBe('<b>no')
  expect(idsIn(answer)).toEqual([422, 'traits.email:4000040'])
  const kept = { email: ADA, custom_data: { plan: 'free' } }
  expect((await acme.readIdentity(identity)).traits).toMatchObject(kept)
})

const to = (password: unknown) => ({ method: 'password', password })
const isPassword = async (acme: Tenant, password: string): Promise<boolean> =>
  (await acme.tryPassword(ADA, password)).status === 200

const changesOf = ({ id }: Json): number =>
  actionsOn(app, `identity:${id}`).filter((action) => action === 'identity.password_changed').length

const hashOf = ({ id }: Json): string =>
  rowsOf(app, 'gate_credentials').find(
    ({ identity_id, type }) => identity_id === id && type === 'password',
  )?.config

test.each(WAYS)('A new password sent %s ends other sessions', async (_, send) => {
  const { acme, token } = await withAda()
  const { session_token: second } = await acme.signIn(ADA)
  const bob = await acme.signedIn(BOB)
  const { id } = await acme.sessionOf(second)
  // The session that sends it stays, not the one that started the flow.
  const { body } = await send(acme, await acme.settings(token), to(NEW_PASSWORD), second)
  expect([body.state, messageIds(body), nodeNames(body)]).toEqual(['success', [1050001], []])
  expect((await acme.sessionsOf(body.identity)).map((session) => session.id)).toEqual([id])
  const areAlive = await Promise.all([second, token, bob.token].map(acme.isAlive))
  expect(areAlive).toEqual([true, false, true])
  expect(await isPassword(acme, NEW_PASSWORD)).toBe(true)
  expect(await isPassword(acme, PASSWORD)).toBe(false)
})

test('A new password is valid and another one; webhooks are told once, and no table or log has it', async () => {
  const { acme, token, identity } = await withAda()
  const before = hashOf(identity)
  await using hooks = await acme.listening()
  const flow = await acme.settings(token)
  for (const [password, id] of [
    [undefined, 4000002],
    ['q8Rt!z2', 4000032],
    ['password123', 4900006],
    [ADA, 4000031],
    [PASSWORD, 4000039],
  ] as const) {
    const answer = await acme.send(flow, to(password), withToken(token))
    expect(idsIn(answer)).toEqual([422, `password:${id}`])
    expect(node(answer.body, 'password').attributes.value).toBe('')
  }
  expect([hashOf(identity), changesOf(identity)]).toEqual([before, 0])
  await acme.sendWell(flow, to(NEW_PASSWORD), withToken(token))
  const data = { identity_id: identity.id, payload: { method: 'password' } }
  const event = { event_type: 'identity.password_changed', tenant_id: acme.tenantId, data }
  expect(await hooks.events()).toMatchObject([event])
  expect(changesOf(identity)).toBe(1)
  expect(tablesWith(app, NEW_PASSWORD)).toEqual({})
  expect(app.log.join('')).not.toContain(NEW_PASSWORD)
  expect(hashOf(identity)).toContain('$argon2id$')
})

test('A person without a password sets a first one', async () => {
  const acme = await flows.newTenant()
  const identity = await acme.person(ADA, { password: null })
  const { token } = await acme.openSession(identity)
  expect(await acme.change(token, to(NEW_PASSWORD))).toMatchObject({ status: 200 })
  expect(await isPassword(acme, NEW_PASSWORD)).toBe(true)
})

test.each([1, 2])('Of two new passwords at once in %d sessions, one is made', async (sessions) => {
  const { acme, token, identity } = await withAda()
  const passwords = ['first green bicycle', 'second green bicycle'] as const
  const second: string = sessions === 1 ? token : (await acme.signIn(ADA)).session_token
  const first = await acme.settings(token)
  const flow = sessions === 1 ? first : await acme.settings(second)
  const answers = await Promise.all([
    acme.send(first, to(passwords[0]), withToken(token)),
    acme.send(flow, to(passwords[1]), withToken(second)),
  ])
  const isFirst = await isPassword(acme, passwords[0])
  expect(await isPassword(acme, passwords[1])).toBe(!isFirst)
  expect(changesOf(identity)).toBe(1)
  const [made, lost] = isFirst ? answers : answers.toReversed()
  expect(made).toMatchObject({ status: 200 })
  expect([401, 422]).toContain(lost?.status as number)
  if (second !== token) expect(await acme.isAlive(isFirst ? second : token)).toBe(false)
})

test('A new password ends recoveries, and settings flows of other sessions', async () => {
  const { acme, token } = await withAda()
  const { session_token: other } = await acme.signIn(ADA)
  const settings = await acme.settings(other)
  const { flow, code } = await acme.waiting('recovery', ADA)
  await acme.change(token, to(NEW_PASSWORD))
  const inactive = refuses(401, 'session_inactive')
  const sent = await acme.send(settings, to('third green bicycle'), withToken(other))
  expect(sent).toMatchObject(inactive)
  expect(await acme.readAt(settings.ui.action, withToken(other))).toMatchObject(inactive)
  expect(await acme.send(flow, { code })).toMatchObject(complains(4060006, 'code'))
  expect(await acme.isAlive(token)).toBe(true)
})
