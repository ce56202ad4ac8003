import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { breathe } from '../clockwork/support.ts'
import {
  AUTHORIZE,
  bootGate,
  count,
  DAY,
  type Fixture,
  HOUR,
  IDENTITIES,
  type Json,
  MINUTE,
  mintToken,
  SESSIONS,
  TOKENS,
} from './fixture.ts'

/** The number of rows of each table. */
const rows = ({ app }: Fixture, ...tables: string[]) =>
  tables.map((table) => count(app, `gate_${table}`))

async function sweepAfter({ clock, app }: Fixture, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

/** Deletes an identity as if the process had crashed afterwards. */
function interruptErasure({ app, acme }: Fixture, id: string) {
  app.db.client.run('delete from gate_identities where id = ?', [id])
  app.db.client.run(
    'insert into gate_erasures (identity_id, tenant_id, requested_at) values (?, ?, 0)',
    [id, acme.id],
  )
}

const openErasures = ({ app }: Fixture) =>
  app.db.client.query('select 1 from gate_erasures where completed_at is null').all().length

const ask = ({ api }: Fixture) =>
  api.post(AUTHORIZE, { subject: 's', action: 'a.read', resource: 'document:1' })

/** Starts two flows with a code each: the one in the answer, and the one of the link in the mail. */
const startFlow = async (fixture: Fixture) => {
  const { id } = await fixture.createIdentity()
  const answer = await fixture.api.post(`${IDENTITIES}/${id}/resend-verification`)
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.flow
}

/** Copies the rows of a table `copies` times, with other ids. */
function copy({ app }: Fixture, table: string, copies: number, unique: string[]) {
  const names = (app.db.client.query(`pragma table_info(${table})`).all() as Json[])
    .map(({ name }) => name as string)
    .filter((name) => name !== 'seq')
  const values = names.map((name) => (unique.includes(name) ? `${name} || '-' || i` : name))
  app.db.client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into ${table} (${names}) select ${values} from n, ${table}`,
    [copies],
  )
}

/** The number of rows that each slice of a sweep deletes. */
async function slicesOf(fixture: Fixture, table: string) {
  const { app, clock } = fixture
  const slices: number[] = []
  let before = count(app, table)
  void app.platform.retention.sweep()
  while (before > 0) {
    await until(() => count(app, table) < before)
    slices.push(before - count(app, table))
    before = count(app, table)
    await clock.advance(20)
    await breathe(app)
  }
  return slices
}

test.each<[string, Record<string, string>, number]>([
  ['a day', {}, DAY],
  ['the configured time', { 'retention-expired': '1h' }, HOUR],
])('Sessions, tokens and flows are deleted %s after their end', async (_, flags, ms) => {
  await using fixture = await bootGate({ flags: { ...flags, 'gate-session-lifetime': '1h' } })
  const { token } = await fixture.openSession(await fixture.createIdentity())
  await mintToken(fixture.app, fixture.key, { ttl_seconds: 3600 })
  const { expires_at } = await startFlow(fixture)
  expect(Date.parse(expires_at) - fixture.clock.now()).toBe(HOUR)

  await sweepAfter(fixture, HOUR + ms)
  expect(rows(fixture, 'sessions', 'access_tokens', 'flows', 'codes')).toEqual([1, 1, 2, 2])
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'sessions', 'access_tokens', 'flows', 'codes')).toEqual([0, 0, 0, 0])
  expect(rows(fixture, 'identities')).toEqual([2])
})

describe('Retention keeps', () => {
  test('what is still valid', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    await fixture.openSession(person)
    await mintToken(fixture.app, fixture.key)
    await startFlow(fixture)
    fixture.clock.jump(3 * DAY)
    const { token } = await fixture.openSession(person)
    const { access_token } = await mintToken(fixture.app, fixture.key)
    const flow = await startFlow(fixture)
    await fixture.app.platform.retention.sweep()

    expect(rows(fixture, 'sessions', 'access_tokens', 'flows', 'codes')).toEqual([1, 1, 2, 2])
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    const { body } = await fixture.api.post(`${TOKENS}/introspect`, { access_token })
    expect(body.active).toBe(true)
    expect(count(fixture.app, `gate_flows where id = '${flow.id}'`)).toBe(1)
    expect(rows(fixture, 'identities', 'addresses')).toEqual([3, 3])
  })

  test('a revoked session until it would have ended', async () => {
    await using fixture = await bootGate()
    const { session } = await fixture.openSession(await fixture.createIdentity())
    const revoke = () => fixture.api.delete(`${SESSIONS}/${session.id}`)
    await revoke()
    await sweepAfter(fixture, HOUR)
    expect(await revoke()).toMatchObject({ status: 204 })
    await sweepAfter(fixture, 2 * DAY)
    expect(await revoke()).toMatchObject({ status: 404 })
  })

  test('identities, settings and webhooks forever', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    const { id } = await fixture.createWebhook('http://127.0.0.1:9/')
    await fixture.api.put('/v1/gate/settings/security', { mfa_enabled: true })
    await sweepAfter(fixture, 4000 * DAY)
    expect(await fixture.readIdentity(person)).toEqual(person)
    const { body } = await fixture.api.get('/v1/gate/settings/webhooks')
    expect(body.webhooks).toMatchObject([{ id }])
    expect((await fixture.api.get('/v1/gate/settings/security')).body.mfa_enabled).toBe(true)
  })
})

describe('Retention deletes at most 500 rows at a time, with pauses:', () => {
  test.each<[string, number, string[], (fixture: Fixture) => Promise<unknown>]>([
    [
      'gate_sessions',
      1199,
      ['id', 'token_hash'],
      async (fixture) => fixture.openSession(await fixture.createIdentity()),
    ],
    ['gate_access_tokens', 1199, ['hash'], ({ app, key }) => mintToken(app, key)],
    ['gate_flows', 599, ['id'], startFlow],
    ['gate_decisions', 1199, ['id'], ask],
  ])('%s', async (table, copies, unique, create) => {
    await using fixture = await bootGate()
    await create(fixture)
    copy(fixture, table, copies, unique)
    fixture.clock.jump(31 * DAY)
    expect(await slicesOf(fixture, table)).toEqual([500, 500, 200])
    expect(rows(fixture, 'codes')).toEqual([0])
  })

  test('tokens of an interrupted erasure', async () => {
    await using fixture = await bootGate()
    const { app } = fixture
    const { id } = await fixture.createIdentity()
    await mintToken(app, fixture.key, { subject: id })
    copy(fixture, 'gate_access_tokens', 1199, ['hash'])
    interruptErasure(fixture, id)
    expect(await slicesOf(fixture, 'gate_access_tokens')).toEqual([500, 500, 200])
    await until(() => openErasures(fixture) === 0)
    expect(app.log.join()).not.toContain('retention failed')
  })
})

test('Erasures of several identities share a slice', async () => {
  await using fixture = await bootGate()
  const { app } = fixture
  for (let n = 0; n < 3; n++) {
    const { id } = await fixture.createIdentity()
    await mintToken(app, fixture.key, { subject: id })
    interruptErasure(fixture, id)
  }
  await mintToken(app, fixture.key)

  await app.platform.retention.sweep()

  expect(openErasures(fixture)).toBe(0)
  expect(rows(fixture, 'access_tokens')).toEqual([1])
})

test('The ids of deleted identities are kept as long as the audit log', async () => {
  await using fixture = await bootGate()
  const { id } = await fixture.createIdentity()
  expect(await fixture.api.delete(`${IDENTITIES}/${id}`)).toMatchObject({ status: 204 })

  await sweepAfter(fixture, 365 * DAY)
  expect(rows(fixture, 'erasures')).toEqual([1])

  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'erasures')).toEqual([0])
})

test('Retention runs once a minute', async () => {
  await using fixture = await bootGate()
  await mintToken(fixture.app, fixture.key)
  fixture.clock.jump(2 * DAY)
  await fixture.clock.advance(MINUTE - 1)
  await breathe(fixture.app)
  expect(rows(fixture, 'access_tokens')).toEqual([1])
  await fixture.clock.advance(1)
  await until(() => rows(fixture, 'access_tokens')[0] === 0)
})
