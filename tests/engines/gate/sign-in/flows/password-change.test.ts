import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import type { Json } from '../../fixture.ts'
import { actionsOn, rowsOf, tablesWith, told } from '../../identities/people.ts'
import {
  ADA,
  bootFactors,
  bootUnhurried,
  complains,
  isAlive,
  NEW_PASSWORD,
  read,
  refuses,
  sessionOf,
  WAYS,
  withToken,
} from './acts.ts'
import { type FlowFixture, flowParty, messageIds, node, nodeNames, PASSWORD } from './fixture.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootUnhurried()
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
let token: string
let identity: Json
beforeEach(async () => {
  email = `repository-${people++}@example.com`
  const done = await fixture.register(email)
  token = done.session_token
  identity = done.identity
})

const to = (password: unknown) => ({ method: 'password', password })
const isPassword = async (password: string, of = email): Promise<boolean> =>
  (await fixture.tryPassword(of, password)).status === 200

/** What has become of somebody since they came. */
const changesOf = ({ id }: Json): string[] =>
  actionsOn(fixture.app, `identity:${id}`).filter((action) => action !== 'identity.created')

const hashOf = ({ id }: Json): string =>
  rowsOf(fixture.app, 'gate_credentials').find(
    ({ identity_id, type }) => identity_id === id && type === 'password',
  )?.config

describe.each(Object.entries(WAYS))('a new password, sent %s,', (_, send) => {
  test('takes the place of the old one', async () => {
    const flow = await fixture.settings(token)
    const { status, body } = await send(fixture, flow, to(NEW_PASSWORD), token)

    expect({ status, state: body.state }).toEqual({ status: 200, state: 'success' })
    expect(messageIds(body)).toEqual([1050001])
    expect(nodeNames(body)).toEqual([])
    expect(await isPassword(NEW_PASSWORD)).toBe(true)
    expect(await isPassword(PASSWORD)).toBe(false)
  })

  test('ends every other session of the person, and of nobody else', async () => {
    const others = [await fixture.signIn(email), await fixture.signIn(email)]
    const bystander = await fixture.register(`by-${email}`)
    const before = await sessionOf(fixture, token)

    await send(fixture, await fixture.settings(token), to(NEW_PASSWORD), token)

    expect((await sessionOf(fixture, token)).id).toBe(before.id)
    for (const { session_token } of others)
      expect(await isAlive(fixture, session_token)).toBe(false)
    expect(await isAlive(fixture, bystander.session_token)).toBe(true)
    const listed = (await fixture.api.get(`/v1/gate/identities/${identity.id}/sessions`)).body
    expect(listed.map(({ id }: Json) => id)).toEqual([before.id])
  })

  test('leaves the session that sends it, not the one that began the flow', async () => {
    const { session_token: second } = await fixture.signIn(email)
    await send(fixture, await fixture.settings(token), to(NEW_PASSWORD), second)
    expect(await isAlive(fixture, second)).toBe(true)
    expect(await isAlive(fixture, token)).toBe(false)
  })
})

test('a new password is told to webhooks once, and noted', async () => {
  await using target = startTarget()
  const own = await flowParty(fixture.app, 'Told')
  const { session_token, identity: person } = await own.register(ADA)
  await own.createWebhook(target.url, { events: ['identity.password_changed'] })

  await own.change(session_token, to('short'))
  await own.change(session_token, to(NEW_PASSWORD))
  await rest(fixture.app)

  expect(told(target)).toEqual([
    expect.objectContaining({
      event_type: 'identity.password_changed',
      tenant_id: own.id,
      data: { identity_id: person.id, payload: { method: 'password' } },
    }),
  ])
  expect(changesOf(person)).toEqual(['identity.password_changed'])
})

test('a password is nowhere but in the head of its owner', async () => {
  await fixture.change(token, to(NEW_PASSWORD))
  expect(tablesWith(fixture.app, NEW_PASSWORD)).toEqual({})
  expect(fixture.app.log.join('')).not.toContain(NEW_PASSWORD)
  expect(hashOf(identity)).toContain('$argon2id$')
})

