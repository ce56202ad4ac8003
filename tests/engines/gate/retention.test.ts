import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { breathe } from '../clockwork/support.ts'
import {
  AUTHORIZE,
  bootGate,
  count,
  DAY,
  HOUR,
  IDENTITIES,
  type Json,
  MINUTE,
  mintToken,
  SESSIONS,
  TOKENS,
  type World,
} from './fixture.ts'

/** How many rows there are of each. */
const rows = ({ app }: World, ...tables: string[]) =>
  tables.map((table) => count(app, `gate_${table}`))

async function sweepAfter({ clock, app }: World, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

/** Somebody who was deleted just before a crash. */
function cutShort({ app, acme }: World, id: string) {
  app.db.client.run('delete from gate_identities where id = ?', [id])
  app.db.client.run(
    'insert into gate_erasures (identity_id, tenant_id, requested_at) values (?, ?, 0)',
    [id, acme.id],
  )
}

/** People of whom something is still to be cleared away. */
const toErase = ({ app }: World) =>
  app.db.client.query('select 1 from gate_erasures where completed_at is null').all().length

const ask = ({ api }: World) =>
  api.post(AUTHORIZE, { subject: 's', action: 'a.read', resource: 'document:1' })

/** Two flows, each with a code: the one that the answer names, and the one that only the mail links to. */
const startFlow = async (world: World) => {
  const { id } = await world.createIdentity()
  const answer = await world.api.post(`${IDENTITIES}/${id}/resend-verification`)
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.flow
}

/** Writes down the rows of a table again, `copies` times, with other ids. */
function copy({ app }: World, table: string, copies: number, unique: string[]) {
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
async function slicesOf(world: World, table: string) {
  const { app, clock } = world
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
    await using world = await bootGate({ flags: { 'gate-session-lifetime': '2h' } })
    const person = await world.createIdentity()
    const { token } = await world.openSession(person)

    await sweepAfter(world, 2 * HOUR + DAY)
    expect(rows(world, 'sessions')).toEqual([1])
    expect(await world.whoami(token)).toMatchObject({ status: 401 })

    await sweepAfter(world, 1)
    expect(rows(world, 'sessions', 'identities')).toEqual([0, 1])
  })

  test('an access token goes', async () => {
    await using world = await bootGate()
    await mintToken(world.app, world.key, { ttl_seconds: 60 })

    await sweepAfter(world, MINUTE + DAY)
    expect(rows(world, 'access_tokens')).toEqual([1])
    await sweepAfter(world, 1)
    expect(rows(world, 'access_tokens')).toEqual([0])
  })

  test('a flow goes, with its codes, and so does that of the link in its mail', async () => {
    await using world = await bootGate()
    const { expires_at: end } = await startFlow(world)
    expect(rows(world, 'flows', 'codes')).toEqual([2, 2])

    await sweepAfter(world, Date.parse(end) - world.clock.now() + DAY)
    expect(rows(world, 'flows', 'codes')).toEqual([2, 2])
    await sweepAfter(world, 1)
    expect(rows(world, 'flows', 'codes', 'identities')).toEqual([0, 0, 1])
  })

  test('or when the settings say so', async () => {
    await using world = await bootGate({ flags: { 'retention-expired': '1h' } })
    await mintToken(world.app, world.key, { ttl_seconds: 60 })
    await startFlow(world)
    await sweepAfter(world, 2 * HOUR + 1)
    expect(rows(world, 'access_tokens', 'flows', 'codes')).toEqual([0, 0, 0])
  })
})

