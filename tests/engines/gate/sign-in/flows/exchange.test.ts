import { beforeEach, describe, expect, test } from 'bun:test'
import {
  type Json,
  MINUTE,
  plain,
  rowsOf,
  SECOND,
  SESSIONS,
  tablesWith,
  UNKNOWN_ID,
} from '../../fixture.ts'
import { ADA, BOB, enrolled, HOUR, nextCode, RETURN_TO } from './acts.ts'
import { newBrowser, type Page } from './browser.ts'
import { useFlows } from './code-fixture.ts'
import { type Flows, PASSWORD } from './fixture.ts'

const { app, clock, newTenant } = await useFlows()
let acme: Flows
beforeEach(async () => {
  acme = await newTenant({ passwordless_enabled: true, mfa_enabled: true })
})

const BY_PASSWORD: [string, string] = ['method', 'password']
const BY_TOTP: [string, string] = ['method', 'totp']

/** The flow and the code in the URL that the browser came back to. */
function broughtBack({ status, location }: Page) {
  expect(status).toBe(303)
  const { searchParams } = new URL(location)
  return { flow: searchParams.get('flow') as string, code: searchParams.get('code') as string }
}

const begin = (returnTo = RETURN_TO, kind = 'login') =>
  acme.start(kind, { 'x-return-to': returnTo })

const signIn = async (flow: Json, email = ADA) =>
  newBrowser(app).signIn(flow.hosted_url, email, PASSWORD)

/** An identity that signed in on a page, and is back at the app. */
async function signedIn(email = ADA) {
  const { identity, session_token } = await acme.register(email)
  const page = await signIn(await begin(), email)
  return { identity, token: session_token as string, page, back: broughtBack(page) }
}

const exchange = (body: Json, of: Pick<Flows, 'api'> = acme) =>
  of.api.post(`${SESSIONS}/exchange`, body)

async function exchanged(page: Page): Promise<Json> {
  const { status, body } = await exchange(broughtBack(page))
  expect(status).toBe(200)
  expect((await acme.whoami(body.session_token)).body.id).toBe(body.session.id)
  return body
}

describe('The code that a browser brings back', () => {
  test('is exchanged for the session and a new token, once', async () => {
    const { identity, page, back } = await signedIn()
    const sessions = () =>
      rowsOf(app, 'gate_sessions').filter(({ identity_id }) => identity_id === identity.id)
    const before = sessions().length
    expect(tablesWith(app, back.code)).toEqual({})
    expect(page.location).not.toContain('gat_st_')

    const { session_token: token, session, ...rest } = await exchanged(page)

    expect(session).toEqual({ ...(await acme.whoami(token)).body, token })
    expect(session).toMatchObject({ active: true, authenticator_assurance_level: 'aal1' })
    expect(rest).toEqual({ identity: session.identity, continue_with: null })
    expect(rest.identity).toMatchObject({ id: identity.id, traits: { email: ADA } })
    expect(sessions()).toHaveLength(before)
    expect(tablesWith(app, token)).toEqual({})
    for (const secret of [back.code, token]) expect(app.log.join('')).not.toContain(secret)
    expect(await exchange(back)).toMatchObject(plain(400, 'code: '))

    const { back: next } = await signedIn(BOB)
    const answers = await Promise.all([1, 2, 3].map(() => exchange(next)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400])
  })

  test('works for five minutes, also if its flow expires', async () => {
    await acme.register(ADA)
    const flow = await begin()
    clock.jump(HOUR - SECOND)
    const first = broughtBack(await signIn(flow))
    const second = broughtBack(await signIn(await begin()))
    clock.jump(5 * MINUTE - 1)
    expect(await exchange(first)).toMatchObject({ status: 200 })
    clock.jump(1)
    expect(await exchange(second)).toMatchObject(plain(400, 'code: '))
  })

  test('works for its flow and tenant only, and wrong tries do not use it up', async () => {
    const { back } = await signedIn()
    const { back: second } = await signedIn(BOB)
    const other = await newTenant()
    for (const code of ['', 'x'.repeat(43), second.code])
      expect(await exchange({ ...back, code })).toMatchObject(plain(400, 'code'))
    for (const flow of [UNKNOWN_ID, 'x', '', `${back.flow} `])
      expect(await exchange({ ...back, flow })).toMatchObject(plain(404, 'flow not found'))
    for (const body of [back, { ...back, code: 'x' }])
      expect(await exchange(body, other)).toMatchObject(plain(404, 'flow not found'))
    expect(await exchange({ code: 'x' })).toMatchObject(plain(400, 'flow: '))
    expect(await exchange({ flow: 'x' })).toMatchObject(plain(400, 'code: '))
    for (const good of [back, second]) expect(await exchange(good)).toMatchObject({ status: 200 })
  })

  test('does not exist for a flow that is open, or ended without an app or by a program', async () => {
    await acme.register(ADA)
    const [open, ended, byProgram] = [await begin(), await acme.start('login'), await begin()]
    await signIn(ended)
    await acme.sendWell(byProgram, { method: 'password', identifier: ADA, password: PASSWORD })
    for (const { id } of [open, ended, byProgram]) {
      const row = rowsOf(app, 'gate_flows').find((each) => each.id === id)
      expect(row).toMatchObject({ exchange_hash: null, exchange_expires_at: null })
      for (const code of ['', id]) expect((await exchange({ flow: id, code })).status).toBe(400)
    }
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

describe('A browser comes back with a code', () => {
  test('after a sign-up', async () => {
    const { hosted_url } = await begin(RETURN_TO, 'registration')
    const browser = newBrowser(app)
    const typed = { 'traits.email': ADA, password: PASSWORD }
    const done = await browser.press(await browser.visit(hosted_url), BY_PASSWORD, typed)
    const { session, identity } = await exchanged(done)
    expect(session.identity).toEqual(identity)
  })

  test('to the URL of the app, which the policy of the page allows', async () => {
    await acme.register(ADA)
    const flow = await begin('http://localhost:1/cb?a=1#/deep')
    const { headers } = await newBrowser(app).visit(flow.hosted_url)
    const targets = "form-action 'self' https: http://127.0.0.1:8420 http://localhost:1;"
    expect(headers.get('content-security-policy')).toContain(targets)
    const page = await signIn(flow)
    const { code } = broughtBack(page)
    expect(page.location).toBe(`http://localhost:1/cb?a=1&flow=${flow.id}&code=${code}#/deep`)
  })

  test('after the second factor, for the session of the password', async () => {
    const { secret, identity } = await enrolled(acme)
    const browser = newBrowser(app)
    const first = await browser.signIn((await begin()).hosted_url, ADA, PASSWORD)
    expect([...new URL(first.location).searchParams.keys()]).toEqual(['flow'])
    const [half] = (await acme.api.get(`/v1/gate/identities/${identity.id}/sessions`)).body
    const asked = await browser.follow(first)
    expect((await browser.press(asked, BY_TOTP, { totp_code: '12345' })).status).toBe(422)
    const done = await browser.press(asked, BY_TOTP, { totp_code: nextCode(acme, secret) })
    const { session } = await exchanged(done)
    expect(session).toMatchObject({ id: half.id, authenticator_assurance_level: 'aal2' })

    // Without an app, to the settings.
    const { hosted_url } = await acme.start('login')
    const again = await browser.follow(await browser.signIn(hosted_url, ADA, PASSWORD))
    const last = await browser.press(again, BY_TOTP, { totp_code: nextCode(acme, secret) })
    expect((await browser.follow(last)).text).toContain(`You're signed in as ${ADA}.`)
  })
})
