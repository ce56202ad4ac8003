import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { bootPassepartout, DAY, expectRefused, HOUR, LIFETIME, MINUTE } from './fixture.ts'

/** An application of its own, because sweeps see all tenants. */
async function boot(flags: Record<string, string> = {}) {
  const fixture = await bootPassepartout({ flags })
  const { app, clock } = fixture
  const tenant = await fixture.newTenant()
  const sweepAfter = async (ms: number) => {
    clock.jump(ms)
    await app.platform.retention.sweep()
  }
  const count = (from: string) => fixture.rows(from).length
  const copies = () => count('attempts where access_token is not null')
  return { ...fixture, tenant, ada: fixture.botApi.person(), sweepAfter, count, copies }
}

test.each([
  [{}, DAY, 30 * DAY],
  [{ 'retention-logins': '2d', 'retention-expired': '2h' }, 2 * HOUR, 2 * DAY],
])(
  'Tokens and sign-ins go some time after their end, and are collected until then: %j',
  async (flags, tokens, logins) => {
    await using here = await boot(flags)
    const { tenant, choose } = here
    const completed = await here.signInToSandbox(tenant)
    const { token } = await here.signInToSandbox(tenant)
    await tenant.test.revoke(token)
    const [pending, denied] = [await tenant.test.start(), await tenant.test.start()]
    const late = await tenant.test.start()
    await choose(denied, 'deny')
    here.clock.jump(LIFETIME - 1)
    await choose(late, 'approve')
    await here.sweepAfter(0)
    expect(here.copies()).toBe(3)
    await here.sweepAfter(1)
    expect(here.copies()).toBe(1)
    await here.sweepAfter(MINUTE - 2)
    expect((await late.status()).body).toMatchObject({ status: 'completed' })
    await here.sweepAfter(1)
    expect([here.copies(), here.count('attempts')]).toEqual([0, 5])
    expectRefused(await late.status(), 404, 'nonce_expired')

    await here.sweepAfter(HOUR + tokens - LIFETIME - MINUTE + 1)
    expect(here.count('tokens')).toBe(3)
    await here.sweepAfter(1)
    expect(here.count('tokens')).toBe(1)
    await here.sweepAfter(LIFETIME + logins - HOUR - tokens - 1)
    expectRefused(await denied.status(), 404, 'login_denied')
    for (const each of [completed, pending])
      expectRefused(await each.status(), 404, 'nonce_expired')
    await here.sweepAfter(1)
    for (const each of [completed, pending, denied])
      expectRefused(await each.status(), 404, 'not_found')
    expect((await choose(pending, 'approve')).status).toBe(404)
    expect((await here.signInToSandbox(tenant)).user).toEqual(completed.user)
  },
)

test('A sign-in stays while it can go on and the throttle needs it, however short retention is', async () => {
  await using here = await boot({ 'retention-logins': '1m' })
  const { ada, tenant } = here
  const login = await tenant.test.start()
  await here.sweepAfter(LIFETIME - MINUTE)
  await here.choose(login, 'approve')
  expect((await login.status()).body).toMatchObject({ status: 'completed' })
  const { question } = await here.ask(tenant, ada)
  await here.tap(ada, question, 'Deny')
  await here.sweepAfter(LIFETIME + 2 * MINUTE)
  expect((await here.ask(tenant, ada)).question.text).toContain('recently denied')
  await here.sweepAfter(DAY)
  expect(here.count('attempts')).toBe(0)
})

test('Updates are remembered for two days; the sweep comes once a minute and leaves bots and people', async () => {
  await using here = await boot()
  const { clock, count } = here
  await here.signIn(here.tenant, here.ada)
  await here.sweepAfter(2 * DAY)
  expect(count('updates')).toBe(2)
  clock.jump(1)
  await clock.advance(MINUTE)
  await until(() => count('updates') === 0)
  clock.jump(400 * DAY)
  await clock.advance(MINUTE)
  await until(() => count('attempts') + count('tokens') + count('prompts') === 0)
  expect([count('bots'), count('people')]).toEqual([2, 1])
})

test('Rows go in slices of 500, with room for others between them', async () => {
  await using here = await boot()
  const { app, clock, count, tenant } = here
  await here.signIn(tenant, here.ada)

  /** Copies the one row of a table, with other values where they have to be unique. */
  function copy(table: string, copies: number, changed: Record<string, string>) {
    const { client } = app.db
    const info = client.query<{ name: string }, []>(`pragma table_info(passepartout_${table})`)
    const columns = info.all().flatMap(({ name }) => (name === 'seq' ? [] : name))
    client.run(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
       insert into passepartout_${table} (${columns.join(', ')})
       select ${columns.map((name) => changed[name] ?? name).join(', ')}
       from n, (select * from passepartout_${table} limit 1)`,
      [copies],
    )
  }
  const unique = (column: string) => ({ [column]: `${column} || '-' || i` })
  copy('attempts', 1199, { ...unique('id'), ...unique('nonce_hash'), ...unique('link_hash') })
  copy('tokens', 1199, unique('hash'))
  copy('updates', 1198, { update_id: 'update_id + 1000 + i' })
  clock.jump(31 * DAY)

  let isOver = false
  void app.platform.retention.sweep().then(() => {
    isOver = true
  })
  await until(() => here.copies() < 1200)
  expect(here.copies()).toBe(700)
  for (const from of ['attempts', 'tokens', 'updates']) {
    expect(count(from)).toBe(1200)
    await until(async () => {
      await clock.advance(20)
      return count(from) < 1200
    })
    expect(count(from)).toBe(700)
  }
  await tenant.live.start()
  await until(async () => {
    await clock.advance(20)
    return isOver
  })
  expect(['attempts', 'tokens', 'updates'].map(count)).toEqual([1, 0, 0])
})
