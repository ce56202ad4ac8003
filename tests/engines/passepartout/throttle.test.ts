import { describe, expect, test } from 'bun:test'
import type { Person } from '../../support/bot-api/index.ts'
import {
  bootPassepartout,
  CLIENT,
  MINUTE,
  SECOND,
  type Tenant,
  usePassepartout,
  wrongNumber,
} from './fixture.ts'

const COOL_DOWN = 10 * MINUTE
const REST = /denied here[\s\S]*paused[\s\S]*from 12:11 UTC/
const TOO_MANY = /^Too many sign-ins to Acme[\s\S]*from 12:11 UTC/
const QUESTION = /^Sign in to/

/** An application of its own, because these tests turn the clock far. It is 12:00:30. */
async function boot() {
  const fixture = await bootPassepartout()
  const acme = await fixture.newTenant()
  const ada = fixture.botApi.person()

  /** What a person is told who opens a new link. */
  const told = async (tenant: Tenant = acme, person: Person = ada) =>
    (await fixture.ask(tenant, person)).question.text

  async function deny() {
    const { question } = await fixture.ask(acme, ada)
    await fixture.tap(ada, question, 'Deny')
  }

  return { ...fixture, acme, ada, told, deny }
}

describe('a person who denied a sign-in is not asked again', () => {
  test('for ten minutes; another person may open the link', async () => {
    await using here = await boot()
    const { acme, ada, ask, botApi, deny, expectNobody, expectSignedIn, open, pass, tap, told } =
      here
    await deny()
    const { login, question } = await ask(acme, ada)
    expect(question).toMatchObject({ text: expect.stringMatching(REST), buttons: [] })
    await expectNobody(login)
    expect(here.attemptsOf(acme)[1]).toMatchObject({ state: 'pending', opener_id: null })
    const bob = botApi.person()
    await tap(bob, await open(acme.bot, bob, login), 'Approve')
    await expectSignedIn(login, bob)
    await pass(COOL_DOWN - SECOND)
    expect(await told()).toMatch(REST)
    await pass(SECOND)
    expect(await told()).toMatch(QUESTION)
  })

  test('nor after a wrong number', async () => {
    await using here = await boot()
    const { login, question } = await here.ask(here.acme, here.ada, CLIENT)
    await here.tap(here.ada, question, wrongNumber(question, login))
    expect(await here.told()).toMatch(REST)
  })

  test('by this bot; other bots ask, and other people are asked', async () => {
    await using here = await boot()
    const other = await here.newTenant('Other')
    await here.deny()
    expect(await here.told(other)).toMatch(QUESTION)
    expect(await here.told(here.acme, here.botApi.person())).toMatch(QUESTION)
    expect(await here.told()).toMatch(REST)
  })

  test('but may answer an earlier question, which does not end the pause', async () => {
    await using here = await boot()
    const { login, question } = await here.ask(here.acme, here.ada)
    await here.deny()
    await here.tap(here.ada, question, 'Approve')
    await here.expectSignedIn(login, here.ada)
    expect(await here.told()).toMatch(REST)
  })
})

describe('a person may open three sign-ins in ten minutes without approving them', () => {
  test('of one bot, expired ones included', async () => {
    await using here = await boot()
    const { acme, botApi, pass, told } = here
    const other = await here.newTenant('Other')
    for (let n = 0; n < 3; n++) expect(await told()).toMatch(QUESTION)
    const { login, question } = await here.ask(acme, here.ada)
    expect(question).toMatchObject({ text: expect.stringMatching(TOO_MANY), buttons: [] })
    await here.expectNobody(login)
    expect(await told(other)).toMatch(QUESTION)
    expect(await told(acme, botApi.person())).toMatch(QUESTION)
    await pass(6 * MINUTE)
    expect(await told()).toMatch(TOO_MANY)
    await pass(4 * MINUTE - SECOND)
    expect(await told()).toMatch(TOO_MANY)
    await pass(SECOND)
    expect(await told()).toMatch(QUESTION)
  })

  test('and each makes room when its own ten minutes are over', async () => {
    await using here = await boot()
    for (let n = 0; n < 3; n++) {
      await here.told()
      await here.pass(MINUTE)
    }
    await here.pass(COOL_DOWN - 3 * MINUTE)
    expect(await here.told()).toMatch(QUESTION)
    // The second one was opened a minute after the first.
    expect(await here.told()).toContain('from 12:12 UTC')
    await here.pass(MINUTE)
    expect(await here.told()).toMatch(QUESTION)
  })

  test('but approved ones do not count, nor a second press of Start', async () => {
    await using here = await boot()
    const { acme, ada, ask, open, signIn, tap, told } = here
    for (let n = 0; n < 5; n++) await signIn(acme, ada)
    const { login, question } = await ask(acme, ada)
    for (let n = 0; n < 2; n++) await open(acme.bot, ada, login)
    for (let n = 0; n < 2; n++) expect(await told()).toMatch(QUESTION)
    expect(await told()).toMatch(TOO_MANY)
    await tap(ada, question, 'Approve')
    expect(await told()).toMatch(QUESTION)
  })
})

test('the sandbox turns no one away', async () => {
  const { choose, newTenant } = await usePassepartout()
  const { test: api } = await newTenant()
  for (let n = 0; n < 5; n++) {
    const login = await api.start()
    for (const choice of ['start', 'deny']) expect((await choose(login, choice)).status).toBe(303)
  }
  expect((await choose(await api.start(), 'approve')).status).toBe(303)
})