describe('a new password is not taken', () => {
  test.each([
    ['that is missing', undefined, 4000002],
    ['that is empty', '', 4000002],
    ['that is no text', 12345678, 4000026],
    ['that is a list', ['seven green bicycles'], 4000026],
    ['that is shorter than eight characters', 'q8Rt!z2', 4000032],
    ['that is longer than 1024 characters', `${'q8Rt!z2 '.repeat(128)}x`, 4000033],
    ['that many people have', 'password123', 4900006],
  ])('%s', async (_, password, id) => {
    const before = hashOf(identity)

    const answer = await fixture.change(token, to(password))

    expect(answer).toMatchObject(complains(id, 'password'))
    expect(hashOf(identity)).toBe(before)
  })

  test('that is like the address', async () => {
    for (const password of [email, email.toUpperCase(), `${email.split('@')[0]}1`])
      expect(await fixture.change(token, to(password))).toMatchObject(
        complains(4000031, 'password'),
      )
    expect(await isPassword(PASSWORD)).toBe(true)
  })

  test('that is the one there is', async () => {
    const { session_token: other } = await fixture.signIn(email)
    expect(await fixture.change(token, to(PASSWORD))).toMatchObject(complains(4000039, 'password'))
    expect(await isAlive(fixture, other)).toBe(true)
    expect(changesOf(identity)).toEqual([])
  })

  test('and the flow goes on, without what was typed', async () => {
    const flow = await fixture.settings(token)
    const { body } = await fixture.send(flow, to('q8Rt!z2'), withToken(token))
    expect(body).toMatchObject({ id: flow.id, state: 'show_form' })
    expect(JSON.stringify(body)).not.toContain('q8Rt!z2')
    expect(node(body, 'password').attributes.value).toBe('')
    expect(await fixture.send(flow, to(NEW_PASSWORD), withToken(token))).toMatchObject({
      status: 200,
    })
  })

  test('though it may have exactly eight characters, or 1024', async () => {
    for (const password of ['q8Rt!z2k', 'q8Rt!z2 '.repeat(128)]) {
      expect(await fixture.change(token, to(password))).toMatchObject({ status: 200 })
      expect(await isPassword(password)).toBe(true)
    }
  })

  test('shorter than this installation wants', async () => {
    await using own = await bootUnhurried({ flags: { 'gate-password-min-length': '16' } })
    const { session_token } = await own.register(ADA)
    expect(await own.change(session_token, to('q8Rt!z2k q8Rt!z'))).toMatchObject({
      status: 422,
      body: { ui: { nodes: expect.anything() } },
    })
    const { body } = await own.change(session_token, to('q8Rt!z2k q8Rt!z'))
    const [message] = node(body, 'password').messages
    expect(message).toMatchObject({ id: 4000032, context: { min_length: 16, actual_length: 15 } })
    expect(await own.change(session_token, to('q8Rt!z2k q8Rt!z2'))).toMatchObject({ status: 200 })
  })
})

describe('somebody without a password', () => {
  test('sets a first one, and has it from then on', async () => {
    const person = await fixture.createIdentity({ traits: { email: `first-${email}` } })
    const { token: session } = await fixture.openSession(person)
    expect((await fixture.readIdentity(person)).credentials).toEqual({})

    expect(await fixture.change(session, to(NEW_PASSWORD))).toMatchObject({ status: 200 })

    expect((await fixture.readIdentity(person)).credentials).toHaveProperty('password')
    expect(await isPassword(NEW_PASSWORD, `first-${email}`)).toBe(true)
    expect(changesOf(person)).toContain('identity.password_changed')
  })

  test('sets one after signing up by a code', async () => {
    await using own = await bootUnhurried()
    await own.security({ passwordless_enabled: true })
    const flow = await own.start('registration')
    await own.sendWell(flow, { method: 'code', traits: { email: ADA } })
    const code = own.codeFor(ADA)
    const { session_token } = await own.sendWell(flow, { method: 'code', code })

    expect(await own.change(session_token, to(NEW_PASSWORD))).toMatchObject({ status: 200 })
    expect(await own.tryPassword(ADA, NEW_PASSWORD)).toMatchObject({ status: 200 })
  })
})

test('a password that was imported is known as the one there is', async () => {
  const address = `imported-${email}`
  const hashed_password = await Bun.password.hash(PASSWORD, { algorithm: 'bcrypt', cost: 4 })
  const person = await fixture.createIdentity({
    traits: { email: address },
    credentials: { password: { config: { hashed_password } } },
  })
  const { token: session } = await fixture.openSession(person)
  expect(await fixture.change(session, to(PASSWORD))).toMatchObject(complains(4000039, 'password'))
  expect(await fixture.change(session, to(NEW_PASSWORD))).toMatchObject({ status: 200 })
  expect(await isPassword(NEW_PASSWORD, address)).toBe(true)
})

