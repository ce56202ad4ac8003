import { expect, test } from 'bun:test'
import { CLIENT, MINUTE, SECOND, type Tenant, usePassepartout, wrongNumber } from './fixture.ts'

const COOL_DOWN = 10 * MINUTE
const QUESTION = /^Sign in to/

const fixture = await usePassepartout()
const { ask, botApi, clock, expectNobody, expectSignedIn, newTenant, open, tap } = fixture

/** A tenant and a person. */
async function newPerson() {
  const acme = await newTenant()
  const ada = botApi.person()

  /** What a person is told who opens a new link. */
  const told = async (tenant: Tenant = acme, person = ada) =>
    (await ask(tenant, person)).question.text
  return { ...acme, acme, ada, told }
}

const clockAt = (ms: number) => new Date(clock.now() + ms + 59_999).toISOString().slice(11, 16)
/** The reply that names the minute after so many milliseconds from now. */
const paused = (ms: number) => new RegExp(`denied here[\\s\\S]*paused[\\s\\S]*${clockAt(ms)} UTC`)
const tooMany = (ms: number) => new RegExp(`^Too many sign-ins to Acme[\\s\\S]*${clockAt(ms)} UTC`)

test('A person who chose a wrong number is not asked again by this bot for ten minutes, but others are', async () => {
  await using here = await newPerson()
  await using other = await newTenant('Other')
  const { acme, ada, bot, told } = here
  const earlier = await ask(acme, ada)
  const wrong = await ask(acme, ada, CLIENT)
  await tap(ada, wrong.question, wrongNumber(wrong.question, wrong.login))
  const refusal = paused(COOL_DOWN)
  const { login, question } = await ask(acme, ada)
  expect(question).toMatchObject({ text: expect.stringMatching(refusal), buttons: [] })
  await expectNobody(login)
  expect(fixture.attemptsOf(acme)[2]).toMatchObject({ state: 'pending', opener_id: null })
  expect(await told(other)).toMatch(QUESTION)
  const bob = botApi.person()
  await tap(bob, await open(bot, bob, login), 'Approve')
  await expectSignedIn(login, bob)
  // An earlier question may still be answered, which doesn't end the pause.
  await tap(ada, earlier.question, 'Approve')
  expect((await earlier.login.status()).body).toMatchObject({ status: 'completed' })
  clock.jump(COOL_DOWN - SECOND)
  expect(await told()).toMatch(refusal)
  clock.jump(SECOND)
  expect(await told()).toMatch(QUESTION)
})

test('A person may open three sign-ins of a bot in ten minutes, and each makes room when its own are over', async () => {
  await using here = await newPerson()
  await using other = await newTenant('Other')
  const { acme, told } = here
  for (let n = 0; n < 3; n++) {
    expect(await told()).toMatch(QUESTION)
    clock.jump(MINUTE)
  }
  const refusal = tooMany(COOL_DOWN - 3 * MINUTE)
  const { login, question } = await ask(acme, here.ada)
  expect(question).toMatchObject({ text: expect.stringMatching(refusal), buttons: [] })
  await expectNobody(login)
  expect(await told(other)).toMatch(QUESTION)
  expect(await told(acme, botApi.person())).toMatch(QUESTION)
  clock.jump(COOL_DOWN - 3 * MINUTE - SECOND)
  expect(await told()).toMatch(refusal)
  clock.jump(SECOND)
  expect(await told()).toMatch(QUESTION)
  expect(await told()).toMatch(tooMany(MINUTE))
  clock.jump(MINUTE)
  expect(await told()).toMatch(QUESTION)
})

test('Of the three sign-ins in ten minutes, approved ones do not count, nor a second press of Start', async () => {
  await using here = await newPerson()
  const { acme, ada, told } = here
  for (let n = 0; n < 4; n++) await fixture.signIn(acme, ada)
  const { login, question } = await ask(acme, ada)
  await open(here.bot, ada, login)
  for (let n = 0; n < 2; n++) expect(await told()).toMatch(QUESTION)
  expect(await told()).toMatch(tooMany(COOL_DOWN))
  await tap(ada, question, 'Approve')
  expect(await told()).toMatch(QUESTION)
})
