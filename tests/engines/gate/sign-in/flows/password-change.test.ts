import { expect, test } from 'bun:test'
import type { Json } from '../../fixture.ts'
import { actionsOn, rowsOf, tablesWith } from '../../fixture.ts'
import { ADA, BOB, complains, NEW_PASSWORD, refuses, WAYS, withToken } from './acts.ts'
import { idsIn } from './checked.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { app } = flows

const to = (password: unknown) => ({ method: 'password', password })
const isPassword = async (acme: Tenant, password: string): Promise<boolean> =>
  (await acme.tryPassword(ADA, password)).status === 200

async function withAda() {
  const acme = await flows.newTenant()
  return { acme, ...(await acme.signedIn(ADA)) }
}

const changesOf = ({ id }: Json): number =>
  actionsOn(app, `identity:${id}`).filter((action) => action === 'identity.password_changed').length

const hashOf = ({ id }: Json): string =>
  rowsOf(app, 'gate_credentials').find(
    ({ identity_id, type }) => identity_id === id && type === 'password',
  )?.config

test.each(Object.entries(WAYS))('A new password sent %s ends other sessions', async (_, send) => {
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

test('A new password is audited, told to webhooks once, and never stored or logged', async () => {
  const { acme, token, identity } = await withAda()
  await using hooks = await acme.listening()
  await acme.change(token, to('short'))
  await acme.change(token, to(NEW_PASSWORD))
  const data = { identity_id: identity.id, payload: { method: 'password' } }
  const event = { event_type: 'identity.password_changed', tenant_id: acme.tenantId, data }
  expect(await hooks.events()).toMatchObject([event])
  expect(changesOf(identity)).toBe(1)
  expect(tablesWith(app, NEW_PASSWORD)).toEqual({})
  expect(app.log.join('')).not.toContain(NEW_PASSWORD)
  expect(hashOf(identity)).toContain('$argon2id$')
})

test('A new password is refused if it is missing, too short, long, common, similar or the current one', async () => {
  const { acme, token, identity } = await withAda()
  const { session_token: other } = await acme.signIn(ADA)
  const before = hashOf(identity)
  const flow = await acme.settings(token)
  for (const [password, id] of [
    [undefined, 4000002],
    ['q8Rt!z2', 4000032],
    ['password123', 4900006],
    [ADA, 4000031],
    [PASSWORD, 4000039],
  ] as const) {
    const answer = await acme.send(flow, to(password), withToken(token))
    const expected = ['show_form', 422, `password:${id}`]
    expect([answer.body.state, ...idsIn(answer)]).toEqual(expected)
    expect(node(answer.body, 'password').attributes.value).toBe('')
  }
  expect([hashOf(identity), changesOf(identity)]).toEqual([before, 0])
  expect(await acme.isAlive(other)).toBe(true)
  await acme.sendWell(flow, to(NEW_PASSWORD), withToken(token))
})

test('A person without a password sets a first one', async () => {
  const acme = await flows.newTenant()
  const identity = await acme.person(ADA, { password: null })
  const { token } = await acme.openSession(identity)
  expect(await acme.change(token, to(NEW_PASSWORD))).toMatchObject({ status: 200 })
  expect((await acme.readIdentity(identity)).credentials).toHaveProperty('password')
  expect(await isPassword(acme, NEW_PASSWORD)).toBe(true)
  expect(changesOf(identity)).toBe(1)
})

test.each(['one flow', 'two sessions'])('Of two changes at once in %s, one is made', async (of) => {
  const { acme, token, identity } = await withAda()
  const passwords = ['first green bicycle', 'second green bicycle'] as const
  const second: string = of === 'one flow' ? token : (await acme.signIn(ADA)).session_token
  const first = await acme.settings(token)
  const flow = of === 'one flow' ? first : await acme.settings(second)
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
  if (second === token) expect(lost).toMatchObject(complains(4050001))
  else expect(await acme.isAlive(isFirst ? second : token)).toBe(false)
  expect(await acme.isAlive(isFirst ? token : second)).toBe(true)
})

test('A sign-in with the old password during the change has no session afterwards', async () => {
  const { acme, token } = await withAda()
  const flow = await acme.settings(token)
  const [changed, signedIn] = await Promise.all([
    acme.send(flow, to(NEW_PASSWORD), withToken(token)),
    acme.tryPassword(ADA),
  ])
  expect(changed).toMatchObject({ status: 200 })
  if (signedIn.status === 200) expect(await acme.isAlive(signedIn.body.session_token)).toBe(false)
  else expect(signedIn).toMatchObject(complains(4000006))
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
