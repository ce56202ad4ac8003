import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { SECOND, usePassepartout, wrongNumber } from './fixture.ts'

const fixture = await usePassepartout()
const { app, botApi, metric, newTenant } = fixture

test('Each event of a sign-in is counted once, and nothing else is', async () => {
  await using tenant = await newTenant()
  const { live, bot } = tenant
  /** The counts of sign-ins that are not 0, by event. */
  async function logins() {
    const { body } = await app.raw('/metrics')
    const counts = body.matchAll(/^gatehouse_logins_total{what="(\w+)"} ([1-9]\d*)$/gm)
    return Object.fromEntries([...counts].map(([, what, count]) => [what, Number(count)]))
  }
  const [approved, denied] = [await live.start(), await live.start()]
  await tenant.test.start()
  expect(await logins()).toEqual({ started: 3 })
  const [ada, bob, carl] = [botApi.person(), botApi.person(), botApi.person()]
  await fixture.answer(bot, ada, approved.deep_link, 'Approve')
  await fixture.answer(bot, carl, denied.deep_link, 'Deny')
  const { login, question } = await fixture.ask(tenant, bob, { label: 'Shop' })
  await fixture.tap(bob, question, wrongNumber(question, login))
  const all = { started: 4, opened: 3, approved: 1, denied: 1, mismatched: 1 }
  expect(await logins()).toEqual(all)
  expect((await fixture.ask(tenant, carl)).question.buttons).toEqual([])
  const turnedAway = { ...all, started: 5, turned_away: 1 }
  expect(await logins()).toEqual(turnedAway)

  await fixture.tap(ada, await ada.waitForMessage(bot), { data: `approve.${'0'.repeat(36)}` })
  await fixture.open(bot, ada, approved)
  expect(await logins()).toEqual(turnedAway)
  // No metric tells of a single person or tenant.
  const { body } = await app.raw('/metrics')
  for (const text of [tenant.id, `${ada.id}`, approved.nonce, bot.username])
    expect(body).not.toContain(text)
})

test('Bots that receive messages are counted, and failed calls by reason', async () => {
  await using tenant = await newTenant()
  await until(async () => (await metric('bots_receiving')) === 1)
  const { live, bot } = tenant
  const failures = (reason: string) => metric(`messenger_failures_total{reason="${reason}"}`)
  botApi.fail({ method: 'sendMessage', bot, status: 403, times: 1 })
  botApi.person().follow((await live.start()).deep_link)
  await until(async () => (await failures('forbidden')) === 1)
  using _fault = botApi.fail({ method: 'getUpdates', bot, status: 502 })
  await until(async () => {
    await fixture.clock.advance(SECOND)
    return ((await failures('unavailable')) ?? 0) > 0
  })
  expect(await failures('conflict')).toBe(0)
})
