import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import {
  bootPassepartout,
  DAY,
  expectRefused,
  HOUR,
  LIFETIME,
  MINUTE,
  type Tenant,
} from './fixture.ts'

const COPIES = 'attempts where access_token is not null'

/** An application of its own for each test, because sweeps see all tenants. */
async function boot(flags: Record<string, string> = {}) {
  const fixture = await bootPassepartout({ flags })
  const { app, clock } = fixture
  const sweepAfter = async (ms: number) => {
    clock.jump(ms)
    await app.platform.retention.sweep()
  }
  const count = (from: string) => fixture.rows(from).length
  return { ...fixture, tenant: await fixture.newTenant(), sweepAfter, count }
}

type Booted = Awaited<ReturnType<typeof boot>>

test('the token of a sign-in is kept for collection until the nonce expires', async () => {
  await using here = await boot()
  await here.signInToSandbox(here.tenant)
  const late = await here.tenant.test.start()
  here.clock.jump(LIFETIME - 1)
  await here.choose(late, 'approve')
  await here.sweepAfter(0)
  expect(here.count(COPIES)).toBe(2)
  await here.sweepAfter(1)
  expect(here.count(COPIES)).toBe(1)
  await here.sweepAfter(MINUTE - 2)
  expect((await late.status()).body).toMatchObject({ status: 'completed' })
  await here.sweepAfter(1)
  expect([here.count(COPIES), here.count('attempts')]).toEqual([0, 2])
  expectRefused(await late.status(), 404, 'nonce_expired')
})

test.each([
  [{}, 30 * DAY],
  [{ 'retention-logins': '2d' }, 2 * DAY],
])('sign-ins are unknown some days after they expired: %j', async (flags, kept) => {
  await using here = await boot(flags)
  const { test: api } = here.tenant
  const [completed, pending] = [await here.signInToSandbox(here.tenant), await api.start()]
  const denied = await api.start()
  await here.choose(denied, 'deny')
  await here.sweepAfter(LIFETIME + kept)
  expectRefused(await denied.status(), 404, 'login_denied')
  for (const each of [completed, pending]) expectRefused(await each.status(), 404, 'nonce_expired')
  await here.sweepAfter(1)
  for (const each of [completed, pending, denied])
    expectRefused(await each.status(), 404, 'not_found')
  expect((await here.choose(pending, 'approve')).status).toBe(404)
  expect((await here.signInToSandbox(here.tenant)).user).toEqual(completed.user)
})

test('a sign-in stays while it can go on and the throttle needs it, however short retention is', async () => {
  await using here = await boot({ 'retention-logins': '1m' })
  const login = await here.tenant.test.start()
  await here.sweepAfter(LIFETIME - MINUTE)
  await here.choose(login, 'approve')
  expect((await login.status()).body).toMatchObject({ status: 'completed' })
  const ada = here.botApi.person()
  const { question } = await here.ask(here.tenant, ada)
  await here.tap(ada, question, 'Deny')
  await here.sweepAfter(LIFETIME + 2 * MINUTE)
  expect((await here.ask(here.tenant, ada)).question.text).toContain('recently denied')
  await here.sweepAfter(DAY)
  expect(here.count('attempts')).toBe(0)
})

test.each([
  [{}, DAY],
  [{ 'retention-expired': '2h' }, 2 * HOUR],
])('a token is deleted some time after its end, revoked or not: %j', async (flags, kept) => {
  await using here = await boot(flags)
  await here.signInToSandbox(here.tenant)
  const { token } = await here.signInToSandbox(here.tenant)
  await here.tenant.test.revoke(token)
  await here.sweepAfter(HOUR + kept)
  expect(here.count('tokens')).toBe(2)
  await here.sweepAfter(1)
  expect(here.count('tokens')).toBe(0)
})

test('updates are remembered for two days', async () => {
  await using here = await boot()
  await here.signIn(here.tenant, here.botApi.person())
  await here.sweepAfter(2 * DAY)
  expect(here.count('updates')).toBe(2)
  await here.sweepAfter(1)
  expect(here.count('updates')).toBe(0)
})

test('the sweep comes once a minute and leaves bots and people alone', async () => {
  await using here = await boot()
  await here.signIn(here.tenant, here.botApi.person())
  const { login } = await here.ask(here.tenant, here.botApi.person())
  await until(() => here.count('prompts') === 1)
  await here.clock.advance(LIFETIME)
  await until(() => here.count('prompts') === 0)
  expectRefused(await login.status(), 404, 'nonce_expired')
  here.clock.jump(400 * DAY)
  await here.clock.advance(MINUTE)
  await until(() => here.count('attempts') + here.count('tokens') + here.count('updates') === 0)
  expect([here.count('bots'), here.count('people')]).toEqual([2, 1])
})

/** Copies the one row of a table, with other values where they have to be unique. */
function copy({ app }: Booted, table: string, copies: number, changed: Record<string, string>) {
  const { client } = app.db
  const columns = client
    .query<{ name: string }, []>(`pragma table_info(passepartout_${table})`)
    .all()
    .map(({ name }) => name)
    .filter((name) => name !== 'seq')
  client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into passepartout_${table} (${columns.join(', ')})
     select ${columns.map((name) => changed[name] ?? name).join(', ')}
     from n, (select * from passepartout_${table} limit 1)`,
    [copies],
  )
}

test('rows go in slices of 500, with room for others between them', async () => {
  await using here = await boot()
  const { clock, count } = here
  const tenant: Tenant = here.tenant
  await here.signIn(tenant, here.botApi.person())
  const unique = (column: string) => ({ [column]: `${column} || '-' || i` })
  const ids = { ...unique('id'), ...unique('nonce_hash'), ...unique('link_hash') }
  copy(here, 'attempts', 1199, ids)
  copy(here, 'tokens', 1199, unique('hash'))
  copy(here, 'updates', 1198, { update_id: 'update_id + 1000 + i' })
  clock.jump(31 * DAY)

  const sweep = here.app.platform.retention.sweep()
  let isOver = false
  void sweep.then(() => {
    isOver = true
  })
  for (const from of [COPIES, 'attempts', 'tokens', 'updates']) {
    const turn = async () => {
      await clock.advance(20)
      return count(from) < 1200
    }
    if (from !== COPIES) expect(count(from)).toBe(1200)
    await until(from === COPIES ? () => count(from) < 1200 : turn)
    expect(count(from)).toBe(700)
  }
  await tenant.live.start()
  await until(async () => {
    await clock.advance(20)
    return isOver
  })
  expect(['attempts', 'tokens', 'updates'].map(count)).toEqual([1, 0, 0])
})
