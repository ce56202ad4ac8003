import { beforeEach, describe, expect, test } from 'bun:test'
import { type Json, MINUTE, plain, SECOND, SESSIONS, UNKNOWN_ID } from '../../fixture.ts'
import { rowsOf, tablesWith } from '../../identities/people.ts'
import {
  ADA,
  BOB,
  enrolled,
  HOUR,
  halfway,
  nextCode,
  RETURN_TO,
  sessionOf,
  withToken,
} from './acts.ts'
import { newBrowser, type Page } from './browser.ts'
import { useFlows } from './code-fixture.ts'
import { type Flows, PASSWORD } from './fixture.ts'

const { app, clock, newTenant } = await useFlows()
let acme: Flows
beforeEach(async () => {
  acme = await newTenant({ passwordless_enabled: true, mfa_enabled: true })
})

const BY_PASSWORD: [string, string] = ['method', 'password']
const BY_CODE: [string, string] = ['method', 'code']

/** The flow and the code in the URL that the browser came back to. */
function broughtBack({ status, location }: Page) {
  expect(status).toBe(303)
  const { searchParams } = new URL(location)
  return { flow: searchParams.get('flow') as string, code: searchParams.get('code') as string }
}

const begin = (returnTo = RETURN_TO, kind = 'login') =>
  acme.start(kind, { 'x-return-to': returnTo })

const signIn = async (email = ADA, returnTo = RETURN_TO) =>
  newBrowser(app).signIn((await begin(returnTo)).hosted_url, email, PASSWORD)

/** An identity that signed in on a page, and is back at the app. */
async function signedIn(email = ADA, returnTo = RETURN_TO) {
  const { identity, session_token } = await acme.register(email)
  const page = await signIn(email, returnTo)
  return { identity, token: session_token as string, page, back: broughtBack(page) }
}

const exchange = (body: Json, of: Pick<Flows, 'api'> = acme) =>
  of.api.post(`${SESSIONS}/exchange`, body)

