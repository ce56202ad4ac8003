import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { newAccount } from '../../../../support/social/index.ts'
import { ADA, enrolled, halfway, NEW_PASSWORD, nextCode, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { PASSWORD } from './fixture.ts'
import { useSocial } from './social-fixture.ts'

/** Once before the work waits for its turn, and once in the commit, which may come much later. */
const TWICE = 2

/** Starts before the app, because it counts the reads of statements prepared from now on. */
const reads = watchReads()
const social = await useSocial()
afterAll(() => reads[Symbol.dispose]())
await social.security({ passwordless_enabled: true, mfa_enabled: true })

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
    /** The reads during a request that is answered with this status. */
    async during(ask: () => Promise<{ status: number }>, status = 200) {
      counts = { flows: 0, sessions: 0 }
      expect((await ask()).status).toBe(status)
      return counts
    },
    [Symbol.dispose]: () => {
      Database.prototype.prepare = prepare
    },
  }
}

test('A password reads its flow twice, and no session', async () => {
  await social.register(ADA)
  const form = { method: 'password', identifier: ADA, password: PASSWORD }
  const flow = await social.start('login')
  const expected = { flows: TWICE, sessions: 0 }
  expect(await reads.during(() => social.send(flow, form))).toEqual(expected)

  const browser = newBrowser(social.app)
  const page = await browser.visit((await social.begin('login')).hosted_url)
  const { method: _, ...typed } = form
  const press = () => browser.press(page, ['method', 'password'], typed)
  expect(await reads.during(press, 303)).toEqual(expected)
})

test('A second factor reads its flow and its session twice', async () => {
  const email = 'bob@example.com'
  const { secret } = await enrolled(social, email)
  const { flow } = await halfway(social, email)
  const form = { method: 'totp', totp_code: nextCode(social, secret) }
  const counts = await reads.during(() => social.send(flow, form))
  expect(counts).toEqual({ flows: TWICE, sessions: TWICE })
})

test('A code reads its flow twice, when it is sent and when it is entered', async () => {
  const email = 'cleo@example.com'
  await social.register(email)
  const flow = await social.start('login')
  const ask = { method: 'code', identifier: email }
  const expected = { flows: TWICE, sessions: 0 }
  expect(await reads.during(() => social.send(flow, ask))).toEqual(expected)
  const enter = { method: 'code', code: social.codeFor(email) }
  expect(await reads.during(() => social.send(flow, enter))).toEqual(expected)
})

test('A callback of a provider reads its flow twice', async () => {
  const url = await social.authorizeUrl(await social.begin('login'), 'google')
  const arrival = await social.authorize(url, 'google', newAccount())
  const counts = await reads.during(() => social.callback('google', arrival), 303)
  expect(counts).toEqual({ flows: TWICE, sessions: 0 })
})

test('Settings read their flow and their session twice', async () => {
  const { session_token: token } = await social.register('dora@example.com')
  const flow = await social.settings(token)
  const form = { method: 'password', password: NEW_PASSWORD }
  const counts = await reads.during(() => social.send(flow, form, withToken(token)))
  expect(counts).toEqual({ flows: TWICE, sessions: TWICE })
})
