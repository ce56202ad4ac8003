import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { bootContract, type Contract, MINUTE, SECOND } from './contract.ts'

/** What became of sign-ins so far, by the names of what happened, if it did. */
async function logins({ app }: Contract): Promise<Record<string, number>> {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, what, value] = /^gatehouse_logins_total{what="(\w+)"} ([1-9]\d*)$/.exec(line) ?? []
      return what === undefined ? [] : [[what, Number(value)]]
    }),
  )
}

test('what becomes of sign-ins is counted once for each', async () => {
  await using fixture = await bootContract()
  const { live, test: sandbox, bot } = await fixture.party()
  const person = () => fixture.botApi.person({ language_code: 'en' })
  expect(await logins(fixture)).toEqual({})

  const [approved, denied, open] = [await live.start(), await live.start(), await live.start()]
  await sandbox.start()
  expect(await logins(fixture)).toEqual({ started: 4 })

  await fixture.answer(bot, person(), approved.deep_link, 'Approve')
  await fixture.answer(bot, person(), denied.deep_link, 'Deny')
  await fixture.open(bot, person(), open.deep_link)
  expect(await logins(fixture)).toEqual({ started: 4, opened: 3, approved: 1, denied: 1 })

  const numbered = await live.start({ label: 'Shop' })
  const ada = person()
  const question = await fixture.open(bot, ada, numbered.deep_link)
  const wrong = question.buttons
    .flat()
    .find((label) => /\d/.test(label) && label !== numbered.match_code)
  await fixture.botApi.waitForAnswer(ada.tap(question, wrong as string))
  const all = { started: 5, opened: 4, approved: 1, denied: 1, mismatched: 1 }
  expect(await logins(fixture)).toEqual(all)

  ada.follow((await live.start()).deep_link)
  await until(async () => (await logins(fixture)).turned_away === 1)
  expect(await logins(fixture)).toEqual({ ...all, started: 6, turned_away: 1 })
})

test('neither a question for the status nor what is refused counts as a sign-in', async () => {
  await using fixture = await bootContract()
  const { live, bot } = await fixture.party()
  const { nonce, deep_link } = await live.start()
  await live.status(nonce)
  await live.status('x')
  await live.postText('/v1/passepartout/login/start', '{')
  const ada = fixture.botApi.person({ language_code: 'en' })
  await fixture.answer(bot, ada, deep_link, 'Approve')
  const before = await logins(fixture)

  const nowhere = 'approve.01890000-0000-7000-8000-000000000000'
  const again = ada.tapData(await ada.waitForMessage(bot), nowhere)
  await fixture.botApi.waitForAnswer(again)
  ada.follow(deep_link)
  await ada.waitForMessage(bot, ({ text }) => text.includes('has ended'))
  expect(await logins(fixture)).toEqual(before)
})

test('calls to a messenger that fail are counted by reason', async () => {
  await using fixture = await bootContract()
  const { live, bot } = await fixture.party()
  const failures = (reason: string) =>
    fixture.metric(`messenger_failures_total{reason="${reason}"}`)
  const ada = fixture.botApi.person({ language_code: 'en' })

  fixture.botApi.fail({ method: 'sendMessage', bot, status: 403, times: 1 })
  ada.follow((await live.start()).deep_link)
  await until(async () => (await failures('forbidden')) === 1)

  const fault = fixture.botApi.fail({ method: 'getUpdates', bot, status: 502 })
  await until(async () => {
    await fixture.clock.advance(SECOND)
    return ((await failures('unavailable')) ?? 0) > 0
  })
  fault.end()
  expect(await failures('conflict')).toBe(0)
})

test('bots whose messages are received are counted, those of the sandbox are not', async () => {
  await using fixture = await bootContract()
  expect(await fixture.metric('bots_receiving')).toBe(0)
  const one = await fixture.party()
  const two = await fixture.party('Other')
  expect(await fixture.metric('bots_receiving')).toBe(2)

  const { bots } = fixture.app.passepartout
  await bots.disable(fixture.actor, { tenantId: one.id, environment: 'live' })
  await until(async () => (await fixture.metric('bots_receiving')) === 1)
  await bots.remove(fixture.actor, { tenantId: two.id, environment: 'live' })
  await until(async () => (await fixture.metric('bots_receiving')) === 0)
})

test('questions for a status count while they are held', async () => {
  await using fixture = await bootContract()
  const { live } = await fixture.party()
  const { nonce } = await live.start()
  expect(await fixture.metric('logins_held')).toBe(0)
  const asked = [live.status(nonce, 10), live.status(nonce, 20)]
  await fixture.waitForHeld(2)
  await fixture.clock.advance(10 * SECOND)
  await fixture.waitForHeld(1)
  await fixture.clock.advance(10 * SECOND)
  await fixture.waitForHeld(0)
  await Promise.all(asked)
})

test('no metric tells whose sign-in it was, and none has a label for each', async () => {
  await using fixture = await bootContract()
  const party = await fixture.party()
  const { nonce, token, user } = await fixture.signIn(
    party,
    fixture.botApi.person({ language_code: 'en', username: 'ada_l' }),
  )
  await fixture.clock.advance(MINUTE)
  const { body } = await fixture.app.raw('/metrics')
  const secrets = [
    party.id,
    user.id,
    user.platform_user_id,
    'ada_l',
    nonce,
    token,
    party.bot.username,
  ]
  for (const text of secrets) expect(body).not.toContain(text)
})
