import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import {
  bootContract,
  type Contract,
  DAY,
  expectRefused,
  HOUR,
  type Json,
  LIFETIME,
  MINUTE,
} from './contract.ts'

const rows = ({ app }: Contract, from: string): number =>
  (app.db.client.query(`select count(*) as n from passepartout_${from}`).get() as Json).n

const COPIES = 'attempts where access_token is not null'

async function sweepAfter({ app, clock }: Contract, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

/** Writes down a row of a table again and again, with something else where it has to be unique. */
function copy({ app }: Contract, table: string, copies: number, changed: Record<string, string>) {
  const { client } = app.db
  const columns = client
    .query<{ name: string }, []>(`pragma table_info(passepartout_${table})`)
    .all()
    .map(({ name }) => name)
    .filter((name) => name !== 'seq')
  const values = columns.map((name) => changed[name] ?? name)
  client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into passepartout_${table} (${columns.join(', ')})
     select ${values.join(', ')} from n, (select * from passepartout_${table} limit 1)`,
    [copies],
  )
}

/** A sweep rests between two slices until the clock is turned. */
async function endOf({ clock }: Contract, sweep: Promise<void>) {
  let isOver = false
  void sweep.then(() => {
    isOver = true
  })
  while (!isOver) {
    await clock.advance(20)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('the copy of a token that waits to be collected goes once the nonce has expired', async () => {
  await using fixture = await bootContract()
  const { nonce } = await fixture.signInToSandbox(await fixture.party())
  const { test: api } = await fixture.party('Other')

  await sweepAfter(fixture, LIFETIME - 1)
  expect(rows(fixture, COPIES)).toBe(1)
  await sweepAfter(fixture, 1)
  expect(rows(fixture, COPIES)).toBe(0)
  expect(rows(fixture, 'attempts')).toBe(1)
  expectRefused(await api.status(nonce), 404, 'not_found')
})

test('so does one that was approved in the last moment, and not before its minute is over', async () => {
  await using fixture = await bootContract()
  const { test: api } = await fixture.party()
  const { nonce, deep_link } = await api.start()
  fixture.clock.jump(LIFETIME - 1)
  await fixture.chooseInSandbox(deep_link, 'approve')

  await sweepAfter(fixture, MINUTE - 1)
  expect((await api.status(nonce)).body).toMatchObject({ status: 'completed' })
  await sweepAfter(fixture, 1)
  expect(rows(fixture, COPIES)).toBe(0)
  expectRefused(await api.status(nonce), 404, 'nonce_expired')
})

test('a sign-in goes 30 days after its end, however it ended, and is unknown from then on', async () => {
  await using fixture = await bootContract()
  const party = await fixture.party()
  const { nonce } = await fixture.signInToSandbox(party)
  const pending = await party.test.start()
  const denied = await party.test.start()
  await fixture.chooseInSandbox(denied.deep_link, 'deny')

  await sweepAfter(fixture, LIFETIME + 30 * DAY)
  expect(rows(fixture, 'attempts')).toBe(3)
  expectRefused(await party.test.status(denied.nonce), 404, 'login_denied')
  for (const each of [nonce, pending.nonce])
    expectRefused(await party.test.status(each), 404, 'nonce_expired')

  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'attempts')).toBe(0)
  for (const each of [nonce, pending.nonce, denied.nonce])
    expectRefused(await party.test.status(each), 404, 'not_found')
  const { pathname } = new URL(pending.deep_link)
  expect(await fixture.app.raw(pathname)).toMatchObject({ status: 404 })
})

test('how long is a setting', async () => {
  await using fixture = await bootContract({ flags: { 'retention-logins': '2d' } })
  await (await fixture.party()).test.start()

  await sweepAfter(fixture, LIFETIME + 2 * DAY)
  expect(rows(fixture, 'attempts')).toBe(1)
  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'attempts')).toBe(0)
})

test('one that still goes on stays, however short the time is that they are kept', async () => {
  await using fixture = await bootContract({ flags: { 'retention-logins': '1m' } })
  const { test: api } = await fixture.party()
  const { nonce, deep_link } = await api.start()

  await sweepAfter(fixture, LIFETIME - MINUTE)
  expect((await api.status(nonce)).body).toEqual({ status: 'pending' })
  await fixture.chooseInSandbox(deep_link, 'approve')
  expect((await api.status(nonce)).body).toMatchObject({ status: 'completed' })
  await sweepAfter(fixture, DAY)
  expect(rows(fixture, 'attempts')).toBe(0)
})

test('people stay, and are the same ones when they come again', async () => {
  await using fixture = await bootContract()
  const party = await fixture.party()
  const { user } = await fixture.signInToSandbox(party)

  await sweepAfter(fixture, 400 * DAY)
  expect(rows(fixture, 'attempts')).toBe(0)
  expect(rows(fixture, 'people')).toBe(1)
  expect((await fixture.signInToSandbox(party)).user).toEqual(user)
})

test('a token goes a day after its end, revoked or not, and a setting says when', async () => {
  for (const [flags, kept] of [
    [{}, DAY],
    [{ 'retention-expired': '2h' }, 2 * HOUR],
  ] as [Record<string, string>, number][]) {
    await using fixture = await bootContract({ flags })
    const party = await fixture.party()
    await fixture.signInToSandbox(party)
    const { token } = await fixture.signInToSandbox(party)
    await party.test.revoke(token)

    await sweepAfter(fixture, HOUR + kept)
    expect(rows(fixture, 'tokens')).toBe(2)
    await sweepAfter(fixture, 1)
    expect(rows(fixture, 'tokens')).toBe(0)
    expect(await party.test.introspect(token)).toEqual({ active: false })
  }
})

test('updates are remembered for two days', async () => {
  await using fixture = await bootContract()
  const party = await fixture.party()
  await fixture.signIn(party, fixture.botApi.person({ language_code: 'en' }))
  const heard = rows(fixture, 'updates')
  expect(heard).toBe(2)

  await sweepAfter(fixture, 2 * DAY)
  expect(rows(fixture, 'updates')).toBe(heard)
  await sweepAfter(fixture, 1)
  expect(rows(fixture, 'updates')).toBe(0)
})

test('what is still to be said about a sign-in is kept no longer than it can be said', async () => {
  await using fixture = await bootContract()
  const { live, bot } = await fixture.party()
  const ada = fixture.botApi.person({ language_code: 'en' })
  const [answered, left] = [await live.start(), await live.start()]
  await fixture.answer(bot, ada, answered.deep_link, 'Approve')
  await fixture.open(bot, ada, left.deep_link)
  await until(() => rows(fixture, 'prompts') === 1)

  await fixture.clock.advance(LIFETIME)
  await until(() => rows(fixture, 'prompts') === 0)
})

test('the sweep comes by itself, once a minute', async () => {
  await using fixture = await bootContract()
  await (await fixture.party()).test.start()
  fixture.clock.jump(31 * DAY)

  await fixture.clock.advance(MINUTE)
  await until(() => rows(fixture, 'attempts') === 0)
})

test('sign-ins, tokens, copies and updates go in slices of 500, with room for others between them', async () => {
  await using fixture = await bootContract()
  const party = await fixture.party()
  await fixture.signIn(party, fixture.botApi.person({ language_code: 'en' }))
  const unique = (column: string) => `${column} || '-' || i`
  copy(fixture, 'attempts', 1199, {
    id: unique('id'),
    nonce_hash: unique('nonce_hash'),
    link_hash: unique('link_hash'),
  })
  copy(fixture, 'tokens', 1199, { hash: unique('hash') })
  copy(fixture, 'updates', 1198, { update_id: 'update_id + 1000 + i' })
  fixture.clock.jump(31 * DAY)

  const sweep = fixture.app.platform.retention.sweep()
  await until(() => rows(fixture, COPIES) < 1200)
  expect(rows(fixture, COPIES)).toBe(700)
  for (const [table, all] of [
    ['attempts', 1200],
    ['tokens', 1200],
    ['updates', 1200],
  ] as const) {
    expect(rows(fixture, table)).toBe(all)
    while (rows(fixture, table) === all) {
      await fixture.clock.advance(20)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(rows(fixture, table)).toBe(700)
  }
  expect((await party.live.start()).nonce).toBeString()
  await endOf(fixture, sweep)
  expect(['tokens', 'updates'].map((table) => rows(fixture, table))).toEqual([0, 0])
  expect(rows(fixture, 'attempts')).toBe(1)
})

test('nothing of one tenant goes before its time because of another', async () => {
  await using fixture = await bootContract()
  await fixture.signInToSandbox(await fixture.party())
  fixture.clock.jump(10 * DAY)
  const other = await fixture.party('Other')
  const { nonce, token } = await fixture.signInToSandbox(other)

  await sweepAfter(fixture, LIFETIME + 20 * DAY + 1)
  expect(['attempts', 'tokens'].map((table) => rows(fixture, table))).toEqual([1, 0])
  expectRefused(await other.test.status(nonce), 404, 'nonce_expired')
  expect(await other.test.introspect(token)).toEqual({ active: false })
})

test('no table of the engine is without a way to become small again, but for bots and people', async () => {
  await using fixture = await bootContract()
  const party = await fixture.party()
  await fixture.signIn(party, fixture.botApi.person({ language_code: 'en' }))
  await fixture.signInToSandbox(party)
  await until(() => rows(fixture, 'prompts') === 0)

  await sweepAfter(fixture, 400 * DAY)
  const tables = fixture.app.db.client
    .query<{ name: string }, []>(
      `select name from sqlite_schema where type = 'table' and name like 'passepartout_%'`,
    )
    .all()
    .map(({ name }) => name.replace('passepartout_', ''))
  const left = tables.filter((table) => rows(fixture, table) > 0)
  expect(left.toSorted()).toEqual(['bots', 'people'])
})
