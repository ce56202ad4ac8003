import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { breathe } from '../clockwork/support.ts'
import { copyRows } from '../relay/fixture.ts'
import {
  AUTHORIZE,
  bootGate,
  count,
  DAY,
  type Fixture,
  HOUR,
  IDENTITIES,
  MINUTE,
  mintToken,
  SESSIONS,
  TOKENS,
} from './fixture.ts'

/** The number of rows of each table. */
const rows = ({ app }: Fixture, ...tables: string[]) =>
  tables.map((table) => count(app, `gate_${table}`))

const EXPIRING = ['sessions', 'access_tokens', 'flows', 'codes']

async function sweepAfter({ clock, app }: Fixture, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

/** Deletes an identity as if the process had crashed afterwards. */
function interruptErasure({ app, acme }: Fixture, id: string) {
  app.db.client.run('delete from gate_identities where id = ?', [id])
  const columns = 'identity_id, tenant_id, requested_at'
  app.db.client.run(`insert into gate_erasures (${columns}) values (?, ?, 0)`, [id, acme.id])
}

const openErasures = ({ app }: Fixture) => count(app, 'gate_erasures where completed_at is null')

/** Starts two flows with a code each: the one in the answer, and the one of the link in the mail. */
const startFlow = async (fixture: Fixture) => {
  const { id } = await fixture.createIdentity()
  const answer = await fixture.api.post(`${IDENTITIES}/${id}/resend-verification`)
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.flow
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

test('Sessions, tokens and flows are deleted the configured time after their end', async () => {
  const flags = { 'retention-expired': '1h', 'gate-session-lifetime': '1h' }
  await using fixture = await bootGate({ flags })
  const { token } = await fixture.openSession(await fixture.createIdentity())
  await mintToken(fixture.app, fixture.key, { ttl_seconds: 3600 })
  const { expires_at } = await startFlow(fixture)
  expect(Date.parse(expires_at) - fixture.clock.now()).toBe(HOUR)
  await sweepAfter(fixture, 2 * HOUR)
  expect(rows(fixture, ...EXPIRING)).toEqual([1, 1, 2, 2])
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })

  // Once a minute by itself.
  await fixture.clock.advance(MINUTE - 1)
  await breathe(fixture.app)
  expect(rows(fixture, ...EXPIRING)).toEqual([1, 1, 2, 2])
  await fixture.clock.advance(1)
  await until(() => rows(fixture, ...EXPIRING).every((left) => left === 0))
  expect(rows(fixture, 'identities')).toEqual([2])
})

test('What is valid is kept: identities, settings and webhooks forever, deleted ids for a year', async () => {
  await using fixture = await bootGate()
  const { app, api } = fixture
  const person = await fixture.createIdentity()
  const { id: webhookId } = await fixture.createWebhook('http://127.0.0.1:9/')
  await api.put('/v1/gate/settings/security', { mfa_enabled: true })
  await fixture.openSession(person)
  await mintToken(app, fixture.key)
  await startFlow(fixture)
  fixture.clock.jump(3 * DAY)
  const { token, session } = await fixture.openSession(person)
  const { access_token } = await mintToken(app, fixture.key)
  const flow = await startFlow(fixture)
  await app.platform.retention.sweep()
  expect(rows(fixture, ...EXPIRING)).toEqual([1, 1, 2, 2])
  expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  expect((await api.post(`${TOKENS}/introspect`, { access_token })).body.active).toBe(true)
  expect(count(app, `gate_flows where id = '${flow.id}'`)).toBe(1)
  expect(rows(fixture, 'identities', 'addresses')).toEqual([3, 3])

  // A revoked session is kept until a day after it would have ended.
  const revoke = () => api.delete(`${SESSIONS}/${session.id}`)
  await revoke()
  for (const [ms, status] of [
    [2 * DAY, 204],
    [1, 404],
  ] as const) {
    await sweepAfter(fixture, ms)
    expect(await revoke()).toMatchObject({ status })
  }

  const { id } = await fixture.createIdentity()
  expect(await api.delete(`${IDENTITIES}/${id}`)).toMatchObject({ status: 204 })
  await sweepAfter(fixture, 365 * DAY)
  expect(rows(fixture, 'erasures')).toEqual([1])
  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'erasures')).toEqual([0])
  await sweepAfter(fixture, 4000 * DAY)
  expect(await fixture.readIdentity(person)).toEqual(person)
  const { webhooks } = (await api.get('/v1/gate/settings/webhooks')).body
  expect(webhooks).toMatchObject([{ id: webhookId }])
  expect((await api.get('/v1/gate/settings/security')).body.mfa_enabled).toBe(true)
})

test('At most 500 rows are deleted at a time, with pauses, also by interrupted erasures', async () => {
  await using fixture = await bootGate()
  const { app, key, api, clock } = fixture
  const question = { subject: 's', action: 'a.read', resource: 'document:1' }
  const other = (column: string) => ({ [column]: `${column} || '-' || i` })
  for (const [table, copies, changed, create] of [
    [
      'gate_sessions',
      699,
      { ...other('id'), ...other('token_hash') },
      async () => fixture.openSession(await fixture.createIdentity()),
    ],
    ['gate_access_tokens', 699, other('hash'), () => mintToken(app, key)],
    ['gate_flows', 349, other('id'), () => startFlow(fixture)],
    ['gate_decisions', 699, other('id'), () => api.post(AUTHORIZE, question)],
  ] as const) {
    await create()
    copyRows(app, table, copies, changed, 'true')
    clock.jump(31 * DAY)
    expect([table, ...(await slicesOf(fixture, table))]).toEqual([table, 500, 200])
  }
  expect(rows(fixture, 'codes')).toEqual([0])

  // Several interrupted erasures share a slice.
  const people: string[] = []
  for (let n = 0; n < 3; n++) {
    const { id } = await fixture.createIdentity()
    await mintToken(app, key, { subject: id })
    people.push(id)
  }
  const changed = { hash: "hash || '-' || i" }
  copyRows(app, 'gate_access_tokens', 697, changed, `subject = '${people[0]}'`)
  for (const id of people) interruptErasure(fixture, id)
  await mintToken(app, key)
  const sweep = app.platform.retention.sweep()
  await until(() => rows(fixture, 'access_tokens')[0] === 201)
  expect(openErasures(fixture)).toBe(3)
  await clock.advance(20)
  await sweep
  expect(openErasures(fixture)).toBe(0)
  expect(rows(fixture, 'access_tokens')).toEqual([1])
})
