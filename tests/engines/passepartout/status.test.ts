import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
import type { Answer } from '../../support/app.ts'
import {
  bootContract,
  COLLECT,
  type Contract,
  expectRefused,
  HOUR,
  type Json,
  LIFETIME,
  type Party,
  SECOND,
  STATUS,
  statusOf,
  UUID,
} from './contract.ts'

/** One fixture for whatever does not turn its clock far. */
let fixture: Contract
let acme: Party
beforeAll(async () => {
  fixture = await bootContract()
  acme = await fixture.party()
})
afterAll(() => fixture.stop())

const PENDING = { status: 'pending' }

const numberIn = (message: { buttons: string[][] }, isMeant: (label: string) => boolean): string =>
  message.buttons.flat().find((label) => /^\d\d$/.test(label) && isMeant(label)) as string

describe('a sign-in', () => {
  test('is pending when it has started, and when its link was opened', async () => {
    const ada = fixture.botApi.person()
    const { nonce, deep_link } = await acme.live.start()
    expect(await acme.live.status(nonce)).toMatchObject({ status: 200, body: PENDING })
    await fixture.open(acme.bot, ada, deep_link)
    expect((await acme.live.status(nonce)).body).toEqual(PENDING)
  })

  test('is completed when it was approved: the same token and user at each question', async () => {
    const ada = fixture.botApi.person({ username: 'ada_l', last_name: 'L', language_code: 'de' })
    const { nonce, deep_link } = await acme.live.start()
    await fixture.answer(acme.bot, ada, deep_link, 'Bestätigen')
    const { body } = await acme.live.status(nonce)
    expect(body).toEqual({
      status: 'completed',
      access_token: expect.stringMatching(/^ppt_live_[0-9A-Za-z]{43}$/),
      user: {
        id: expect.stringMatching(UUID),
        platform: 'telegram',
        platform_user_id: `${ada.id}`,
        username: 'ada_l',
        first_name: 'Ada',
        last_name: 'L',
        language_code: 'de',
        created_at: new Date(fixture.clock.now()).toISOString(),
      },
    })
    for (let n = 0; n < 3; n++) expect((await acme.live.status(nonce)).body).toEqual(body)
    const many = await Promise.all(Array.from({ length: 20 }, () => acme.live.status(nonce, 25)))
    for (const each of many) expect(each.body).toEqual(body)
  })

  test('in the sandbox is completed with a token of its own kind', async () => {
    const { token, user } = await fixture.signInToSandbox(acme, 'konrad')
    expect(token).toMatch(/^ppt_test_[0-9A-Za-z]{43}$/)
    expect(user).toEqual({
      id: expect.stringMatching(UUID),
      platform: 'sandbox',
      platform_user_id: 'konrad',
      username: 'konrad_sandbox',
      first_name: 'Konrad',
      last_name: 'Zuse',
      language_code: 'de',
      created_at: expect.any(String),
    })
  })

  test('ends with its nonce, completed or not', async () => {
    await using own = await bootContract()
    const { test: api } = await own.party()
    const open = await api.start()
    const { nonce } = await own.signInToSandbox({ test: api })
    await own.clock.advance(LIFETIME - 1)
    expect((await api.status(open.nonce)).body).toEqual(PENDING)
    expect((await api.status(nonce)).body).toMatchObject({ status: 'completed' })
    await own.clock.advance(1)
    for (const each of [open.nonce, nonce])
      expectRefused(await api.status(each), 404, 'nonce_expired', 'expired')
  })

  test('that is approved in the last moment can be collected for a minute', async () => {
    await using own = await bootContract()
    const { test: api } = await own.party()
    const { nonce, deep_link } = await api.start()
    await own.clock.advance(LIFETIME - 1)
    expect(await own.chooseInSandbox(deep_link, 'approve')).toMatchObject({ status: 303 })
    const { body } = await api.status(nonce)
    expect(body).toMatchObject({ status: 'completed' })
    await own.clock.advance(COLLECT - 1)
    expect((await api.status(nonce)).body).toEqual(body)
    await own.clock.advance(1)
    expectRefused(await api.status(nonce), 404, 'nonce_expired')
  })

  test('cannot be approved once it has expired', async () => {
    await using own = await bootContract()
    const { test: api } = await own.party()
    const { nonce, deep_link } = await api.start()
    await own.clock.advance(LIFETIME)
    expect(await own.chooseInSandbox(deep_link, 'approve')).toMatchObject({ status: 409 })
    expectRefused(await api.status(nonce), 404, 'nonce_expired')
    expect(own.app.db.client.query('select * from passepartout_tokens').all()).toEqual([])
  })

  test('of a tenant in arrears can still be asked about, and collected', async () => {
    const other = await fixture.party('In arrears')
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { nonce, deep_link } = await other.live.start()
    await fixture.app.platform.tenants.suspend(fixture.actor, other.id, 'billing')
    expect((await other.live.status(nonce)).body).toEqual(PENDING)
    await fixture.answer(other.bot, ada, deep_link, 'Approve')
    const { body } = await other.live.status(nonce)
    expect(body).toMatchObject({ status: 'completed' })
    expect(await other.live.introspect(body.access_token)).toMatchObject({ active: true })
    expect((await other.live.revoke(body.access_token)).status).toBe(204)
  })

  test('whose bot is disabled meanwhile is told as it stands', async () => {
    const other = await fixture.party('Fickle')
    const { nonce } = await other.live.start()
    const completed = await fixture.signInToSandbox(other)
    for (const environment of ['live', 'test'] as const)
      await fixture.app.passepartout.bots.disable(fixture.actor, {
        tenantId: other.id,
        environment,
      })
    expect((await other.live.status(nonce)).body).toEqual(PENDING)
    expect((await other.test.status(completed.nonce)).body).toMatchObject({
      access_token: completed.token,
    })
  })

  test('is known to every key of its tenant and environment', async () => {
    const { nonce } = await acme.live.start()
    const second = fixture.speak((await acme.key('passepartout', 'live')).key)
    expect((await second.status(nonce)).body).toEqual(PENDING)
  })
})

