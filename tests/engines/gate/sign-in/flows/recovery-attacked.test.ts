import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Json, MINUTE } from '../../fixture.ts'
import { NEW_PASSWORD, nextCode } from './acts.ts'
import { newBrowser } from './browser.ts'
import { PEER, pretendPeers } from './checked.ts'
import { flowIn, MAIL_GAP_MS, person, recover, wrongCodes } from './code-fixture.ts'
import { bootFlows, type FlowFixture, messageIds } from './fixture.ts'

/** Whatever strangers do, the owner of an address gets back into the account. */
let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '1000000' } })
  await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
  pretendPeers(fixture.app)
})
afterAll(() => fixture.app.stop())

let people = 0
const newAddress = () => `attacked-${people++}@example.com`

/** Asks for a mail from some network. */
const askFrom = async (from: string, kind: 'recovery' | 'login', email: string) => {
  const field = kind === 'login' ? 'identifier' : 'email'
  const flow = await fixture.start(kind)
  return fixture.send(flow, { method: 'code', [field]: email }, { [PEER]: from })
}

/** Asks in the name of another, burns the tries of that flow, and has its code sent elsewhere. */
async function spoil(from: string, email: string) {
  const { body: flow } = await askFrom(from, 'recovery', email)
  for (const code of wrongCodes('314159')) await fixture.send(flow, { code }, { [PEER]: from })
  await fixture.send(flow, { email: 'stranger@example.com' }, { [PEER]: from })
}

describe('a stranger who asks in the name of another', () => {
  test('from many networks, spoiling every flow: the latest mail still leads back in', async () => {
    const email = newAddress()
    await person(fixture, email)
    for (let minute = 0; minute < 60; minute++) {
      await spoil(`10.1.${minute}.1`, email)
      await fixture.clock.advance(MINUTE)
    }
    const nobodys = newAddress()
    for (let n = 0; n < 20; n++) {
      await askFrom(`10.3.${n}.1`, 'recovery', nobodys)
      await fixture.clock.advance(MAIL_GAP_MS)
    }

    const heard = await Promise.all(
      [email, nobodys].map((address) => askFrom('192.0.2.7', 'recovery', address)),
    )

    // A mail in 7.5 minutes, and eight at first: no more, and never an answer that tells.
    expect(fixture.sentTo(email).length).toBeLessThanOrEqual(8 + 70 / 7.5)
    expect(heard.map(({ status, body }) => [status, messageIds(body)])).toEqual([
      [200, [1060003]],
      [200, [1060003]],
    ])
    const browser = newBrowser(fixture.app)
    const link = await browser.visit(fixture.linkFor(email))
    const settings = await browser.follow(await browser.press(link, ['method', 'code']))
    const fields = { password: NEW_PASSWORD }
    expect((await browser.press(settings, ['method', 'password'], fields)).status).toBe(303)
    expect((await fixture.tryPassword(email, NEW_PASSWORD)).status).toBe(200)
  })

  test('at any moment there is a link of the last quarter of an hour, which works for another', async () => {
    const email = newAddress()
    await person(fixture, email)
    const ages: number[] = []
    for (let minute = 0; minute < 90; minute++) {
      await askFrom(`10.4.${minute}.1`, 'recovery', email)
      const [latest] = fixture.sentTo(email)
      ages.push(fixture.clock.now() - (latest?.createdAt ?? 0))
      expect(latest?.expiresAt).toBeGreaterThan(fixture.clock.now() + 15 * MINUTE)
      await fixture.clock.advance(MINUTE)
    }
    expect(Math.max(...ages)).toBeLessThan(15 * MINUTE)
  })

  test('from one network, they are put off before the owner is, for codes as well', async () => {
    const email = newAddress()
    await person(fixture, email)
    for (let n = 0; n < 9; n++) {
      const { status } = await askFrom('198.51.100.9', 'login', email)
      expect(status).toBe(n < 5 ? 200 : 429)
      await fixture.clock.advance(MAIL_GAP_MS)
    }

    const answer = await askFrom('192.0.2.8', 'login', email)

    const flow = flowIn(answer, 200, 'sent_email')
    const code = fixture.codeFor(email)
    expect((await fixture.send(flow, { code })).status).toBe(200)
  })
})

/** Somebody with an authenticator, whose address is proven: its secret. */
async function enrolled(email: string): Promise<string> {
  await person(fixture, email)
  return fixture.enrol((await fixture.signIn(email)).session_token)
}

describe('a stranger who knows the password and guesses at the second factor', () => {
  test('is put off, and holds up nobody who comes by the mailbox', async () => {
    const email = newAddress()
    const secret = await enrolled(email)
    const wrong = async (headers: Record<string, string>) => {
      const flow = await fixture.start('login', headers, '?aal=aal2')
      return fixture.send(flow, { totp_code: '000000' }, headers)
    }
    const { session_token: half } = await fixture.signIn(email)
    for (let n = 0; n < 10; n++) await wrong({ 'x-session-token': half })
    expect((await wrong({ 'x-session-token': half })).status).toBe(429)
    await fixture.clock.advance(MAIL_GAP_MS)

    const recovered = { 'x-session-token': await recover(fixture, email) }
    const flow = await fixture.start('login', recovered, '?aal=aal2')
    const done = await fixture.send(flow, { totp_code: nextCode(fixture, secret) }, recovered)

    expect(done.status).toBe(200)
    const settings: Json = await fixture.start('settings', recovered)
    const change = { method: 'password', password: NEW_PASSWORD }
    expect((await fixture.send(settings, change, recovered)).status).toBe(200)
  })

  test('guesses no more often by the mailbox than by the password', async () => {
    const email = newAddress()
    await enrolled(email)
    await fixture.clock.advance(MAIL_GAP_MS)
    const headers = { 'x-session-token': await recover(fixture, email) }
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) {
      const flow = await fixture.start('login', headers, '?aal=aal2')
      statuses.push((await fixture.send(flow, { totp_code: '000000' }, headers)).status)
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429])
  })
})