async function exchanged(body: Json): Promise<Json> {
  const answer = await exchange(body)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const sessionsOf = async ({ id }: Json): Promise<Json[]> =>
  (await acme.api.get(`/v1/gate/identities/${id}/sessions`)).body

const flowRow = (id: string) => rowsOf(app, 'gate_flows').find((row) => row.id === id)

describe('The code that a browser brings back', () => {
  test('is exchanged for the session and a new token, once', async () => {
    const { identity, page, back } = await signedIn()
    const hashes = () =>
      rowsOf(app, 'gate_sessions')
        .filter(({ identity_id }) => identity_id === identity.id)
        .map(({ id, token_hash }) => `${id} ${token_hash}`)
    const before = hashes()
    expect(tablesWith(app, back.code)).toEqual({})
    expect(page.location).not.toContain('gat_st_')

    const body = await exchanged(back)

    const { session_token: token, session } = body
    const { token: _, ...shown } = session
    expect(body).toEqual({
      session_token: token,
      session: { ...(await sessionOf(acme, token)), token },
      identity: shown.identity,
      continue_with: null,
    })
    expect(token).toStartWith('gat_st_')
    expect(session).toMatchObject({ active: true, authenticator_assurance_level: 'aal1' })
    expect(body.identity).toMatchObject({ id: identity.id, traits: { email: ADA } })
    const hash = new Bun.CryptoHasher('sha256').update(token).digest('hex')
    expect(hashes()).toHaveLength(before.length)
    expect(hashes().filter((row) => !before.includes(row))).toEqual([`${session.id} ${hash}`])
    expect(tablesWith(app, token)).toEqual({})
    for (const secret of [back.code, token]) expect(app.log.join('')).not.toContain(secret)

    for (let n = 0; n < 2; n++) expect(await exchange(back)).toMatchObject(plain(400, 'code: '))
    expect(await acme.whoami(token)).toMatchObject({ status: 200 })
  })

  test('works for one of several concurrent exchanges', async () => {
    const { back } = await signedIn()
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => exchange(back)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400])
    const good = answers.find(({ status }) => status === 200)
    expect(await acme.whoami(good?.body.session_token)).toMatchObject({ status: 200 })
  })

  test('works for five minutes, also if its flow expires', async () => {
    await acme.register(ADA)
    const { hosted_url } = await begin()
    clock.jump(HOUR - SECOND)
    const first = broughtBack(await newBrowser(app).signIn(hosted_url, ADA, PASSWORD))
    const second = broughtBack(await signIn())
    clock.jump(5 * MINUTE - 1)
    expect(await exchange(first)).toMatchObject({ status: 200 })
    clock.jump(1)
    expect(await exchange(second)).toMatchObject(plain(400, 'code: '))
  })

  test('works for its flow and tenant only, and wrong tries do not use it up', async () => {
    const { back } = await signedIn()
    const { back: second } = await signedIn(BOB)
    const other = await newTenant()
    const swapped = back.code.replaceAll(/[a-z]/gi, (letter) =>
      letter < 'a' ? letter.toLowerCase() : letter.toUpperCase(),
    )
    for (const code of ['', 'x'.repeat(43), swapped, second.code])
      expect(await exchange({ ...back, code })).toMatchObject(plain(400, 'code'))
    for (const flow of [UNKNOWN_ID, 'x', '', `${back.flow} `])
      expect(await exchange({ ...back, flow })).toMatchObject(plain(404, 'flow not found'))
    for (const body of [back, { ...back, code: 'x' }])
      expect(await exchange(body, other)).toMatchObject(plain(404, 'flow not found'))
    expect(await exchange(back)).toMatchObject({ status: 200 })
    expect(await exchange(second)).toMatchObject({ status: 200 })
  })

  test('does not exist for a flow that is open, or that ended without an app', async () => {
    await acme.register(ADA)
    const open = await begin()
    const ended = await acme.start('login')
    await newBrowser(app).signIn(ended.hosted_url, ADA, PASSWORD)
    expect(flowRow(ended.id)).toMatchObject({ exchange_hash: null, exchange_expires_at: null })
    for (const { id } of [open, ended])
      for (const code of ['', 'x', id])
        expect((await exchange({ flow: id, code })).status).toBe(400)
  })

  test.each([
    [{ code: 'x' }, 'flow: '],
    [{ flow: 'x' }, 'code: '],
    [{ flow: 5, code: 'x' }, 'flow: '],
    [{ flow: 'x', code: null }, 'code: '],
  ])('is refused in %j', async (body, words) => {
    expect(await exchange(body)).toMatchObject(plain(400, words))
  })

  test.each(['revoked', 'inactive', 'deleted'])('is refused once %s', async (how) => {
    const { identity, back } = await signedIn()
    const path = `/v1/gate/identities/${identity.id}`
    if (how === 'inactive') await acme.setState(identity, 'inactive')
    else await acme.api.delete(how === 'deleted' ? path : `${path}/sessions`)
    const words = 'code: belongs to a session that has ended'
    expect(await exchange(back)).toMatchObject(plain(400, words))
  })

  test('tells nothing of a user who set up a second factor meanwhile', async () => {
    const { token, back } = await signedIn()
    await acme.enrol(token)
    const { status, body } = await exchange(back)
    expect({ status, id: body.id }).toEqual({ status: 403, id: 'session_aal2_required' })
    expect(JSON.stringify(body)).not.toContain(ADA)
  })
})