describe('404', () => {
  test('login_denied where the person has denied, and it stays so', async () => {
    await using own = await bootContract()
    const { live, bot } = await own.party()
    const { nonce, deep_link } = await live.start()
    await own.answer(bot, own.botApi.person({ language_code: 'en' }), deep_link, 'Deny')
    const check = async () => expectRefused(await live.status(nonce), 404, 'login_denied', 'denied')
    await check()
    await own.clock.advance(LIFETIME + HOUR)
    await check()
  })

  test('login_denied where the person has tapped a number that was not shown', async () => {
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { nonce, deep_link, match_code } = await acme.live.start({ label: 'Shop' })
    const question = await fixture.open(acme.bot, ada, deep_link)
    const wrong = numberIn(question, (label) => label !== match_code)
    await fixture.botApi.waitForAnswer(ada.tap(question, wrong))
    expectRefused(await acme.live.status(nonce), 404, 'login_denied')
  })

  test.each([
    ['that nobody was given', 'A'.repeat(43)],
    ['of one character', 'x'],
    ['of 200 characters', 'x'.repeat(200)],
    ['of 200 characters beyond the first plane', '😀'.repeat(100)],
    ['with NUL', 'a\u0000b'],
    ['of SQL', "' or 1=1 --"],
    ['of JavaScript', '__proto__'],
    ['of space', ' '],
  ])('not_found to a nonce %s', async (_, nonce) => {
    for (const api of [acme.live, acme.test])
      for (const wait of [undefined, 0, 25])
        expectRefused(await api.status(nonce, wait), 404, 'not_found', 'sign-in not found')
  })

  test('not_found to a nonce with anything before or behind it', async () => {
    const { nonce } = await acme.live.start()
    for (const each of [` ${nonce}`, `${nonce} `, `${nonce}=`, `${nonce}\n`, nonce.slice(0, -1)])
      expectRefused(await acme.live.status(each), 404, 'not_found')
  })

  test('not_found to the payload of the link, and to the id of the attempt', async () => {
    const { deep_link } = await acme.live.start()
    const { id } = fixture.app.db.client
      .query('select id from passepartout_attempts order by seq desc limit 1')
      .get() as { id: string }
    for (const each of [deep_link.slice(-43), id])
      expectRefused(await acme.live.status(each), 404, 'not_found')
  })

  test('not_found to another tenant and in the other environment, however it stands', async () => {
    await using own = await bootContract()
    const [mine, other] = [await own.party(), await own.party('Other')]
    const pending = (await mine.test.start()).nonce
    const { nonce: completed } = await own.signInToSandbox(mine)
    const denied = await mine.test.start()
    await own.chooseInSandbox(denied.deep_link, 'deny')
    const check = async () => {
      for (const nonce of [pending, completed, denied.nonce])
        for (const api of [mine.live, other.live, other.test])
          expectRefused(await api.status(nonce, 25), 404, 'not_found', 'sign-in not found')
    }
    await check()
    await own.clock.advance(LIFETIME)
    await check()
  })
})

