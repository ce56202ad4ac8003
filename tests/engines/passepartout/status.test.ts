import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
import type { Answer } from '../../support/app.ts'
import {
  bootPassepartout,
  CLIENT,
  expectRefused,
  HOUR,
  LIFETIME,
  MINUTE,
  SECOND,
  STATUS,
  statusOf,
  usePassepartout,
  wrongNumber,
} from './fixture.ts'

const PENDING = { status: 'pending' }

const fixture = await usePassepartout()
const { actor, app, ask, bots, botApi, choose, newTenant, open, speak, tap } = fixture
const acme = await newTenant()

describe('a sign-in', () => {
  test('is pending until its question is answered', async () => {
    const { login } = await ask(acme, botApi.person())
    expect(await login.status()).toMatchObject({ status: 200, body: PENDING })
  })

  test('is completed once approved, with the same token and user in each answer', async () => {
    const ada = botApi.person()
    const { login, question } = await ask(acme, ada)
    await tap(ada, question, 'Approve')
    const { body } = await login.status()
    expect(body).toEqual({
      status: 'completed',
      access_token: expect.stringMatching(/^ppt_live_[0-9A-Za-z]{43}$/),
      user: expect.objectContaining({ platform_user_id: `${ada.id}` }),
    })
    const many = await Promise.all(
      Array.from({ length: 20 }, () => acme.live.status(login.nonce, 25)),
    )
    for (const each of many) expect(each.body).toEqual(body)
  })

  test('ends with its nonce, completed or not', async () => {
    await using own = await bootPassepartout()
    const tenant = await own.newTenant()
    const pending = await tenant.test.start()
    const completed = await own.signInToSandbox(tenant)
    await own.clock.advance(LIFETIME - 1)
    expect((await pending.status()).body).toEqual(PENDING)
    expect((await completed.status()).body).toMatchObject({ status: 'completed' })
    await own.clock.advance(1)
    for (const each of [pending, completed])
      expectRefused(await each.status(), 404, 'nonce_expired', 'expired')
    expect(await own.choose(pending, 'approve')).toMatchObject({ status: 409 })
    expect(own.rows('tokens')).toHaveLength(1)
  })

  test('approved in the last moment can be collected for a minute', async () => {
    await using own = await bootPassepartout()
    const { test: api } = await own.newTenant()
    const login = await api.start()
    await own.clock.advance(LIFETIME - 1)
    expect(await own.choose(login, 'approve')).toMatchObject({ status: 303 })
    const { body } = await login.status()
    expect(body).toMatchObject({ status: 'completed' })
    await own.clock.advance(MINUTE - 1)
    expect((await login.status()).body).toEqual(body)
    await own.clock.advance(1)
    expectRefused(await login.status(), 404, 'nonce_expired')
  })

  test('goes on although the tenant is suspended', async () => {
    const tenant = await newTenant()
    const ada = botApi.person()
    const login = await tenant.live.start()
    await app.platform.tenants.suspend(actor, tenant.id, 'billing')
    await tap(ada, await open(tenant.bot, ada, login), 'Approve')
    const { access_token } = (await login.status()).body
    expect(await tenant.live.introspect(access_token)).toMatchObject({ active: true })
    expect((await tenant.live.revoke(access_token)).status).toBe(204)
  })

  test('is shown as it is although its bot is disabled', async () => {
    const tenant = await newTenant()
    const pending = await tenant.live.start()
    const completed = await fixture.signInToSandbox(tenant)
    for (const environment of ['live', 'test'] as const)
      await bots.disable(actor, { tenantId: tenant.id, environment })
    expect((await pending.status()).body).toEqual(PENDING)
    expect((await completed.status()).body).toMatchObject({ access_token: completed.token })
  })

  test('that was denied stays denied after its nonce', async () => {
    await using own = await bootPassepartout()
    const { test: api } = await own.newTenant()
    const login = await api.start()
    await own.choose(login, 'deny')
    expectRefused(await login.status(), 404, 'login_denied', 'denied')
    await own.clock.advance(LIFETIME + HOUR)
    expectRefused(await login.status(), 404, 'login_denied', 'denied')
  })

  test('is known by its nonce to all keys of its tenant and environment', async () => {
    const { nonce, payload, attemptId } = await acme.live.start()
    const second = speak((await acme.key('passepartout', 'live')).key)
    expect((await second.status(nonce)).body).toEqual(PENDING)
    for (const wrong of [
      ...['A'.repeat(43), 'x', 'x'.repeat(200), '😀'.repeat(100), 'a\0b', "' or 1=1 --", ' '],
      ...[` ${nonce}`, `${nonce} `, `${nonce}=`, `${nonce}\n`, nonce.slice(0, -1)],
      ...[payload, attemptId, '__proto__'],
    ])
      for (const wait of [undefined, 0, 25])
        expectRefused(await acme.live.status(wrong, wait), 404, 'not_found', 'sign-in not found')
  })

  test('is unknown to other tenants and environments in all its states', async () => {
    await using own = await bootPassepartout()
    const [mine, other] = [await own.newTenant(), await own.newTenant('Other')]
    const denied = await mine.test.start()
    await own.choose(denied, 'deny')
    const logins = [await mine.test.start(), await own.signInToSandbox(mine), denied]
    for (const ms of [0, LIFETIME]) {
      await own.clock.advance(ms)
      for (const { nonce } of logins)
        for (const api of [mine.live, other.live, other.test])
          expectRefused(await api.status(nonce, 25), 404, 'not_found', 'sign-in not found')
    }
  })
})

