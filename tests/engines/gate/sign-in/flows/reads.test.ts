import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { newAccount } from '../../../../support/social/index.ts'
import { ADA, enrolled, halfway, nextCode, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { PASSWORD } from './fixture.ts'
import { bootSocial, startFakes } from './social-fixture.ts'

/**
 * A form is read for once before its work waits for a turn, and once within the commit that ends
 * it, because anything may have happened in between.
 */
const ONCE_AND_IN_COMMIT = 2

const reads = watchReads()
const fakes = await startFakes()
const world = await bootSocial(fakes)
afterAll(async () => {
  reads[Symbol.dispose]()
  await world.stop()
  await fakes.stop()
})
await world.security({ passwordless_enabled: true, mfa_enabled: true })

/** Counts the reads of rows by databases that are opened from now on. */
function watchReads() {
  const { prepare } = Database.prototype
  let counts = { flows: 0, sessions: 0 }

  Database.prototype.prepare = function (this: Database, sql: string, ...rest: []) {
    const statement = prepare.call(this, sql, ...rest)
    const table = /^select .* from "gate_(flows|sessions)"/s.exec(sql)?.[1] as keyof typeof counts
    if (table === undefined) return statement as never
    for (const name of ['all', 'get', 'values'] as const) {
      const run = statement[name].bind(statement)
      const counted = (...values: Parameters<typeof run>) => {
        counts[table]++
        return run(...values)
      }
      Object.assign(statement, { [name]: counted })
    }
    return statement as never
  }

  return {
    async during(work: () => Promise<unknown>) {
      counts = { flows: 0, sessions: 0 }
      await work()
      return counts
    },
    [Symbol.dispose]: () => {
      Database.prototype.prepare = prepare
    },
  }
}

const signsIn = async (send: () => Promise<{ status: number }>, status = 200) =>
  reads.during(async () => expect(await send()).toMatchObject({ status }))

test('a password reads its flow before it is hashed and in the commit, and no session', async () => {
  await world.register(ADA)
  const form = { method: 'password', identifier: ADA, password: PASSWORD }
  const flow = await world.start('login')
  expect(await signsIn(() => world.send(flow, form))).toEqual({
    flows: ONCE_AND_IN_COMMIT,
    sessions: 0,
  })

  const browser = newBrowser(world.app)
  const page = await browser.visit((await world.begin('login')).hosted_url)
  const { method: _, ...typed } = form
  const press = () => browser.press(page, ['method', 'password'], typed)
  expect(await signsIn(press, 303)).toEqual({ flows: ONCE_AND_IN_COMMIT, sessions: 0 })
})

test('a second factor reads its flow and its session once, and once more in the commit', async () => {
  const email = 'bob@example.com'
  const { secret } = await enrolled(world, email)
  const login = await world.start('login')
  const form = { method: 'password', identifier: email, password: PASSWORD }
  expect(await signsIn(() => world.send(login, form))).toEqual({
    flows: ONCE_AND_IN_COMMIT,
    sessions: 0,
  })

  const { flow } = await halfway(world, email)
  const answer = { method: 'totp', totp_code: nextCode(world, secret) }
  expect(await signsIn(() => world.send(flow, answer))).toEqual({
    flows: ONCE_AND_IN_COMMIT,
    sessions: ONCE_AND_IN_COMMIT,
  })
})

test('a code reads its flow once, and once more in the commit', async () => {
  const email = 'cleo@example.com'
  await world.register(email)
  const flow = await world.start('login')
  const ask = { method: 'code', identifier: email }
  expect(await signsIn(() => world.send(flow, ask))).toEqual({
    flows: ONCE_AND_IN_COMMIT,
    sessions: 0,
  })
  const bring = { method: 'code', code: world.codeFor(email) }
  expect(await signsIn(() => world.send(flow, bring))).toEqual({
    flows: ONCE_AND_IN_COMMIT,
    sessions: 0,
  })
})

test('a callback of a provider reads its flow once, and once more in the commit', async () => {
  const flow = await world.begin('login')
  const arrival = await world.visit(await world.leave(flow, 'google'), 'google', newAccount())
  expect(await signsIn(() => world.arrive('google', arrival), 303)).toEqual({
    flows: ONCE_AND_IN_COMMIT,
    sessions: 0,
  })
})

test('settings read their flow and their session once, and once more in the commit', async () => {
  const { session_token: token } = await world.register('dora@example.com')
  const flow = await world.settings(token)
  const form = { method: 'password', password: 'seven green bicycles' }
  expect(await signsIn(() => world.send(flow, form, withToken(token)))).toEqual({
    flows: ONCE_AND_IN_COMMIT,
    sessions: ONCE_AND_IN_COMMIT,
  })
})
