import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Json, MINUTE, plain, SECOND, SESSIONS, UNKNOWN_ID } from '../../fixture.ts'
import { rowsOf, tablesWith } from '../../identities/people.ts'
import {
  bootFactors,
  enrolled,
  HOUR,
  halfway,
  NEW_PASSWORD,
  nextCode,
  RETURN_TO,
  sessionOf,
  withToken,
} from './acts.ts'
import { newBrowser, type Page } from './browser.ts'
import { type FlowFixture, flowParty, PASSWORD } from './fixture.ts'

const EXCHANGE = `${SESSIONS}/exchange`

let fixture: FlowFixture
let others: Awaited<ReturnType<typeof flowParty>>
beforeAll(async () => {
  fixture = await bootFactors()
  others = await flowParty(fixture.app)
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
beforeEach(async () => {
  email = `back-${people++}@example.com`
  // Nobody's code of the test before is still shown.
  fixture.clock.jump(MINUTE)
})

const BY_PASSWORD: [string, string] = ['method', 'password']

/** What the app finds in the address to which the browser came back. */
function broughtBack({ status, location }: Page) {
  expect(status).toBe(303)
  const { searchParams } = new URL(location)
  return { flow: searchParams.get('flow') as string, code: searchParams.get('code') as string }
}

const begin = (returnTo = RETURN_TO, kind = 'login') =>
  fixture.start(kind, { 'x-return-to': returnTo })

/** Somebody signs in on our page, and is sent back to the app. */
async function signedIn(returnTo = RETURN_TO) {
  const { identity } = await fixture.register(email)
  const { hosted_url } = await begin(returnTo)
  const page = await newBrowser(fixture.app).signIn(hosted_url, email, PASSWORD)
  return { identity, page, back: broughtBack(page) }
}

const exchange = (body: Json, api = fixture.api) => api.post(EXCHANGE, body)

async function exchanged(body: Json): Promise<Json> {
  const answer = await exchange(body)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const sessionsOf = async ({ id }: Json): Promise<Json[]> =>
  (await fixture.api.get(`/v1/gate/identities/${id}/sessions`)).body

describe('the code that a browser brings back', () => {
  test('is exchanged for the session, whose token is good', async () => {
    const { identity, back } = await signedIn()

    const body = await exchanged(back)

    const { session_token: token, session } = body
    expect(Object.keys(body).toSorted()).toEqual([
      'continue_with',
      'identity',
      'session',
      'session_token',
    ])
    expect(token).toStartWith('gat_st_')
    expect(session).toMatchObject({
      token,
      active: true,
      authenticator_assurance_level: 'aal1',
      identity: { id: identity.id },
    })
    expect(body.identity).toMatchObject({ id: identity.id, traits: { email } })
    const { token: _, ...shown } = session
    expect(await sessionOf(fixture, token)).toEqual(shown)
    expect((await sessionsOf(identity))[0]?.id).toBe(session.id)
  })

  test('is good once', async () => {
    const { identity, back } = await signedIn()
    const before = await sessionsOf(identity)
    const { session_token: token } = await exchanged(back)
    for (let n = 0; n < 2; n++) expect(await exchange(back)).toMatchObject(plain(400, 'code: '))
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    expect(await sessionsOf(identity)).toHaveLength(before.length)
  })

  test('of two who bring it at once is good for one', async () => {
    const { back } = await signedIn()
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(back)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400])
    const good = answers.find(({ status }) => status === 200)
    expect(await fixture.whoami(good?.body.session_token)).toMatchObject({ status: 200 })
  })

  test('is good for five minutes, to the millisecond', async () => {
    const first = await signedIn()
    fixture.clock.jump(5 * MINUTE - 1)
    expect(await exchange(first.back)).toMatchObject({ status: 200 })
    email = `second-${email}`
    const second = await signedIn()
    fixture.clock.jump(5 * MINUTE)
    expect(await exchange(second.back)).toMatchObject(plain(400, 'code: '))
  })

  test('is not known to another tenant: 404, and it stays good', async () => {
    const { back } = await signedIn()
    for (const body of [back, { ...back, code: 'x' }])
      expect(await exchange(body, others.api)).toMatchObject(plain(404, 'flow not found'))
    expect(await exchange(back)).toMatchObject({ status: 200 })
  })

  test('is of one flow: with another it is a wrong one', async () => {
    const { back } = await signedIn()
    email = `second-${email}`
    const { back: second } = await signedIn()
    expect(await exchange({ flow: second.flow, code: back.code })).toMatchObject(
      plain(400, 'code: '),
    )
    expect(await exchange(back)).toMatchObject({ status: 200 })
    expect(await exchange(second)).toMatchObject({ status: 200 })
  })

  test.each([
    ['empty', ''],
    ['any other', 'x'.repeat(43)],
    ['in another case', undefined],
  ])('is refused where it is %s, and the right one stays good', async (_, code) => {
    const { back } = await signedIn()
    const swapped = [...back.code]
      .map((letter) =>
        letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
      )
      .join('')
    expect(await exchange({ ...back, code: code ?? swapped })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('code') },
    })
    expect(await exchange(back)).toMatchObject({ status: 200 })
  })

  test('is none for a flow that is not over, or ended without one', async () => {
    await fixture.register(email)
    const open = await begin()
    const ended = await fixture.start('login')
    await newBrowser(fixture.app).signIn(ended.hosted_url, email, PASSWORD)
    for (const { id } of [open, ended])
      for (const code of ['', 'x', id])
        expect((await exchange({ flow: id, code })).status).toBe(400)
  })

  test('is of a flow that there is: 404 otherwise', async () => {
    const { back } = await signedIn()
    for (const flow of [UNKNOWN_ID, 'x', '', `${back.flow} `])
      expect(await exchange({ ...back, flow })).toMatchObject(plain(404, 'flow not found'))
  })

  test.each([
    ['no flow', { code: 'x' }, 'flow: '],
    ['no code', { flow: 'x' }, 'code: '],
    ['a flow that is no text', { flow: 5, code: 'x' }, 'flow: '],
    ['a code that is no text', { flow: 'x', code: {} }, 'code: '],
    ['a code that is null', { flow: 'x', code: null }, 'code: '],
    ['a list', [], 'body: '],
    ['a word', 'x', 'body: '],
  ])('is not found in a body with %s: 400', async (_, body, words) => {
    expect(await exchange(body)).toMatchObject(plain(400, words))
  })

  test('comes too late for a session that has ended', async () => {
    const { identity, back } = await signedIn()
    await fixture.api.delete(`/v1/gate/identities/${identity.id}/sessions`)
    expect(await exchange(back)).toMatchObject(
      plain(400, 'code: belongs to a session that has ended'),
    )
    expect(await sessionsOf(identity)).toEqual([])
  })

  test('comes too late for somebody who was deactivated, or deleted', async () => {
    const first = await signedIn()
    await fixture.setState(first.identity, 'inactive')
    expect((await exchange(first.back)).status).toBe(400)
    email = `second-${email}`
    const second = await signedIn()
    await fixture.api.delete(`/v1/gate/identities/${second.identity.id}`)
    expect([400, 404]).toContain((await exchange(second.back)).status)
  })

  test('is nowhere kept as it is, and the token is nowhere but in the answer', async () => {
    const { back, page } = await signedIn()
    expect(tablesWith(fixture.app, back.code)).toEqual({})
    expect(page.location).not.toContain('gat_st_')
    const { session_token: token } = await exchanged(back)
    expect(tablesWith(fixture.app, token)).toEqual({})
    expect(fixture.app.log.join('')).not.toContain(back.code)
    expect(fixture.app.log.join('')).not.toContain(token)
  })

  test('makes a token of its own: the one that the session began with is dead', async () => {
    const { identity, back } = await signedIn()
    const hashes = () =>
      rowsOf(fixture.app, 'gate_sessions')
        .filter(({ identity_id }) => identity_id === identity.id)
        .map(({ id, token_hash }) => [id, token_hash])
    const before = hashes()

    const { session_token: token, session } = await exchanged(back)

    const changed = hashes().filter(([, hash]) => !before.some(([, known]) => known === hash))
    expect(changed).toEqual([
      [session.id, new Bun.CryptoHasher('sha256').update(token).digest('hex')],
    ])
    expect(hashes()).toHaveLength(before.length)
  })

  test('works for a flow whose hour is over since', async () => {
    await fixture.register(email)
    const { hosted_url } = await begin()
    fixture.clock.jump(HOUR - SECOND)
    const back = broughtBack(await newBrowser(fixture.app).signIn(hosted_url, email, PASSWORD))
    fixture.clock.jump(4 * MINUTE)
    expect(await exchange(back)).toMatchObject({ status: 200 })
  })
})