describe('what is alive stays', () => {
  test('beside what is not', async () => {
    await using world = await bootGate()
    const person = await world.createIdentity()
    await world.openSession(person)
    await mintToken(world.app, world.key)
    await startFlow(world)
    world.clock.jump(3 * DAY)
    const { token } = await world.openSession(person)
    const { access_token: accessToken } = await mintToken(world.app, world.key)
    const flow = await startFlow(world)

    await world.app.platform.retention.sweep()

    expect(rows(world, 'sessions', 'access_tokens', 'flows', 'codes')).toEqual([1, 1, 2, 2])
    expect(await world.whoami(token)).toMatchObject({ status: 200 })
    const question = { access_token: accessToken }
    expect((await world.api.post(`${TOKENS}/introspect`, question)).body.active).toBe(true)
    expect(count(world.app, `gate_flows where id = '${flow.id}'`)).toBe(1)
    expect(rows(world, 'identities', 'addresses')).toEqual([3, 3])
  })

  test('and so does what was revoked, until its time is over: revoking again stays a success', async () => {
    await using world = await bootGate()
    const { session } = await world.openSession(await world.createIdentity())
    await world.api.delete(`${SESSIONS}/${session.id}`)
    await sweepAfter(world, HOUR)
    expect(await world.api.delete(`${SESSIONS}/${session.id}`)).toMatchObject({ status: 204 })
    await sweepAfter(world, 2 * DAY)
    expect(await world.api.delete(`${SESSIONS}/${session.id}`)).toMatchObject({ status: 404 })
  })

  test('people, their settings and webhooks are never too old', async () => {
    await using world = await bootGate()
    const person = await world.createIdentity({
      credentials: { password: { config: { password: 'correct horse' } } },
    })
    const webhook = await world.createWebhook('http://127.0.0.1:9/')
    await world.api.put('/v1/gate/settings/security', { mfa_enabled: true })
    await sweepAfter(world, 4000 * DAY)
    expect(await world.readIdentity(person)).toEqual(person)
    expect((await world.api.get('/v1/gate/settings/webhooks')).body.webhooks).toMatchObject([
      { id: webhook.id },
    ])
    expect((await world.api.get('/v1/gate/settings/security')).body.mfa_enabled).toBe(true)
  })
})

describe('of many, 500 go at a time, with room for others between them:', () => {
  test('sessions', async () => {
    await using world = await bootGate()
    await world.openSession(await world.createIdentity())
    copy(world, 'gate_sessions', 1199, ['id', 'token_hash'])
    world.clock.jump(3 * DAY)
    expect(await slicesOf(world, 'gate_sessions')).toEqual([500, 500, 200])
  })

  test('access tokens', async () => {
    await using world = await bootGate()
    await mintToken(world.app, world.key)
    copy(world, 'gate_access_tokens', 1199, ['hash'])
    world.clock.jump(3 * DAY)
    expect(await slicesOf(world, 'gate_access_tokens')).toEqual([500, 500, 200])
  })

  test('flows', async () => {
    await using world = await bootGate()
    await startFlow(world)
    copy(world, 'gate_flows', 599, ['id'])
    world.clock.jump(3 * DAY)
    expect(await slicesOf(world, 'gate_flows')).toEqual([500, 500, 200])
    expect(rows(world, 'codes')).toEqual([0])
  })

  test('decisions', async () => {
    await using world = await bootGate()
    await ask(world)
    copy(world, 'gate_decisions', 1199, ['id'])
    world.clock.jump(31 * DAY)
    expect(await slicesOf(world, 'gate_decisions')).toEqual([500, 500, 200])
  })

  test('the tokens of somebody whose erasure a crash cut short', async () => {
    await using world = await bootGate()
    const { app } = world
    const { id } = await world.createIdentity()
    await mintToken(app, world.key, { subject: id })
    copy(world, 'gate_access_tokens', 1199, ['hash'])
    cutShort(world, id)

    expect(await slicesOf(world, 'gate_access_tokens')).toEqual([500, 500, 200])

    await until(() => toErase(world) === 0)
    expect(app.log.join()).not.toContain('retention failed')
  })
})

test('erasures of several people share a slice', async () => {
  await using world = await bootGate()
  const { app } = world
  for (let n = 0; n < 3; n++) {
    const { id } = await world.createIdentity()
    await mintToken(app, world.key, { subject: id })
    cutShort(world, id)
  }
  await mintToken(app, world.key)

  await app.platform.retention.sweep()

  expect(toErase(world)).toBe(0)
  expect(rows(world, 'access_tokens')).toEqual([1])
})

test('the ids of deleted people are kept as long as the audit log', async () => {
  await using world = await bootGate()
  const { id } = await world.createIdentity()
  expect(await world.api.delete(`${IDENTITIES}/${id}`)).toMatchObject({ status: 204 })

  await sweepAfter(world, 365 * DAY)
  expect(rows(world, 'erasures')).toEqual([1])

  await sweepAfter(world, 1)
  expect(rows(world, 'erasures')).toEqual([0])
})

test('the sweep comes by itself, once a minute', async () => {
  await using world = await bootGate()
  await mintToken(world.app, world.key)
  world.clock.jump(2 * DAY)
  await world.clock.advance(MINUTE - 1)
  await breathe(world.app)
  expect(rows(world, 'access_tokens')).toEqual([1])
  await world.clock.advance(1)
  await until(() => rows(world, 'access_tokens')[0] === 0)
})
