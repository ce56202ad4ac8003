import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { createWaiting } from '../../../src/engines/passepartout/waiting.ts'
import { serve } from '../../../src/http/serve.ts'
import type { Answer } from '../../support/app.ts'
import { createTestClock } from '../../support/clock.ts'
import {
  bootPassepartout,
  expectRefused,
  LIFETIME,
  MINUTE,
  SECOND,
  STATUS,
  statusOf,
  usePassepartout,
} from './fixture.ts'

const PENDING = { status: 'pending' }

const fixture = await usePassepartout()
const { actor, app, ask, botApi, bots, choose, clock, newTenant, tap, waitForHeld } = fixture
const acme = await newTenant()

test('A sign-in is pending, then completed with the same token and user in each answer, for its tenant', async () => {
  const ada = botApi.person()
  const other = await fixture.newTenantWithoutBots('Other')
  const { login, question } = await ask(acme, ada)
  const { nonce, payload, attemptId } = login
  expect(await login.status()).toMatchObject({ status: 200, body: PENDING })
  await tap(ada, question, 'Approve')
  const { body } = await login.status()
  expect(body).toEqual({
    status: 'completed',
    access_token: expect.stringMatching(/^ppt_live_[0-9A-Za-z]{43}$/),
    user: expect.objectContaining({ platform_user_id: `${ada.id}` }),
  })
  const second = fixture.speak((await acme.key('passepartout', 'live')).key)
  const many = Array.from({ length: 9 }, () => second.status(nonce, 25))
  for (const each of await Promise.all(many)) expect(each.body).toEqual(body)

  const unknown = async (answer: Promise<Answer>) =>
    expectRefused(await answer, 404, 'not_found', 'sign-in not found')
  for (const api of [acme.test, other.live, other.test]) await unknown(api.status(nonce, 25))
  for (const wrong of [
    ...['A'.repeat(43), 'x'.repeat(200), '😀'.repeat(100), 'a\0b', "' or 1=1 --", ' '],
    ...[` ${nonce}`, `${nonce}=`, nonce.slice(0, -1), payload, attemptId],
  ])
    for (const wait of [undefined, 25]) await unknown(acme.live.status(wrong, wait))
})

test('A sign-in ends with its nonce, completed or not; one that was denied stays denied', async () => {
  const tenant = await newTenant()
  const [pending, denied] = [await tenant.test.start(), await tenant.test.start()]
  const late = await tenant.test.start()
  const completed = await fixture.signInToSandbox(tenant)
  await choose(denied, 'deny')
  expectRefused(await tenant.test.status(denied.nonce, 25), 404, 'login_denied')
  clock.jump(LIFETIME - 1)
  expect((await pending.status()).body).toEqual(PENDING)
  expect((await completed.status()).body).toMatchObject({ status: 'completed' })
  await choose(late, 'approve')
  const collected = (await late.status()).body
  clock.jump(1)
  for (const each of [pending, completed])
    expectRefused(await each.status(), 404, 'nonce_expired', 'expired')
  expectRefused(await denied.status(), 404, 'login_denied', 'denied')
  for (const { nonce } of [pending, completed, denied])
    expectRefused(await acme.test.status(nonce, 25), 404, 'not_found')
  expect(await choose(pending, 'approve')).toMatchObject({ status: 409 })
  expect(fixture.rowsOf(tenant, 'tokens')).toHaveLength(2)

  // One that was approved in the last moment can be collected for a minute.
  clock.jump(MINUTE - 2)
  expect((await late.status()).body).toEqual(collected)
  clock.jump(1)
  expectRefused(await late.status(), 404, 'nonce_expired')
})

test('A sign-in goes on although the tenant is suspended, and is shown although its bot is disabled', async () => {
  const tenant = await newTenant()
  const ada = botApi.person()
  const { login, question } = await ask(tenant, ada)
  await app.platform.tenants.suspend(actor, tenant.id, 'billing')
  await tap(ada, question, 'Approve')
  await bots.disable(actor, tenant.owner)
  await fixture.expectSignedIn(login, ada)
})

test('The query needs a nonce, and a wait of 0 to 25 seconds', async () => {
  const waits = ['', '-1', '26', '1.5', 'x', 'NaN', '1e1', '0x10', '%205', '+5']
  const nonces = ['', '?nonce=', `?nonce=${'x'.repeat(201)}`, '?nonce[]=x']
  for (const [words, query] of [
    ...nonces.map((query) => ['nonce: ', query] as const),
    ...waits.map((wait) => ['wait: ', `?nonce=${'A'.repeat(43)}&wait=${wait}`] as const),
  ])
    expectRefused(await acme.live.get(STATUS + query), 400, 'invalid_request', words)
})