describe('A browser comes back', () => {
  test('with a code after a sign-up', async () => {
    const { hosted_url } = await begin(RETURN_TO, 'registration')
    const browser = newBrowser(app)
    const typed = { 'traits.email': ADA, password: PASSWORD }
    const done = await browser.press(await browser.visit(hosted_url), BY_PASSWORD, typed)
    const { session, identity } = await exchanged(broughtBack(done))
    expect(session.identity).toEqual(identity)
    expect(identity.traits.email).toBe(ADA)
    expect(await browser.visit(hosted_url)).toMatchObject({ status: 200, forms: [] })
  })

  test('with a code after a sign-in by an email code', async () => {
    await acme.register(ADA)
    clock.jump(MINUTE)
    const browser = newBrowser(app)
    const page = await browser.visit((await begin()).hosted_url)
    const asked = await browser.follow(await browser.press(page, BY_CODE, { identifier: ADA }))
    const done = await browser.press(asked, BY_CODE, { code: acme.codeFor(ADA) })
    expect((await exchanged(broughtBack(done))).identity.traits.email).toBe(ADA)
  })

  test.each([
    ['https://app.example.com', 'https://app.example.com/?flow=F&code=C'],
    [`${RETURN_TO}?a=1&b=%26x&a=2`, `${RETURN_TO}?a=1&b=%26x&a=2&flow=F&code=C`],
    [`${RETURN_TO}?a=1#/deep?x=1`, `${RETURN_TO}?a=1&flow=F&code=C#/deep?x=1`],
    ['http://localhost:5173/cb', 'http://localhost:5173/cb?flow=F&code=C'],
    [`${RETURN_TO}?code=x&flow=y&code=z`, `${RETURN_TO}?code=C&flow=F`],
  ])('from %s to %s', async (returnTo, expected) => {
    const { page, back } = await signedIn(ADA, returnTo)
    const location = expected.replace('=F', `=${back.flow}`).replace('=C', `=${back.code}`)
    expect(page.location).toBe(location)
  })

  test('without a code if a program signed in, because that has the token', async () => {
    await acme.register(ADA)
    const flow = await begin()
    const fields = { method: 'password', identifier: ADA, password: PASSWORD }
    const { session_token } = await acme.sendWell(flow, fields)
    expect(await acme.whoami(session_token)).toMatchObject({ status: 200 })
    expect(flowRow(flow.id).exchange_hash).toBeNull()

    const { secret } = await enrolled(acme, BOB)
    const { flow: second } = await halfway(acme, BOB)
    const done = await acme.sendWell(second, { method: 'totp', totp_code: nextCode(acme, secret) })
    expect(JSON.stringify(done)).not.toContain('code=')
  })

  test('after the second factor, with a code for the session of the password', async () => {
    const { secret, identity } = await enrolled(acme)
    const browser = newBrowser(app)
    const first = await browser.signIn((await begin()).hosted_url, ADA, PASSWORD)
    const { pathname, searchParams } = new URL(first.location)
    expect([pathname, ...searchParams.keys()]).toEqual(['/auth/self-service/login', 'flow'])
    const [half] = await sessionsOf(identity)
    const asked = await browser.follow(first)
    const wrong = await browser.press(asked, ['method', 'totp'], { totp_code: '12345' })
    expect(wrong.status).toBe(422)
    const totp_code = nextCode(acme, secret)
    const done = await browser.press(asked, ['method', 'totp'], { totp_code })

    const { session, session_token } = await exchanged(broughtBack(done))

    expect(session).toMatchObject({ id: half?.id, authenticator_assurance_level: 'aal2' })
    expect((await sessionOf(acme, session_token)).id).toBe(half?.id)
  })

  test('to the settings after the second factor, if there is no app', async () => {
    const { secret } = await enrolled(acme)
    const browser = newBrowser(app)
    const { hosted_url } = await acme.start('login')
    const asked = await browser.follow(await browser.signIn(hosted_url, ADA, PASSWORD))
    const totp_code = nextCode(acme, secret)
    const done = await browser.follow(await browser.press(asked, ['method', 'totp'], { totp_code }))
    expect(done.text).toContain(`You're signed in as ${ADA}.`)
    expect(done.links).toEqual([])
  })

  test('after signing in again, with a code for the same session', async () => {
    const { session_token: first, session } = await acme.register(ADA)
    clock.jump(2 * HOUR)
    const headers = { ...withToken(first), 'x-return-to': RETURN_TO }
    const { hosted_url } = await acme.start('login', headers, '?refresh=true')
    const browser = newBrowser(app)
    const page = await browser.visit(hosted_url)
    const done = await browser.press(page, BY_PASSWORD, { password: PASSWORD })
    const { session: again, session_token } = await exchanged(broughtBack(done))
    const authenticated_at = new Date(clock.now()).toISOString()
    expect(again).toMatchObject({ id: session.id, authenticated_at })
    expect((await sessionOf(acme, session_token)).id).toBe(session.id)
  })
})

test.each([
  [
    'http://localhost:5173/cb',
    "form-action 'self' https: http://127.0.0.1:8420 http://localhost:5173;",
  ],
  ['https://app.example.com/cb', "form-action 'self' https: http://127.0.0.1:8420;"],
])('The policy of a page that returns to %s has %s', async (returnTo, directive) => {
  const { headers } = await newBrowser(app).visit((await begin(returnTo)).hosted_url)
  expect(headers.get('content-security-policy')).toContain(directive)
})