describe('400', () => {
  const NONCE = 'nonce: '
  const WAIT = 'wait: must be a whole number of 0 to 25'
  const known = `nonce=${'A'.repeat(43)}`

  test.each([
    ['', NONCE],
    ['?', NONCE],
    ['?nonce', NONCE],
    ['?nonce=', NONCE],
    ['?Nonce=x', NONCE],
    [`?nonce=${'x'.repeat(201)}`, NONCE],
    ['?nonce[]=x', NONCE],
    [`?${known}&wait=`, WAIT],
    [`?${known}&wait=-1`, WAIT],
    [`?${known}&wait=26`, WAIT],
    [`?${known}&wait=1.5`, WAIT],
    [`?${known}&wait=x`, WAIT],
    [`?${known}&wait=5s`, WAIT],
    [`?${known}&wait=NaN`, WAIT],
    [`?${known}&wait=Infinity`, WAIT],
    [`?${known}&wait=1e400`, WAIT],
    [`?${known}&wait=true`, WAIT],
    [`?${known}&wait=null`, WAIT],
    [`?${known}&wait=1e1`, WAIT],
    [`?${known}&wait=0x10`, WAIT],
    [`?${known}&wait=%205`, WAIT],
    [`?${known}&wait=+5`, WAIT],
  ])('to the query %j', async (query, words) => {
    expectRefused(await acme.live.get(STATUS + query), 400, 'invalid_request', words)
  })
})

describe('401 and 403 come before whatever is asked', () => {
  const QUERIES = ['', '?nonce=', `?nonce=${'x'.repeat(201)}&wait=99`, '?nonce=x']

  test('401 without a good key, and to an access token', async () => {
    const { token } = await fixture.signInToSandbox(acme)
    const credentials = [undefined, 'Bearer', 'Bearer x', `Bearer ${token}`, 'Basic x']
    for (const authorization of credentials)
      for (const query of QUERIES)
        expectRefused(
          await fixture.raw(STATUS + query, {
            headers: { ...(authorization && { authorization }) },
          }),
          401,
          'unauthenticated',
        )
  })

  test('403 to keys of other engines, and to one without the scope', async () => {
    const keys = await Promise.all([
      acme.key('gate', 'live'),
      acme.key('relay', 'test'),
      acme.key('clockwork'),
      acme.key('passepartout', 'live', ['reports:read']),
    ])
    for (const { key } of keys)
      for (const query of QUERIES)
        expectRefused(await fixture.speak(key).get(STATUS + query), 403, 'forbidden')
  })
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s is not possible: 405', async (method) => {
  const { status, body, headers } = await fixture.app.raw(statusOf('x'), { method })
  expect(status).toBe(405)
  expect(headers.get('allow')).toBe('GET')
  expect(body.error).toMatchObject({ code: 'method_not_allowed' })
})

