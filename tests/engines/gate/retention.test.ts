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

/** How many rows there are of each. */
const rows = ({ app }: Fixture, ...tables: string[]) =>
  tables.map((table) => count(app, `gate_${table}`))

async function sweepAfter({ clock, app }: Fixture, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

/** Somebody who was deleted just before a crash. */
function cutShort({ app, acme }: Fixture, id: string) {
  app.db.client.run('delete from gate_identities where id = ?', [id])
  app.db.client.run(
    'insert into gate_erasures (identity_id, tenant_id, requested_at) values (?, ?, 0)',
    [id, acme.id],
  )
}

/** People of whom something is still to be cleared away. */
const toErase = ({ app }: Fixture) =>
  app.db.client.query('select 1 from gate_erasures where completed_at is null').all().length

const ask = ({ api }: Fixture) =>
  api.post(AUTHORIZE, { subject: 's', action: 'a.read', resource: 'document:1' })

/** Two flows, each with a code: the one that the answer names, and the one that only the mail links to. */
const startFlow = async (fixture: Fixture) => {
  const { id } = await fixture.createIdentity()
  const answer = await fixture.api.post(`${IDENTITIES}/${id}/resend-verification`)
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.flow
}

/** Writes down the rows of a table again, `copies` times, with other ids. */
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

/** How many rows of a table each slice of a sweep takes. */
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

describe('a day after its end', () => {
  test('a session goes', async () => {
    await using fixture = await bootGate({ flags: { 'gate-session-lifetime': '2h' } })
    const person = await fixture.createIdentity()
    const { token } = await fixture.openSession(person)

    await sweepAfter(fixture, 2 * HOUR + DAY)
    expect(rows(fixture, 'sessions')).toEqual([1])
    expect(await fixture.whoami(token)).toMatchObject({ status: 401 })

    await sweepAfter(fixture, 1)
    expect(rows(fixture, 'sessions', 'identities')).toEqual([0, 1])
  })

  test('an access token goes', async () => {
    await using fixture = await bootGate()
    await mintToken(fixture.app, fixture.key, { ttl_seconds: 60 })

    await sweepAfter(fixture, MINUTE + DAY)
    expect(rows(fixture, 'access_tokens')).toEqual([1])
    await sweepAfter(fixture, 1)
    expect(rows(fixture, 'access_tokens')).toEqual([0])
  })

  test('a flow goes, with its codes, and so does that of the link in its mail', async () => {
    await using fixture = await bootGate()
    const { expires_at: end } = await startFlow(fixture)
    expect(rows(fixture, 'flows', 'codes')).toEqual([2, 2])

    await sweepAfter(fixture, Date.parse(end) - fixture.clock.now() + DAY)
    expect(rows(fixture, 'flows', 'codes')).toEqual([2, 2])
    await sweepAfter(fixture, 1)
    expect(rows(fixture, 'flows', 'codes', 'identities')).toEqual([0, 0, 1])
  })

  test('or when the settings say so', async () => {
    await using fixture = await bootGate({ flags: { 'retention-expired': '1h' } })
    await mintToken(fixture.app, fixture.key, { ttl_seconds: 60 })
    await startFlow(fixture)
    await sweepAfter(fixture, 2 * HOUR + 1)
    expect(rows(fixture, 'access_tokens', 'flows', 'codes')).toEqual([0, 0, 0])
  })
})

describe('what is alive stays', () => {
  test('beside what is not', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity()
    await fixture.openSession(person)
    await mintToken(fixture.app, fixture.key)
    await startFlow(fixture)
    fixture.clock.jump(3 * DAY)
    const { token } = await fixture.openSession(person)
    const { access_token: accessToken } = await mintToken(fixture.app, fixture.key)
    const flow = await startFlow(fixture)

    await fixture.app.platform.retention.sweep()

    expect(rows(fixture, 'sessions', 'access_tokens', 'flows', 'codes')).toEqual([1, 1, 2, 2])
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    const question = { access_token: accessToken }
    expect((await fixture.api.post(`${TOKENS}/introspect`, question)).body.active).toBe(true)
    expect(count(fixture.app, `gate_flows where id = '${flow.id}'`)).toBe(1)
    expect(rows(fixture, 'identities', 'addresses')).toEqual([3, 3])
  })

  test('and so does what was revoked, until its time is over: revoking again stays a success', async () => {
    await using fixture = await bootGate()
    const { session } = await fixture.openSession(await fixture.createIdentity())
    await fixture.api.delete(`${SESSIONS}/${session.id}`)
    await sweepAfter(fixture, HOUR)
    expect(await fixture.api.delete(`${SESSIONS}/${session.id}`)).toMatchObject({ status: 204 })
    await sweepAfter(fixture, 2 * DAY)
    expect(await fixture.api.delete(`${SESSIONS}/${session.id}`)).toMatchObject({ status: 404 })
  })

  test('people, their settings and webhooks are never too old', async () => {
    await using fixture = await bootGate()
    const person = await fixture.createIdentity({
      credentials: { password: { config: { password: 'correct horse' } } },
    })
    const webhook = await fixture.createWebhook('http://127.0.0.1:9/')
    await fixture.api.put('/v1/gate/settings/security', { mfa_enabled: true })
    await sweepAfter(fixture, 4000 * DAY)
    expect(await fixture.readIdentity(person)).toEqual(person)
    expect((await fixture.api.get('/v1/gate/settings/webhooks')).body.webhooks).toMatchObject([
      { id: webhook.id },
    ])
    expect((await fixture.api.get('/v1/gate/settings/security')).body.mfa_enabled).toBe(true)
  })
})

