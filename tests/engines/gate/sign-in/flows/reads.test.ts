import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { ADA, BOB, enrolled, halfway, NEW_PASSWORD, nextCode, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { PASSWORD } from './fixture.ts'
import { useSocial } from './social-fixture.ts'

/** Once before the work waits for its turn, and once in the commit, which may come much later. */
const TWICE = 2
const FLOW = { flows: TWICE, sessions: 0 }
const FLOW_AND_SESSION = { flows: TWICE, sessions: TWICE }

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

test('Passwords, codes and callbacks read their flow twice, and no session', async () => {
  await social.register(ADA)
  const typed = { identifier: ADA, password: PASSWORD }
  const flow = await social.start('login')
  expect(await reads.during(() => social.send(flow, typed))).toEqual(FLOW)
  const browser = newBrowser(social.app)
  const page = await browser.visit((await social.begin('login')).hosted_url)
  const press = () => browser.press(page, ['method', 'password'], typed)
  expect(await reads.during(press, 303)).toEqual(FLOW)

  social.clock.jump(30_000)
  const byCode = await social.start('login')
  const ask = { method: 'code', identifier: ADA }
  expect(await reads.during(() => social.send(byCode, ask))).toEqual(FLOW)
  const enter = { method: 'code', code: social.codeFor(ADA) }
  expect(await reads.during(() => social.send(byCode, enter))).toEqual(FLOW)
  const arrival = await social.arrivalFrom(await social.begin('login'), 'google')
  expect(await reads.during(() => social.callback('google', arrival), 303)).toEqual(FLOW)
})

test('Second factors and settings read their flow and their session twice', async () => {
  const { secret, token } = await enrolled(social, BOB)
  const { flow } = await halfway(social, BOB)
  const form = { method: 'totp', totp_code: nextCode(social, secret) }
  expect(await reads.during(() => social.send(flow, form))).toEqual(FLOW_AND_SESSION)
  const settings = await social.settings(token)
  const change = { method: 'password', password: NEW_PASSWORD }
  const send = () => social.send(settings, change, withToken(token))
  expect(await reads.during(send)).toEqual(FLOW_AND_SESSION)
})