describe('with `wait` the answer is held', () => {
  /** What is asked, and whether it was answered. */
  function hold(asked: Promise<Answer>) {
    const held = { asked, isOver: false }
    void asked.then(() => {
      held.isOver = true
    })
    return held
  }

  /** A turn of everything that goes on in this process. */
  const breathe = async () => {
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
  }

  test('until the sign-in is approved, and then not a moment longer', async () => {
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { nonce, deep_link } = await acme.live.start()
    const question = await fixture.open(acme.bot, ada, deep_link)
    const held = hold(acme.live.status(nonce, 25))
    await fixture.waitForHeld(1)
    const before = fixture.clock.monotonic()
    ada.tap(question, 'Approve')
    expect((await held.asked).body).toMatchObject({ status: 'completed' })
    expect(fixture.clock.monotonic()).toBe(before)
    await fixture.waitForHeld(0)
  })

  test.each(['Deny', 'a wrong number'])('until it is ended by %s', async (choice) => {
    const ada = fixture.botApi.person({ language_code: 'en' })
    const { nonce, deep_link, match_code } = await acme.live.start({ label: 'Shop' })
    const question = await fixture.open(acme.bot, ada, deep_link)
    const held = hold(acme.live.status(nonce, 25))
    await fixture.waitForHeld(1)
    const label = choice === 'Deny' ? choice : numberIn(question, (each) => each !== match_code)
    ada.tap(question, label)
    expectRefused(await held.asked, 404, 'login_denied')
  })

  test('for as long as was asked, and then it is pending', async () => {
    await using own = await bootContract()
    const { live } = await own.party()
    const { nonce } = await live.start()
    for (const wait of [1, 25]) {
      const held = hold(live.status(nonce, wait))
      await own.waitForHeld(1)
      await own.clock.advance(wait * SECOND - 1)
      await breathe()
      expect(held.isOver).toBe(false)
      await own.clock.advance(1)
      expect((await held.asked).body).toEqual(PENDING)
    }
  })

  test('until the nonce expires, though longer was asked', async () => {
    await using own = await bootContract()
    const { live } = await own.party()
    const { nonce } = await live.start()
    await own.clock.advance(LIFETIME - 10 * SECOND)
    const held = hold(live.status(nonce, 25))
    await own.waitForHeld(1)
    await own.clock.advance(10 * SECOND - 1)
    await breathe()
    expect(held.isOver).toBe(false)
    await own.clock.advance(1)
    expectRefused(await held.asked, 404, 'nonce_expired')
  })

  test('not with 0, not once it has ended, and not where there is none', async () => {
    const { nonce, deep_link } = await acme.test.start()
    expect((await acme.test.status(nonce, 0)).body).toEqual(PENDING)
    await fixture.chooseInSandbox(deep_link, 'deny')
    expectRefused(await acme.test.status(nonce, 25), 404, 'login_denied')
    expectRefused(await acme.test.status('x', 25), 404, 'not_found')
  })

  test('not beyond the moment at which whoever asked goes away', async () => {
    const { nonce } = await acme.live.start()
    const gone = new AbortController()
    const held = acme.live.get(statusOf(nonce, 25), gone.signal)
    await fixture.waitForHeld(1)
    gone.abort()
    expect((await held).body).toEqual(PENDING)
    expect(await fixture.metric('logins_held')).toBe(0)
  })

  test('over a connection, which counts as gone when it is cut', async () => {
    await using own = await bootContract()
    const { live, liveKey } = await own.party()
    const listener = serve(own.app.app, { host: '127.0.0.1', port: 0 }, own.app.platform.log)
    try {
      const { nonce } = await live.start()
      const ask = (signal: AbortSignal) =>
        fetch(listener.url + statusOf(nonce, 25), {
          headers: { authorization: `Bearer ${liveKey}` },
          signal,
        })
      const [gone, staying] = [new AbortController(), new AbortController()]
      const cut = ask(gone.signal).catch(() => 'cut')
      const held = ask(staying.signal)
      await own.waitForHeld(2)
      gone.abort()
      expect(await cut).toBe('cut')
      await own.waitForHeld(1)
      await own.clock.advance(25 * SECOND)
      expect(await (await held).json()).toEqual(PENDING)
    } finally {
      await listener.stop()
    }
  })

  test('and everybody who asks about one sign-in is answered, others are not', async () => {
    const [one, two] = [await acme.test.start(), await acme.test.start()]
    const asked = Array.from({ length: 250 }, () => acme.test.status(one.nonce, 25))
    const other = hold(acme.test.status(two.nonce, 25))
    await fixture.waitForHeld(251)
    await fixture.chooseInSandbox(one.deep_link, 'approve')
    const answers = await Promise.all(asked)
    const tokens = new Set(answers.map(({ body }) => body.access_token))
    expect([...tokens]).toEqual([expect.stringMatching(/^ppt_test_/)])
    await fixture.waitForHeld(1)
    expect(other.isOver).toBe(false)
    await fixture.chooseInSandbox(two.deep_link, 'deny')
    expectRefused(await other.asked, 404, 'login_denied')
  })

  test('and that one opens the link answers nobody', async () => {
    const { nonce, deep_link } = await acme.test.start()
    const held = hold(acme.test.status(nonce, 25))
    await fixture.waitForHeld(1)
    expect(await fixture.chooseInSandbox(deep_link, 'start')).toMatchObject({ status: 303 })
    await breathe()
    expect(held.isOver).toBe(false)
    expect(await fixture.metric('logins_held')).toBe(1)
    await fixture.chooseInSandbox(deep_link, 'approve')
    expect((await held.asked).body).toMatchObject({ status: 'completed' })
  })

  test('and meanwhile whoever else asks for anything gets it', async () => {
    await using own = await bootContract()
    const mine = await own.party()
    const { nonce, deep_link } = await mine.test.start()
    const held = hold(mine.test.status(nonce, 25))
    await own.waitForHeld(1)
    expect((await mine.test.status(nonce)).body).toEqual(PENDING)
    const { token } = await own.signInToSandbox(mine)
    expect(await mine.test.introspect(token)).toMatchObject({ active: true })
    expect((await mine.test.revoke(token)).status).toBe(204)
    await own.party('Other')
    expect(held.isOver).toBe(false)
    await own.chooseInSandbox(deep_link, 'approve')
    expect((await held.asked).body).toMatchObject({ status: 'completed' })
  })

  test('and what another process has ended is told within half a second', async () => {
    await using own = await bootContract()
    const { live } = await own.party()
    const { nonce } = await live.start()
    const held = hold(live.status(nonce, 25))
    await own.waitForHeld(1)
    await own.clock.advance(SECOND)
    using elsewhere = new Database(own.app.db.client.filename)
    elsewhere.run(`update passepartout_attempts set state = 'denied'`)
    await own.clock.advance(500)
    expectRefused(await held.asked, 404, 'login_denied')
  })

  test('and at shutdown everybody is told how it stands, and nobody is held any more', async () => {
    await using own = await bootContract()
    const { live } = await own.party()
    const started: Json[] = await Promise.all(Array.from({ length: 150 }, () => live.start()))
    const asked = started.flatMap(({ nonce }) => [live.status(nonce, 25), live.status(nonce, 25)])
    await own.waitForHeld(300)
    await own.app.passepartout.stop(0)
    for (const { status, body } of await Promise.all(asked))
      expect({ status, body }).toEqual({ status: 200, body: PENDING })
    expect((await live.status(started[0].nonce, 25)).body).toEqual(PENDING)
    expect(await own.metric('logins_held')).toBe(0)
  })
})