describe('of many, 500 go at a time, with room for others between them:', () => {
  test('sessions', async () => {
    await using fixture = await bootGate()
    await fixture.openSession(await fixture.createIdentity())
    copy(fixture, 'gate_sessions', 1199, ['id', 'token_hash'])
    fixture.clock.jump(3 * DAY)
    expect(await slicesOf(fixture, 'gate_sessions')).toEqual([500, 500, 200])
  })

  test('access tokens', async () => {
    await using fixture = await bootGate()
    await mintToken(fixture.app, fixture.key)
    copy(fixture, 'gate_access_tokens', 1199, ['hash'])
    fixture.clock.jump(3 * DAY)
    expect(await slicesOf(fixture, 'gate_access_tokens')).toEqual([500, 500, 200])
  })

  test('flows', async () => {
    await using fixture = await bootGate()
    await startFlow(fixture)
    copy(fixture, 'gate_flows', 599, ['id'])
    fixture.clock.jump(3 * DAY)
    expect(await slicesOf(fixture, 'gate_flows')).toEqual([500, 500, 200])
    expect(rows(fixture, 'codes')).toEqual([0])
  })

  test('decisions', async () => {
    await using fixture = await bootGate()
    await ask(fixture)
    copy(fixture, 'gate_decisions', 1199, ['id'])
    fixture.clock.jump(31 * DAY)
    expect(await slicesOf(fixture, 'gate_decisions')).toEqual([500, 500, 200])
  })

  test('the tokens of somebody whose erasure a crash cut short', async () => {
    await using fixture = await bootGate()
    const { app } = fixture
    const { id } = await fixture.createIdentity()
    await mintToken(app, fixture.key, { subject: id })
    copy(fixture, 'gate_access_tokens', 1199, ['hash'])
    cutShort(fixture, id)

    expect(await slicesOf(fixture, 'gate_access_tokens')).toEqual([500, 500, 200])

    await until(() => toErase(fixture) === 0)
    expect(app.log.join()).not.toContain('retention failed')
  })
})

test('erasures of several people share a slice', async () => {
  await using fixture = await bootGate()
  const { app } = fixture
  for (let n = 0; n < 3; n++) {
    const { id } = await fixture.createIdentity()
    await mintToken(app, fixture.key, { subject: id })
    cutShort(fixture, id)
  }
  await mintToken(app, fixture.key)

  await app.platform.retention.sweep()

  expect(toErase(fixture)).toBe(0)
  expect(rows(fixture, 'access_tokens')).toEqual([1])
})

test('the ids of deleted people are kept as long as the audit log', async () => {
  await using fixture = await bootGate()
  const { id } = await fixture.createIdentity()
  expect(await fixture.api.delete(`${IDENTITIES}/${id}`)).toMatchObject({ status: 204 })

  await sweepAfter(fixture, 365 * DAY)
  expect(rows(fixture, 'erasures')).toEqual([1])

  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'erasures')).toEqual([0])
})

test('the sweep comes by itself, once a minute', async () => {
  await using fixture = await bootGate()
  await mintToken(fixture.app, fixture.key)
  fixture.clock.jump(2 * DAY)
  await fixture.clock.advance(MINUTE - 1)
  await breathe(fixture.app)
  expect(rows(fixture, 'access_tokens')).toEqual([1])
  await fixture.clock.advance(1)
  await until(() => rows(fixture, 'access_tokens')[0] === 0)
})