describe('two changes at once', () => {
  test('in one flow: one is made', async () => {
    const flow = await fixture.settings(token)
    const passwords = ['first green bicycle', 'second green bicycle']
    const answers = await Promise.all(
      passwords.map((password) => fixture.send(flow, to(password), withToken(token))),
    )

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
    const made = answers.findIndex(({ status }) => status === 200)
    expect(answers[1 - made]).toMatchObject(complains(4050001))
    expect(await isPassword(passwords[made] as string)).toBe(true)
    expect(await isPassword(passwords[1 - made] as string)).toBe(false)
    expect(changesOf(identity)).toEqual(['identity.password_changed'])
  })

  test('from two sessions: the one that is first ends the other', async () => {
    const { session_token: second } = await fixture.signIn(email)
    const passwords = ['first green bicycle', 'second green bicycle']
    const tokens = [token, second]
    const flows = [await fixture.settings(token), await fixture.settings(second)]
    const answers = await Promise.all(
      passwords.map((password, at) =>
        fixture.send(flows[at], to(password), withToken(tokens[at] as string)),
      ),
    )

    const made = answers.findIndex(({ status }) => status === 200)
    expect(answers[made]).toMatchObject({ status: 200 })
    expect([401, 422]).toContain(answers[1 - made]?.status as number)
    expect(await isAlive(fixture, tokens[made] as string)).toBe(true)
    expect(await isAlive(fixture, tokens[1 - made] as string)).toBe(false)
    expect(await isPassword(passwords[made] as string)).toBe(true)
    expect(await isPassword(passwords[1 - made] as string)).toBe(false)
  })

  test('of the password and of who signs in with the old one: no session of it is left', async () => {
    const flow = await fixture.settings(token)
    const [changed, signedIn] = await Promise.all([
      fixture.send(flow, to(NEW_PASSWORD), withToken(token)),
      fixture.tryPassword(email, PASSWORD),
    ])
    expect(changed).toMatchObject({ status: 200 })
    if (signedIn.status === 200)
      expect(await isAlive(fixture, signedIn.body.session_token)).toBe(false)
    else expect(signedIn).toMatchObject(complains(4000006))
  })
})

describe('a new password ends what was under way', () => {
  test('in other sessions: their flows about settings', async () => {
    const { session_token: other } = await fixture.signIn(email)
    const theirs = await fixture.settings(other)
    await fixture.change(token, to(NEW_PASSWORD))
    const fields = to('third green bicycle')
    expect(await fixture.send(theirs, fields, withToken(other))).toMatchObject(
      refuses(401, 'session_inactive'),
    )
    expect(await read(fixture, theirs.ui.action, withToken(other))).toMatchObject({ status: 401 })
  })

  test('by mail: codes for recovery that are out', async () => {
    await using own = await bootUnhurried()
    const { session_token } = await own.register(ADA)
    own.clock.jump(31_000)
    const recovery = await own.start('recovery')
    await own.sendWell(recovery, { method: 'code', email: ADA })
    const code = own.codeFor(ADA)

    expect(await own.change(session_token, to(NEW_PASSWORD))).toMatchObject({ status: 200 })

    expect(await own.send(recovery, { method: 'code', code })).toMatchObject(
      complains(4060006, 'code'),
    )
    expect(await isAlive(own, session_token)).toBe(true)
  })

  test('by mail: a change of the address that is not confirmed', async () => {
    await using own = await bootUnhurried()
    const { session_token, identity: ada } = await own.register(ADA)
    own.clock.jump(31_000)
    const { body } = await own.change(session_token, {
      method: 'profile',
      traits: { email: 'eve@example.com' },
    })
    const verification = (await read(own, body.continue_with[0].flow.url)).body
    const code = own.codeFor('eve@example.com')

    await own.change(session_token, to(NEW_PASSWORD))

    expect(await own.send(verification, { method: 'code', code })).toMatchObject(
      complains(4070006, 'code'),
    )
    expect((await own.readIdentity(ada)).traits.email).toBe(ADA)
  })

  test('but not the second factor', async () => {
    await using own = await bootFactors()
    const { session_token } = await own.register(ADA)
    await own.enrol(session_token)
    await own.change(session_token, to(NEW_PASSWORD))
    expect((await sessionOf(own, session_token)).authenticator_assurance_level).toBe('aal2')
    const { session } = await own.signIn(ADA, NEW_PASSWORD)
    expect(session.identity).toBeNull()
  })
})