test.each([
  ...['', '?nonce', '?nonce=', '?Nonce=x', `?nonce=${'x'.repeat(201)}`, '?nonce[]=x'].map(
    (query) => ['nonce: ', query] as const,
  ),
  ...['', '-1', '26', '1.5', 'x', '5s', 'NaN', '1e400', 'true', '1e1', '0x10', '%205', '+5'].map(
    (wait) => ['wait: ', `?nonce=${'A'.repeat(43)}&wait=${wait}`] as const,
  ),
])('%sis wrong in the query %j', async (words, query) => {
  expectRefused(await acme.live.get(STATUS + query), 400, 'invalid_request', words)
})

describe('with `wait` the answer is held', () => {
  /** A request, and whether it was answered. */
  function hold(asked: Promise<Answer>) {
    const held = { asked, isOver: false }
    void asked.then(() => {
      held.isOver = true
    })
    return held
  }

  const eventLoop = async () => {
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
  }

  test.each(['Approve', 'Deny', 'a wrong number'])('until %s, and no longer', async (button) => {
    const ada = botApi.person()
    const { login, question } = await ask(acme, ada, button === 'Approve' ? undefined : CLIENT)
    const held = acme.live.status(login.nonce, 25)
    await fixture.waitForHeld(1)
    const before = fixture.clock.monotonic()
    ada.tap(question, button === 'a wrong number' ? wrongNumber(question, login) : button)
    if (button === 'Approve') expect((await held).body).toMatchObject({ status: 'completed' })
    else expectRefused(await held, 404, 'login_denied')
    expect(fixture.clock.monotonic()).toBe(before)
    await fixture.waitForHeld(0)
  })

  test('for as long as was asked, or until the nonce expires', async () => {
    await using own = await bootPassepartout()
    const { live } = await own.newTenant()
    const { nonce } = await live.start()
    for (const [wait, heldFor] of [
      [1, 1],
      [25, 25],
      [25, 10],
    ] as const) {
      if (heldFor === 10) await own.clock.advance(LIFETIME - 36 * SECOND)
      const held = hold(live.status(nonce, wait))
      await own.waitForHeld(1)
      await own.clock.advance(heldFor * SECOND - 1)
      await eventLoop()
      expect(held.isOver).toBe(false)
      await own.clock.advance(1)
      if (heldFor === 10) expectRefused(await held.asked, 404, 'nonce_expired')
      else expect((await held.asked).body).toEqual(PENDING)
    }
  })

  test('not with 0, nor for a sign-in that has ended', async () => {
    const login = await acme.test.start()
    expect((await acme.test.status(login.nonce, 0)).body).toEqual(PENDING)
    await choose(login, 'deny')
    expectRefused(await acme.test.status(login.nonce, 25), 404, 'login_denied')
  })

  test('until the client goes away', async () => {
    const { nonce } = await acme.live.start()
    const gone = new AbortController()
    const held = acme.live.get(statusOf(nonce, 25), gone.signal)
    await fixture.waitForHeld(1)
    gone.abort()
    expect((await held).body).toEqual(PENDING)
    expect(await fixture.metric('logins_held')).toBe(0)
  })

  test('until its connection is cut', async () => {
    const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
    const login = await acme.test.start()
    const fetchStatus = (signal?: AbortSignal) =>
      fetch(listener.url + statusOf(login.nonce, 25), {
        headers: { authorization: `Bearer ${acme.testKey}` },
        signal,
      })
    const gone = new AbortController()
    const cut = fetchStatus(gone.signal).catch(() => 'cut')
    const held = fetchStatus()
    await fixture.waitForHeld(2)
    gone.abort()
    expect(await cut).toBe('cut')
    await fixture.waitForHeld(1)
    await choose(login, 'approve')
    expect(await (await held).json()).toMatchObject({ status: 'completed' })
    await listener.stop()
  })

  test('for all who ask about one sign-in, and for no other; opening it answers no one', async () => {
    const [one, two] = [await acme.test.start(), await acme.test.start()]
    const asked = Array.from({ length: 250 }, () => acme.test.status(one.nonce, 25))
    const other = hold(acme.test.status(two.nonce, 25))
    await fixture.waitForHeld(251)
    for (const login of [one, two])
      expect(await choose(login, 'start')).toMatchObject({ status: 303 })
    await eventLoop()
    expect(await fixture.metric('logins_held')).toBe(251)
    await choose(one, 'approve')
    const tokens = (await Promise.all(asked)).map(({ body }) => body.access_token)
    expect([...new Set(tokens)]).toEqual([expect.stringMatching(/^ppt_test_/)])
    await fixture.waitForHeld(1)
    expect(other.isOver).toBe(false)
    await choose(two, 'deny')
    expectRefused(await other.asked, 404, 'login_denied')
  })

  test('until half a second after another process has ended the sign-in', async () => {
    await using own = await bootPassepartout()
    const { live } = await own.newTenant()
    const { nonce } = await live.start()
    const held = live.status(nonce, 25)
    await own.waitForHeld(1)
    await own.clock.advance(SECOND)
    using elsewhere = new Database(own.app.db.client.filename)
    elsewhere.run(`update passepartout_attempts set state = 'denied'`)
    await own.clock.advance(500)
    expectRefused(await held, 404, 'login_denied')
  })

  test('until the server stops, which holds none any more', async () => {
    await using own = await bootPassepartout()
    const { live } = await own.newTenant()
    const started = await Promise.all(Array.from({ length: 150 }, () => live.start()))
    const asked = started.flatMap(({ nonce }) => [live.status(nonce, 25), live.status(nonce, 25)])
    await own.waitForHeld(300)
    await own.app.passepartout.stop(0)
    for (const { status, body } of await Promise.all(asked))
      expect({ status, body }).toEqual({ status: 200, body: PENDING })
    expect((await live.status(started[0]?.nonce ?? '', 25)).body).toEqual(PENDING)
    expect(await own.metric('logins_held')).toBe(0)
  })
})