describe('a browser comes back', () => {
  test('with a code after a sign-up', async () => {
    const { hosted_url } = await begin(RETURN_TO, 'registration')
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(hosted_url)
    const done = await browser.press(page, BY_PASSWORD, {
      'traits.email': email,
      password: PASSWORD,
    })
    const { session, identity } = await exchanged(broughtBack(done))
    expect(session.identity).toEqual(identity)
    expect(identity.traits).toMatchObject({ email })
    expect(await browser.visit(hosted_url)).toMatchObject({ status: 200, forms: [] })
  })

  test('with a code after a sign-in by a code from a mail', async () => {
    await using own = await bootFactors()
    await own.security({ passwordless_enabled: true })
    await own.register(email)
    own.clock.jump(MINUTE)
    const { hosted_url } = await own.start('login', { 'x-return-to': RETURN_TO })
    const browser = newBrowser(own.app)
    const page = await browser.visit(hosted_url)
    const byCode: [string, string] = ['method', 'code']
    const asked = await browser.follow(await browser.press(page, byCode, { identifier: email }))
    const done = await browser.press(asked, byCode, { code: own.codeFor(email) })
    const answer = await own.api.post(EXCHANGE, broughtBack(done))
    expect(answer).toMatchObject({ status: 200, body: { identity: { traits: { email } } } })
  })

  test.each([
    ['nothing', 'https://app.example.com', 'https://app.example.com/?flow=F&code=C'],
    ['a query', `${RETURN_TO}?a=1&b=%26x&a=2`, `${RETURN_TO}?a=1&b=%26x&a=2&flow=F&code=C`],
    ['a fragment', `${RETURN_TO}#/deep?x=1`, `${RETURN_TO}?flow=F&code=C#/deep?x=1`],
    ['both', `${RETURN_TO}?a=1#top`, `${RETURN_TO}?a=1&flow=F&code=C#top`],
    ['a port', 'http://localhost:5173/cb', 'http://localhost:5173/cb?flow=F&code=C'],
    ['names of ours', `${RETURN_TO}?code=x&flow=y&code=z`, `${RETURN_TO}?code=C&flow=F`],
  ])('to an address that has %s of its own', async (_, returnTo, expected) => {
    const { page, back } = await signedIn(returnTo)
    expect(page.location).toBe(
      expected.replace('=F', `=${back.flow}`).replace('=C', `=${back.code}`),
    )
    expect(await exchange(back)).toMatchObject({ status: 200 })
  })

  test('to no app without X-Return-To, but to the account, and no code is made', async () => {
    const { identity } = await fixture.register(email)
    const flow = await fixture.start('login')
    const browser = newBrowser(fixture.app)
    const done = await browser.signIn(flow.hosted_url, email, PASSWORD)
    const account = await browser.follow(done)

    expect(account).toMatchObject({ status: 200, links: [] })
    expect(account.text).toContain(`You're signed in as ${email}.`)
    const row = rowsOf(fixture.app, 'gate_flows').find(({ id }) => id === flow.id)
    expect(row).toMatchObject({ exchange_hash: null, exchange_expires_at: null })
    expect(await sessionsOf(identity)).toHaveLength(2)
  })

  test('not by a program: it has the token already', async () => {
    await fixture.register(email)
    const flow = await begin()
    const fields = { method: 'password', identifier: email, password: PASSWORD }
    const { session_token } = await fixture.sendWell(flow, fields)
    expect(await fixture.whoami(session_token)).toMatchObject({ status: 200 })
    const row = rowsOf(fixture.app, 'gate_flows').find(({ id }) => id === flow.id)
    expect(row.exchange_hash).toBeNull()
  })

  test('not before the second factor is shown', async () => {
    await enrolled(fixture, email)
    const { hosted_url } = await begin()
    const { location } = await newBrowser(fixture.app).signIn(hosted_url, email, PASSWORD)
    expect(location).not.toContain('code=')
    expect(new URL(location).pathname).toBe('/auth/self-service/login')
  })

  test('after the second factor with a code for the session that the password began', async () => {
    const { secret, identity } = await enrolled(fixture, email)
    const { hosted_url } = await begin()
    const browser = newBrowser(fixture.app)
    const asked = await browser.follow(await browser.signIn(hosted_url, email, PASSWORD))
    const [half] = await sessionsOf(identity)
    const totp_code = nextCode(fixture, secret)
    const done = await browser.press(asked, ['method', 'totp'], { totp_code })

    const { session, session_token: token } = await exchanged(broughtBack(done))

    expect(session).toMatchObject({ id: half?.id, authenticator_assurance_level: 'aal2' })
    expect(await sessionOf(fixture, token)).toMatchObject({ id: half?.id })
  })

  test('after a sign-in once more with a code for the same session', async () => {
    const { session_token: first, session } = await fixture.register(email)
    fixture.clock.jump(2 * HOUR)
    const headers = { ...withToken(first), 'x-return-to': RETURN_TO }
    const { hosted_url } = await fixture.start('login', headers, '?refresh=true')
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(hosted_url)
    const done = await browser.press(page, BY_PASSWORD, { password: PASSWORD })

    const { session: again, session_token: token } = await exchanged(broughtBack(done))

    expect(again).toMatchObject({
      id: session.id,
      authenticated_at: new Date(fixture.clock.now()).toISOString(),
    })
    expect(await sessionOf(fixture, token)).toMatchObject({ id: session.id })
  })

  test('after a recovery to the settings, and the session is only in that browser', async () => {
    await using own = await bootFactors()
    const { identity } = await own.register(email)
    own.clock.jump(MINUTE)
    const { hosted_url } = await own.start('recovery', { 'x-return-to': RETURN_TO })
    const browser = newBrowser(own.app)
    const byCode: [string, string] = ['method', 'code']
    const page = await browser.visit(hosted_url)
    const asked = await browser.follow(await browser.press(page, byCode, { email }))
    const done = await browser.press(asked, byCode, { code: own.codeFor(email) })

    const settings = await browser.follow(done)
    expect(settings.status).toBe(200)
    expect(await newBrowser(own.app).visit(done.location)).toMatchObject({ status: 403 })
    const changed = await browser.press(settings, BY_PASSWORD, { password: NEW_PASSWORD })
    expect((await browser.follow(changed)).text).toContain('Your changes have been saved.')
    expect((await own.api.get(`/v1/gate/identities/${identity.id}/sessions`)).body).toHaveLength(1)
    expect(await own.tryPassword(email, NEW_PASSWORD)).toMatchObject({ status: 200 })
  })
})

