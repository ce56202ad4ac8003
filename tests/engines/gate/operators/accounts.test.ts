import { describe, expect, test } from 'bun:test'
import { createOfflineOperators } from '../../../../src/engines/gate/operators/offline.ts'
import { SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { testConfig } from '../../../support/config.ts'
import { bootHouse, CLI, type HouseWorld, PASSWORD } from './fixture.ts'

const ADA = {
  email: 'Ada@Example.com',
  displayName: 'Ada Berg',
  password: PASSWORD,
  isVerified: false,
}
const DEVICE = { method: 'link', ipAddress: '192.0.2.7', userAgent: 'test' } as const
const NEW_PASSWORD = 'seven green bicycles'

const actions = ({ platform }: HouseWorld) =>
  platform.audit
    .list({ tenantId: SYSTEM_TENANT_ID, limit: 100 })
    .entries.map(({ action, actor }) => `${actor.kind} ${action}`)

/** The tokens of so many sessions of one operator. */
async function sessionsOf(
  { app, gateOperators }: HouseWorld,
  operator: { id: string },
  count: number,
) {
  const opened = []
  for (let made = 0; made < count; made++)
    opened.push(await app.db.commit(() => gateOperators.open(operator, DEVICE)))
  return opened
}

const isAlive = ({ gate }: HouseWorld, token: string): boolean => {
  try {
    gate.sessions.authenticated(token, SYSTEM_TENANT_ID)
    return true
  } catch {
    return false
  }
}

describe('an operator whom somebody makes', () => {
  test('has the traits of one, and is found by the address however it is spelt', async () => {
    await using world = await bootHouse()
    const row = await world.gateOperators.create(CLI, { ...ADA, locale: 'de' })

    expect(row).toMatchObject({ tenantId: SYSTEM_TENANT_ID, schemaId: 'operator', state: 'active' })
    expect(JSON.parse(row.traits)).toEqual({
      email: 'ada@example.com',
      display_name: 'Ada Berg',
      locale: 'de',
    })
    expect(world.gateOperators.find('ADA@example.com')).toEqual(row)
    expect(world.gateOperators.find('nobody@example.com')).toBeUndefined()
    expect(world.gateOperators.find('no address')).toBeUndefined()
    expect(actions(world)).toEqual(['cli identity.created'])
  })

  test.each([true, false])('has a proven address or has not: %p', async (isVerified) => {
    await using world = await bootHouse()
    const operator = await world.gateOperators.create(CLI, { ...ADA, isVerified })
    const [{ session } = expect.unreachable()] = await sessionsOf(world, operator, 1)
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
    await using world = await bootHouse()
    expect(world.gateOperators.create(CLI, { ...ADA, ...wrong })).rejects.toThrow(words)
    expect(world.people()).toEqual([])
  })

  test('is refused where another has the address', async () => {
    await using world = await bootHouse()
    await world.gateOperators.create(CLI, ADA)
    expect(world.gateOperators.create(CLI, { ...ADA, email: 'ada@example.COM' })).rejects.toThrow(
      'traits.email: is the address of another identity',
    )
  })

  test('is there together with what is done besides, or not at all', async () => {
    await using world = await bootHouse()
    const refused = world.gateOperators.create(CLI, ADA, () => {
      throw new Error('the link was used before')
    })
    expect(refused).rejects.toThrow('used before')
    await refused.catch(() => {})
    expect(world.people()).toEqual([])

    const made: string[] = []
    const { id } = await world.gateOperators.create(CLI, ADA, (operator) => made.push(operator.id))
    expect(made).toEqual([id])
  })

  test('is made by the command line as well, and signs in by the server then', async () => {
    await using world = await bootHouse()
    const office = createOfflineOperators(world.platform, testConfig())
    const { email } = await office.create(CLI, ADA)
    expect(office.find(email)?.email).toBe(email)

    const browser = world.browser()
    const back = await browser.signIn(await world.begin('login'), email, PASSWORD)
    expect((await world.signedIn(back)).session.identity.traits.email).toBe(email)
    expect(office.create(CLI, { ...ADA, password: 'password1' })).rejects.toThrow('password: ')
  })
})

describe('a link that is good once', () => {
  test('opens a session that says so, on the device that it was opened with', async () => {
    await using world = await bootHouse()
    const operator = await world.operator()
    const [{ token, session } = expect.unreachable()] = await sessionsOf(world, operator, 1)
    expect(isAlive(world, token)).toBe(true)
    expect(session).toMatchObject({
      authenticator_assurance_level: 'aal1',
      authentication_methods: [{ method: 'link', aal: 'aal1' }],
      devices: [{ ip_address: '192.0.2.7', user_agent: 'test' }],
    })
  })

  test('opens none for somebody deactivated, and none for people of tenants', async () => {
    await using world = await bootHouse()
    const operator = await world.operator()
    const { db } = world.app
    db.client.query("UPDATE gate_identities SET state = 'inactive'").run()
    expect(db.commit(() => world.gateOperators.open(operator, DEVICE))).rejects.toThrow(
      'deactivated',
    )
    const tenant = await world.tenant()
    const stranger = await tenant.createIdentity()
    expect(db.commit(() => world.gateOperators.open(stranger, DEVICE))).rejects.toThrow(
      'another tenant',
    )
  })
})

describe('the sessions of an operator', () => {
  test('are listed newest first', async () => {
    await using world = await bootHouse()
    const operator = await world.operator()
    const opened = await sessionsOf(world, operator, 3)
    const ids = opened.map(({ session }) => session.id)
    expect(world.gateOperators.sessions.list(operator.id).map(({ id }) => id)).toEqual(
      ids.toReversed(),
    )
  })

  test('end one by one, for their owner alone', async () => {
    await using world = await bootHouse()
    const [ada, bob] = [await world.operator(), await world.operator()]
    const [one, two] = await sessionsOf(world, ada, 2)
    if (!one || !two) throw expect.unreachable()
    const actor = { kind: 'operator', id: bob.id } as const

    const foreign = world.gateOperators.sessions.end(actor, {
      operatorId: bob.id,
      sessionId: one.session.id,
    })
    expect(foreign).rejects.toThrow('session not found')
    await world.gateOperators.sessions.end(actor, { operatorId: ada.id, sessionId: one.session.id })

    expect([isAlive(world, one.token), isAlive(world, two.token)]).toEqual([false, true])
    expect(actions(world)[0]).toBe('operator session.revoked')
  })

  test('end all but the one at hand, or all', async () => {
    await using world = await bootHouse()
    const operator = await world.operator()
    const [one, two] = await sessionsOf(world, operator, 2)
    if (!one || !two) throw expect.unreachable()
    const of = { operatorId: operator.id, keptSessionId: two.session.id }

    await world.gateOperators.sessions.endOthers(CLI, of)
    expect([isAlive(world, one.token), isAlive(world, two.token)]).toEqual([false, true])

    await world.gateOperators.sessions.endAll(CLI, operator.id)
    expect(isAlive(world, two.token)).toBe(false)
  })
})

describe('a password that is set for an operator', () => {
  test('counts at once, and ends all sessions but the one that is kept', async () => {
    await using world = await bootHouse()
    const operator = await world.operator()
    const [one, two] = await sessionsOf(world, operator, 2)
    if (!one || !two) throw expect.unreachable()
    const of = { operatorId: operator.id, password: NEW_PASSWORD }

    await world.gateOperators.changePassword(CLI, { ...of, keptSessionId: two.session.id })

    expect([isAlive(world, one.token), isAlive(world, two.token)]).toEqual([false, true])
    const browser = world.browser()
    const url = await world.begin('login')
    expect((await browser.signIn(url, operator.email, PASSWORD)).status).toBe(422)
    expect((await browser.signIn(url, operator.email, NEW_PASSWORD)).status).toBe(303)
  })

  test('ends every session where none is kept', async () => {
    await using world = await bootHouse()
    const operator = await world.operator()
    const [one = expect.unreachable()] = await sessionsOf(world, operator, 1)
    await world.gateOperators.changePassword(CLI, {
      operatorId: operator.id,
      password: NEW_PASSWORD,
    })
    expect(isAlive(world, one.token)).toBe(false)
  })

  test('is refused by its rule, and the one before goes on', async () => {
    await using world = await bootHouse()
    const { id: operatorId, email } = await world.operator()
    const refused = world.gateOperators.changePassword(CLI, { operatorId, password: 'short' })
    expect(refused).rejects.toThrow('password: must have at least 8 characters')
    await refused.catch(() => {})
    const back = await world.browser().signIn(await world.begin('login'), email, PASSWORD)
    expect(back.status).toBe(303)
  })
})