describe('With `wait` the answer is held', () => {
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

  test.each(['Approve', 'Deny'])('until %s, and no longer', async (button) => {
    const ada = botApi.person()
    const { login, question } = await ask(acme, ada)
    const held = acme.live.status(login.nonce, 25)
    await waitForHeld(1)
    const before = clock.monotonic()
    ada.tap(question, button)
    if (button === 'Approve') expect((await held).body).toMatchObject({ status: 'completed' })
    else expectRefused(await held, 404, 'login_denied')
    expect(clock.monotonic()).toBe(before)
    await waitForHeld(0)
  })

  test.each([
    [1, 1],
    [25, 25],
    [25, 10],
  ])('for %d seconds, or until the nonce expires: %d', async (wait, heldFor) => {
    const { nonce } = await acme.test.start()
    expect((await acme.test.status(nonce, 0)).body).toEqual(PENDING)
    if (heldFor < wait) clock.jump(LIFETIME - heldFor * SECOND)
    const held = hold(acme.test.status(nonce, wait))
    await waitForHeld(1)
    await clock.advance(heldFor * SECOND - 1)
    await eventLoop()
    expect(held.isOver).toBe(false)
    await clock.advance(1)
    if (heldFor < wait) expectRefused(await held.asked, 404, 'nonce_expired')
    else expect((await held.asked).body).toEqual(PENDING)
  })

  test('until the client goes away or its connection is cut', async () => {
    const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
    const login = await acme.test.start()
    const fetchStatus = (signal?: AbortSignal) =>
      fetch(listener.url + statusOf(login.nonce, 25), {
        headers: { authorization: `Bearer ${acme.testKey}` },
        signal,
      })
    const gone = new AbortController()
    const cut = fetchStatus(gone.signal).catch(() => 'cut')
    const left = acme.test.get(statusOf(login.nonce, 25), gone.signal)
    const held = fetchStatus()
    await waitForHeld(3)
    gone.abort()
    expect(await cut).toBe('cut')
    expect((await left).body).toEqual(PENDING)
    await waitForHeld(1)
    await choose(login, 'approve')
    expect(await (await held).json()).toMatchObject({ status: 'completed' })
    await listener.stop()
  })

  test('for all who ask about one sign-in, and for no other; opening it answers none', async () => {
    const [one, two] = [await acme.test.start(), await acme.test.start()]
    const asked = Array.from({ length: 20 }, () => acme.test.status(one.nonce, 25))
    const other = hold(acme.test.status(two.nonce, 25))
    await waitForHeld(21)
    for (const login of [one, two])
      expect(await choose(login, 'start')).toMatchObject({ status: 303 })
    await eventLoop()
    expect(await fixture.metric('logins_held')).toBe(21)
    await choose(one, 'approve')
    const tokens = (await Promise.all(asked)).map(({ body }) => body.access_token)
    expect([...new Set(tokens)]).toEqual([expect.stringMatching(/^ppt_test_/)])
    await waitForHeld(1)
    expect(other.isOver).toBe(false)
    await choose(two, 'deny')
    expectRefused(await other.asked, 404, 'login_denied')
  })

  test('until half a second after another process has ended it, or until the server stops', async () => {
    await using own = await bootPassepartout()
    const { test: api } = await own.newTenant()
    const { nonce, attemptId } = await api.start()
    const held = api.status(nonce, 25)
    await own.waitForHeld(1)
    await own.clock.advance(SECOND)
    using elsewhere = new Database(own.app.db.client.filename)
    elsewhere.run(`update passepartout_attempts set state = 'denied' where id = ?`, [attemptId])
    await own.clock.advance(500)
    expectRefused(await held, 404, 'login_denied')
    const started = await Promise.all(Array.from({ length: 20 }, () => api.start()))
    const asked = started.map((login) => api.status(login.nonce, 25))
    await own.waitForHeld(20)
    await own.app.passepartout.stop(0)
    for (const { body } of await Promise.all(asked)) expect(body).toEqual(PENDING)
    expect((await api.status(started[0]?.nonce ?? '', 25)).body).toEqual(PENDING)
    expect(await own.metric('logins_held')).toBe(0)
  })
})

test('A tenant gets half of the room that others leave; news and closed connections free it', async () => {
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const waiting = createWaiting({ clock, db: { version: () => '' } as never })
  const wait = (tenantId: string, attemptId: string, signal = new AbortController().signal) =>
    waiting.news({ tenantId, attemptId }, 3_600_000, signal)
  /** As many requests of a tenant as there is room for. */
  function fill(tenantId: string) {
    const held: Promise<void>[] = []
    while (waiting.hasRoom(tenantId)) held.push(wait(tenantId, `${tenantId} ${held.length}`))
    return held
  }
  const held = ['a', 'b', 'c'].map(fill)
  expect(held.map(({ length }) => length)).toEqual([5000, 2500, 1250])
  expect(waiting.hasRoom('d')).toBe(true)
  waiting.tell('c 7')
  expect(waiting.hasRoom('c')).toBe(true)
  const leaving = new AbortController()
  const last = wait('c', 'x', leaving.signal)
  expect(waiting.hasRoom('c')).toBe(false)
  leaving.abort()
  await last
  expect(waiting.hasRoom('c')).toBe(true)
  waiting.close()
  await Promise.all(held.flat())
  expect([waiting.count(), waiting.hasRoom('d')]).toEqual([0, false])
})