test('a session that has come to owe a second factor is exchanged, and nothing told of its person', async () => {
  const { session_token: first } = await fixture.register(email)
  const { hosted_url } = await begin()
  const back = broughtBack(await newBrowser(fixture.app).signIn(hosted_url, email, PASSWORD))
  await fixture.enrol(first)

  const { status, body } = await exchange(back)

  expect(JSON.stringify(body)).not.toContain(email)
  if (status === 200)
    expect(await fixture.whoami(body.session_token)).toMatchObject({ status: 403 })
  else expect(status).toBe(403)
})

test('a program that is halfway through gets no code in its answers', async () => {
  const { secret } = await enrolled(fixture, email)
  const { flow } = await halfway(fixture, email)
  const done = await fixture.sendWell(flow, {
    method: 'totp',
    totp_code: nextCode(fixture, secret),
  })
  expect(JSON.stringify(done)).not.toContain('code=')
})

test('a page that comes back shows the app where a form may lead, if that is not on https', async () => {
  await fixture.register(email)
  for (const [returnTo, isNamed] of [
    ['http://localhost:5173/cb', true],
    ['https://app.example.com/cb', false],
  ] as const) {
    const { hosted_url } = await begin(returnTo)
    const { headers } = await newBrowser(fixture.app).visit(hosted_url)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy.includes(new URL(returnTo).origin)).toBe(isNamed)
    expect(policy).toContain("form-action 'self' https:")
  }
})

test('the key needs the scope flows', async () => {
  const { back } = await signedIn()
  const { key } = await fixture.acme.key('gate', 'live', ['sessions:write', 'identities:read'])
  expect(await exchange(back, fixture.app.client(key) as never)).toMatchObject(
    plain(403, 'the key lacks the scope flows'),
  )
  const { key: narrow } = await fixture.acme.key('gate', 'live', ['flows'])
  expect(await exchange(back, fixture.app.client(narrow) as never)).toMatchObject({ status: 200 })
})
