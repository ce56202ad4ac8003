import { describe, expect, test } from 'bun:test'
import { createOfflineOperators } from '../../../../src/engines/gate/operators/offline.ts'
import { SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { testConfig } from '../../../support/config.ts'
import { bootOperators, CLI, type OperatorFixture, PASSWORD } from './fixture.ts'

const ADA = {
  email: 'Ada@Example.com',
  displayName: 'Ada Berg',
  password: PASSWORD,
  isVerified: false,
}
const DEVICE = { method: 'link', ipAddress: '192.0.2.7', userAgent: 'test' } as const
const NEW_PASSWORD = 'seven green bicycles'

const actions = ({ platform }: OperatorFixture) =>
  platform.audit
    .list({ tenantId: SYSTEM_TENANT_ID, limit: 100 })
    .entries.map(({ action, actor }) => `${actor.kind} ${action}`)

/** The tokens of so many sessions of one operator. */
async function sessionsOf(
  { app, gateOperators }: OperatorFixture,
  operator: { id: string },
  count: number,
) {
  const opened = []
  for (let made = 0; made < count; made++)
    opened.push(await app.db.commit(() => gateOperators.open(operator, DEVICE)))
  return opened
}

const isAlive = ({ gate }: OperatorFixture, token: string): boolean => {
  try {
    gate.sessions.authenticated(token, SYSTEM_TENANT_ID)
    return true
  } catch {
    return false
  }
}

describe('an operator whom somebody makes', () => {
  test('has the traits of one, and is found by the address however it is spelt', async () => {
    await using fixture = await bootOperators()
    const row = await fixture.gateOperators.create(CLI, { ...ADA, locale: 'de' })

    expect(row).toMatchObject({ tenantId: SYSTEM_TENANT_ID, schemaId: 'operator', state: 'active' })
    expect(JSON.parse(row.traits)).toEqual({
      email: 'ada@example.com',
      display_name: 'Ada Berg',
      locale: 'de',
    })
    expect(fixture.gateOperators.find('ADA@example.com')).toEqual(row)
    expect(fixture.gateOperators.find('nobody@example.com')).toBeUndefined()
    expect(fixture.gateOperators.find('no address')).toBeUndefined()
    expect(actions(fixture)).toEqual(['cli identity.created'])
  })

  test.each([true, false])('has a proven address or has not: %p', async (isVerified) => {
    await using fixture = await bootOperators()
    const operator = await fixture.gateOperators.create(CLI, { ...ADA, isVerified })
    const [{ session } = expect.unreachable()] = await sessionsOf(fixture, operator, 1)
    expect(session.identity.verifiable_addresses[0]?.verified).toBe(isVerified)
  })

  test.each<[string, object, string]>([
    ['no address', { email: 'ada' }, 'traits.email: must be an email address'],
    [
      'an endless name',
      { displayName: 'x'.repeat(201) },
      'traits.display_name: must have at most 200 characters',
    ],
    [
      'a name that turns the line',
      { displayName: '\u202eadA' },
      'traits.display_name: must be one line without control characters',
    ],
    [
      'no language',
      { locale: 'deutsch' },
      'traits.locale: must be two lowercase letters, such as en',
    ],
    ['a short password', { password: 'seven77' }, 'password: must have at least 8 characters'],
    [
      'an endless password',
      { password: 'x'.repeat(1025) },
      'password: must have at most 1024 characters',
    ],
    [
      'the address as password',
      { password: 'ada@example.com' },
      'password: is too similar to the email address',
    ],
    ['a common password', { password: 'password1' }, 'password: is too common'],
  ])('is refused by field and rule: %s', async (_, wrong, words) => {
    await using fixture = await bootOperators()
    expect(fixture.gateOperators.create(CLI, { ...ADA, ...wrong })).rejects.toThrow(words)
    expect(fixture.people()).toEqual([])
  })

  test('is refused where another has the address', async () => {
    await using fixture = await bootOperators()
    await fixture.gateOperators.create(CLI, ADA)
    expect(fixture.gateOperators.create(CLI, { ...ADA, email: 'ada@example.COM' })).rejects.toThrow(
      'traits.email: is the address of another identity',
    )
  })

  test('is there together with what is done besides, or not at all', async () => {
    await using fixture = await bootOperators()
    const refused = fixture.gateOperators.create(CLI, ADA, () => {
      throw new Error('the link was used before')
    })
    expect(refused).rejects.toThrow('used before')
    await refused.catch(() => {})
    expect(fixture.people()).toEqual([])

    const made: string[] = []
    const { id } = await fixture.gateOperators.create(CLI, ADA, (operator) =>
      made.push(operator.id),
    )
    expect(made).toEqual([id])
  })

  test('is made by the command line as well, and signs in by the server then', async () => {
    await using fixture = await bootOperators()
    const office = createOfflineOperators(fixture.platform, testConfig())
    const { email } = await office.create(CLI, ADA)
    expect(office.find(email)?.email).toBe(email)

    const browser = fixture.browser()
    const back = await browser.signIn(await fixture.begin('login'), email, PASSWORD)
    expect((await fixture.signedIn(back)).session.identity.traits.email).toBe(email)
    expect(office.create(CLI, { ...ADA, password: 'password1' })).rejects.toThrow('password: ')
  })
})

describe('a link that is good once', () => {
  test('opens a session that says so, on the device that it was opened with', async () => {
    await using fixture = await bootOperators()
    const operator = await fixture.operator()
    const [{ token, session } = expect.unreachable()] = await sessionsOf(fixture, operator, 1)
    expect(isAlive(fixture, token)).toBe(true)
    expect(session).toMatchObject({
      authenticator_assurance_level: 'aal1',
      authentication_methods: [{ method: 'link', aal: 'aal1' }],
      devices: [{ ip_address: '192.0.2.7', user_agent: 'test' }],
    })
  })

  test('opens none for somebody deactivated, and none for people of tenants', async () => {
    await using fixture = await bootOperators()
    const operator = await fixture.operator()
    const { db } = fixture.app
    db.client.query("UPDATE gate_identities SET state = 'inactive'").run()
    expect(db.commit(() => fixture.gateOperators.open(operator, DEVICE))).rejects.toThrow(
      'deactivated',
    )
    const tenant = await fixture.tenant()
    const stranger = await tenant.createIdentity()
    expect(db.commit(() => fixture.gateOperators.open(stranger, DEVICE))).rejects.toThrow(
      'another tenant',
    )
  })
})

describe('the sessions of an operator', () => {
  test('are listed newest first', async () => {
    await using fixture = await bootOperators()
    const operator = await fixture.operator()
    const opened = await sessionsOf(fixture, operator, 3)
    const ids = opened.map(({ session }) => session.id)
    expect(fixture.gateOperators.sessions.list(operator.id).map(({ id }) => id)).toEqual(
      ids.toReversed(),
    )
  })

  test('end one by one, for their owner alone', async () => {
    await using fixture = await bootOperators()
    const [ada, bob] = [await fixture.operator(), await fixture.operator()]
    const [one, two] = await sessionsOf(fixture, ada, 2)
    if (!one || !two) throw expect.unreachable()
    const actor = { kind: 'operator', id: bob.id } as const

    const foreign = fixture.gateOperators.sessions.end(actor, {
      operatorId: bob.id,
      sessionId: one.session.id,
    })
    expect(foreign).rejects.toThrow('session not found')
    await fixture.gateOperators.sessions.end(actor, {
      operatorId: ada.id,
      sessionId: one.session.id,
    })

    expect([isAlive(fixture, one.token), isAlive(fixture, two.token)]).toEqual([false, true])
    expect(actions(fixture)[0]).toBe('operator session.revoked')
  })

  test('end all but the one at hand, or all', async () => {
    await using fixture = await bootOperators()
    const operator = await fixture.operator()
    const [one, two] = await sessionsOf(fixture, operator, 2)
    if (!one || !two) throw expect.unreachable()
    const of = { operatorId: operator.id, keptSessionId: two.session.id }

    await fixture.gateOperators.sessions.endOthers(CLI, of)
    expect([isAlive(fixture, one.token), isAlive(fixture, two.token)]).toEqual([false, true])

    await fixture.gateOperators.sessions.endAll(CLI, operator.id)
    expect(isAlive(fixture, two.token)).toBe(false)
  })
})

describe('a password that is set for an operator', () => {
  test('counts at once, and ends all sessions but the one that is kept', async () => {
    await using fixture = await bootOperators()
    const operator = await fixture.operator()
    const [one, two] = await sessionsOf(fixture, operator, 2)
    if (!one || !two) throw expect.unreachable()
    const of = { operatorId: operator.id, password: NEW_PASSWORD }

    await fixture.gateOperators.changePassword(CLI, { ...of, keptSessionId: two.session.id })

    expect([isAlive(fixture, one.token), isAlive(fixture, two.token)]).toEqual([false, true])
    const browser = fixture.browser()
    const url = await fixture.begin('login')
    expect((await browser.signIn(url, operator.email, PASSWORD)).status).toBe(422)
    expect((await browser.signIn(url, operator.email, NEW_PASSWORD)).status).toBe(303)
  })

  test('ends every session where none is kept', async () => {
    await using fixture = await bootOperators()
    const operator = await fixture.operator()
    const [one = expect.unreachable()] = await sessionsOf(fixture, operator, 1)
    await fixture.gateOperators.changePassword(CLI, {
      operatorId: operator.id,
      password: NEW_PASSWORD,
    })
    expect(isAlive(fixture, one.token)).toBe(false)
  })

  test('is refused by its rule, and the one before goes on', async () => {
    await using fixture = await bootOperators()
    const { id: operatorId, email } = await fixture.operator()
    const refused = fixture.gateOperators.changePassword(CLI, { operatorId, password: 'short' })
    expect(refused).rejects.toThrow('password: must have at least 8 characters')
    await refused.catch(() => {})
    const back = await fixture.browser().signIn(await fixture.begin('login'), email, PASSWORD)
    expect(back.status).toBe(303)
  })
})
