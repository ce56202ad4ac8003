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
  // A sweep that is still at work begins the minute until the next one later.
  const untilSwept = (left: () => number) =>
    until(async () => {
      await clock.advance(MINUTE)
      return left() === 0
    })
  clock.jump(1)
  await untilSwept(() => count('updates'))
  clock.jump(400 * DAY)
  await untilSwept(() => count('attempts') + count('tokens') + count('prompts'))
  expect([count('bots'), count('people')]).toEqual([2, 1])
})
