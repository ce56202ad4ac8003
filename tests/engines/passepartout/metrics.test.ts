import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { bootPassepartout, type Fixture, MINUTE, SECOND, START, wrongNumber } from './fixture.ts'

/** Each test has an application of its own, because metrics count all tenants. */
async function boot() {
  const fixture = await bootPassepartout()
  return { ...fixture, tenant: await fixture.newTenant() }
}

/** The counts of sign-ins that are not 0, by event. */
async function logins({ app }: Pick<Fixture, 'app'>): Promise<Record<string, number>> {
  const { body } = await app.raw('/metrics')
  const counts = body.matchAll(/^gatehouse_logins_total{what="(\w+)"} ([1-9]\d*)$/gm)
  return Object.fromEntries([...counts].map(([, what, count]) => [what, Number(count)]))
}

test('each event of a sign-in is counted once, and nothing else is', async () => {
  await using here = await boot()
  const { answer, ask, botApi, open, tap, tenant } = here
  const { live, bot } = tenant
  const [approved, denied] = [await live.start(), await live.start()]
  await tenant.test.start()
  expect(await logins(here)).toEqual({ started: 3 })

  const ada = botApi.person()
  await answer(bot, ada, approved.deep_link, 'Approve')
  const carl = botApi.person()
  await answer(bot, carl, denied.deep_link, 'Deny')
  const bob = botApi.person()
  const { login, question } = await ask(tenant, bob, { label: 'Shop' })
  await tap(bob, question, wrongNumber(question, login))
  const all = { started: 4, opened: 3, approved: 1, denied: 1, mismatched: 1 }
  expect(await logins(here)).toEqual(all)
  expect((await ask(tenant, carl)).question.buttons).toEqual([])
  const turnedAway = { ...all, started: 5, turned_away: 1 }
  expect(await logins(here)).toEqual(turnedAway)

  await live.status(approved.nonce)
  await live.postText(START, '{')
  await tap(ada, await ada.waitForMessage(bot), { data: `approve.${'0'.repeat(36)}` })
  await open(bot, ada, approved)
  expect(await logins(here)).toEqual(turnedAway)
})

test('failed calls to a messenger are counted by reason', async () => {
  await using here = await boot()
  const { live, bot } = here.tenant
  const failures = (reason: string) => here.metric(`messenger_failures_total{reason="${reason}"}`)
  here.botApi.fail({ method: 'sendMessage', bot, status: 403, times: 1 })
  here.botApi.person().follow((await live.start()).deep_link)
  await until(async () => (await failures('forbidden')) === 1)
  using _fault = here.botApi.fail({ method: 'getUpdates', bot, status: 502 })
  await until(async () => {
    await here.clock.advance(SECOND)
    return ((await failures('unavailable')) ?? 0) > 0
  })
  expect(await failures('conflict')).toBe(0)
})

test('bots whose messages are received are counted, without those of the sandbox', async () => {
  await using here = await boot()
  const { actor, bots, metric } = here
  const other = await here.newTenant('Other')
  expect(await metric('bots_receiving')).toBe(2)
  await bots.disable(actor, here.tenant.owner)
  await until(async () => (await metric('bots_receiving')) === 1)
  await bots.remove(actor, other.owner)
  await until(async () => (await metric('bots_receiving')) === 0)
})

test('no metric tells of a single person or tenant', async () => {
  await using here = await boot()
  const { tenant } = here
  const { nonce, token, user } = await here.signIn(
    tenant,
    here.botApi.person({ username: 'ada_l' }),
  )
  await here.clock.advance(MINUTE)
  const { body } = await here.app.raw('/metrics')
  const { id, platform_user_id } = user
  for (const text of [tenant.id, id, platform_user_id, 'ada_l', nonce, token, tenant.bot.username])
    expect(body).not.toContain(text)
})
