import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import type { Json } from '../../fixture.ts'
import { actionsOn, rowsOf, tablesWith, told } from '../../identities/people.ts'
import {
  ADA,
  BOB,
  complains,
  isAlive,
  NEW_PASSWORD,
  read,
  refuses,
  sessionOf,
  WAYS,
  withToken,
} from './acts.ts'
import {
  changeAddress,
  emailOf,
  person,
  sessionsOf,
  signedIn,
  type Tenant,
  useFlows,
  waiting,
} from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { app } = flows

const to = (password: unknown) => ({ method: 'password', password })
const isPassword = async (acme: Tenant, password: string): Promise<boolean> =>
  (await acme.tryPassword(ADA, password)).status === 200

async function withAda(fields: Json = {}) {
  const acme = await flows.newTenant()
  return { acme, ...(await signedIn(acme, ADA, fields)) }
}

const changesOf = ({ id }: Json): string[] =>
  actionsOn(app, `identity:${id}`).filter((action) => action === 'identity.password_changed')

const hashOf = ({ id }: Json): string =>
  rowsOf(app, 'gate_credentials').find(
    ({ identity_id, type }) => identity_id === id && type === 'password',
  )?.config

describe.each(Object.entries(WAYS))('a new password, sent %s,', (_, send) => {
  test('replaces the old one, and ends all other sessions of the person', async () => {
    const { acme, token } = await withAda()
    const { session_token: second } = await acme.signIn(ADA)
    const { session_token: third } = await acme.signIn(ADA)
    const bob = await signedIn(acme, BOB)
    const { id } = await sessionOf(acme, second)
    // The session that sends it stays, not the one that started the flow.
    const answer = await send(acme, await acme.settings(token), to(NEW_PASSWORD), second)
    const { status, body } = answer
    expect([status, body.state, messageIds(body)]).toEqual([200, 'success', [1050001]])
    expect(nodeNames(body)).toEqual([])
    expect((await sessionsOf(acme, body.identity)).map((session) => session.id)).toEqual([id])
    for (const [each, expected] of [
      [second, true],
      [token, false],
      [third, false],
      [bob.token, true],
    ])
      expect(await isAlive(acme, each as string)).toBe(expected as boolean)
    expect(await isPassword(acme, NEW_PASSWORD)).toBe(true)
    expect(await isPassword(acme, PASSWORD)).toBe(false)
  })
})

test('a new password is audited, told to webhooks once, and never stored or logged', async () => {
  await using target = startTarget()
  const { acme, token, identity } = await withAda()
  await acme.createWebhook(target.url, { events: ['identity.password_changed'] })
  await acme.change(token, to('short'))
  await acme.change(token, to(NEW_PASSWORD))
  await rest(app)
  const data = { identity_id: identity.id, payload: { method: 'password' } }
  const event = { event_type: 'identity.password_changed', tenant_id: acme.tenantId, data }
  expect(told(target)).toMatchObject([event])
  expect(changesOf(identity)).toHaveLength(1)
  expect(tablesWith(app, NEW_PASSWORD)).toEqual({})
  expect(app.log.join('')).not.toContain(NEW_PASSWORD)
  expect(hashOf(identity)).toContain('$argon2id$')
})

describe('a new password is refused', () => {
  test.each([
    [undefined, 4000002],
    ['', 4000002],
    [12345678, 4000026],
    [['seven green bicycles'], 4000026],
    ['q8Rt!z2', 4000032],
    [`${'q8Rt!z2 '.repeat(128)}x`, 4000033],
    ['password123', 4900006],
    [ADA, 4000031],
    [ADA.toUpperCase(), 4000031],
    ['ada1ada1ada@example', 4000031],
    [PASSWORD, 4000039],
  ])(
    'if it is missing, too short, long, common, similar or the current one (%#)',
    async (password, id) => {
      const { acme, token, identity } = await withAda()
      const { session_token: other } = await acme.signIn(ADA)
      const before = hashOf(identity)
      const flow = await acme.settings(token)
      const { status, body } = await acme.send(flow, to(password), withToken(token))
      expect([status, body.state, messageIds(body)]).toEqual([422, 'show_form', [`password:${id}`]])
      expect(node(body, 'password').attributes.value).toBe('')
      expect([hashOf(identity), changesOf(identity)]).toEqual([before, []])
      expect(await isAlive(acme, other)).toBe(true)
      expect(await acme.send(flow, to(NEW_PASSWORD), withToken(token))).toMatchObject({
        status: 200,
      })
    },
  )

  test('outside 8 to 1024 characters, and not within', async () => {
    const { acme, token } = await withAda()
    for (const password of ['q8Rt!z2k', 'q8Rt!z2 '.repeat(128)]) {
      expect(await acme.change(token, to(password))).toMatchObject({ status: 200 })
      expect(await isPassword(acme, password)).toBe(true)
    }
  })

  test('if it is shorter than the instance requires', async () => {
    const own = await useFlows({ flags: { 'gate-password-min-length': '16' } })
    const { session_token } = await own.register(ADA)
    const { body } = await own.change(session_token, to('q8Rt!z2k q8Rt!z'))
    const context = { min_length: 16, actual_length: 15 }
    expect(node(body, 'password').messages).toMatchObject([{ id: 4000032, context }])
    expect(await own.change(session_token, to('q8Rt!z2k q8Rt!z2'))).toMatchObject({ status: 200 })
  })

  test('if it is the current one, which was imported', async () => {
    const acme = await flows.newTenant()
    const hashed_password = await Bun.password.hash(PASSWORD, { algorithm: 'bcrypt', cost: 4 })
    const credentials = { password: { config: { hashed_password } } }
    const identity = await person(acme, ADA, { credentials })
    const { token } = await acme.openSession(identity)
    expect(await acme.change(token, to(PASSWORD))).toMatchObject(complains(4000039, 'password'))
    expect(await acme.change(token, to(NEW_PASSWORD))).toMatchObject({ status: 200 })
    expect(await isPassword(acme, NEW_PASSWORD)).toBe(true)
  })
})

test('a person without a password sets a first one', async () => {
  const acme = await flows.newTenant()
  const identity = await person(acme, ADA, { password: null })
  const { token } = await acme.openSession(identity)
  expect(await acme.change(token, to(NEW_PASSWORD))).toMatchObject({ status: 200 })
  expect((await acme.readIdentity(identity)).credentials).toHaveProperty('password')
  expect(await isPassword(acme, NEW_PASSWORD)).toBe(true)
  expect(changesOf(identity)).toHaveLength(1)
})

describe('of two changes at once', () => {
  const passwords = ['first green bicycle', 'second green bicycle']

  /** Which of the two passwords was set; it is the only one. */
  async function winnerOf(acme: Tenant, identity: Json) {
    const areGood = [
      await isPassword(acme, 'first green bicycle'),
      await isPassword(acme, 'second green bicycle'),
    ]
    expect(areGood.toSorted()).toEqual([false, true])
    expect(changesOf(identity)).toHaveLength(1)
    return areGood.indexOf(true)
  }

  test('in one flow, one is made', async () => {
    const { acme, token, identity } = await withAda()
    const flow = await acme.settings(token)
    const answers = await Promise.all(
      passwords.map((password) => acme.send(flow, to(password), withToken(token))),
    )
    const made = await winnerOf(acme, identity)
    expect(answers[made]).toMatchObject({ status: 200 })
    expect(answers[1 - made]).toMatchObject(complains(4050001))
  })

  test('from two sessions, the first ends the other', async () => {
    const { acme, token, identity } = await withAda()
    const tokens: string[] = [token, (await acme.signIn(ADA)).session_token]
    const started = await Promise.all(tokens.map((each) => acme.settings(each)))
    const answers = await Promise.all(
      started.map((flow, at) =>
        acme.send(flow, to(passwords[at]), withToken(tokens[at] as string)),
      ),
    )
    const made = await winnerOf(acme, identity)
    expect(answers[made]).toMatchObject({ status: 200 })
    expect([401, 422]).toContain(answers[1 - made]?.status as number)
    expect(await isAlive(acme, tokens[made] as string)).toBe(true)
    expect(await isAlive(acme, tokens[1 - made] as string)).toBe(false)
  })
})

test('a sign-in with the old password during the change has no session afterwards', async () => {
  const { acme, token } = await withAda()
  const flow = await acme.settings(token)
  const [changed, signedIn] = await Promise.all([
    acme.send(flow, to(NEW_PASSWORD), withToken(token)),
    acme.tryPassword(ADA),
  ])
  expect(changed).toMatchObject({ status: 200 })
  if (signedIn.status === 200) expect(await isAlive(acme, signedIn.body.session_token)).toBe(false)
  else expect(signedIn).toMatchObject(complains(4000006))
})

describe('a new password ends', () => {
  test('settings flows of other sessions', async () => {
    const { acme, token } = await withAda()
    const { session_token: other } = await acme.signIn(ADA)
    const flow = await acme.settings(other)
    await acme.change(token, to(NEW_PASSWORD))
    const inactive = refuses(401, 'session_inactive')
    const sent = await acme.send(flow, to('third green bicycle'), withToken(other))
    expect(sent).toMatchObject(inactive)
    expect(await read(acme, flow.ui.action, withToken(other))).toMatchObject(inactive)
  })

  test('recoveries', async () => {
    const { acme, token } = await withAda()
    const { flow, code } = await waiting(acme, 'recovery', ADA)
    await acme.change(token, to(NEW_PASSWORD))
    expect(await acme.send(flow, { code })).toMatchObject(complains(4060006, 'code'))
    expect(await isAlive(acme, token)).toBe(true)
  })

  test('changes of the address', async () => {
    const { acme, token, identity } = await withAda()
    const flow = await changeAddress(acme, token, BOB)
    await acme.change(token, to(NEW_PASSWORD))
    const late = await acme.send(flow, { code: acme.codeFor(BOB) })
    expect(late).toMatchObject(complains(4070006, 'code'))
    expect(await emailOf(acme, identity)).toBe(ADA)
  })

  test('no second factor', async () => {
    const acme = await flows.newTenant({ mfa_enabled: true })
    const { token } = await signedIn(acme, ADA)
    await acme.enrol(token)
    await acme.change(token, to(NEW_PASSWORD))
    expect((await sessionOf(acme, token)).authenticator_assurance_level).toBe('aal2')
    expect((await acme.signIn(ADA, NEW_PASSWORD)).session.identity).toBeNull()
  })
})
