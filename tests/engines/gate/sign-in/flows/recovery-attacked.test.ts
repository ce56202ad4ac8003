import { describe, expect, test } from 'bun:test'
import { MINUTE } from '../../fixture.ts'
import { ADA, NEW_PASSWORD, nextCode, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { PEER, pretendPeers } from './checked.ts'
import {
  flowIn,
  MAIL_GAP_MS,
  person,
  recover,
  type Tenant,
  useFlows,
  wrongCodes,
} from './code-fixture.ts'
import { messageIds } from './fixture.ts'

// Strangers can't keep the owner of an address out of the account.
const flows = await useFlows()
pretendPeers(flows.app)
const { clock } = flows
const newTenant = () => flows.newTenant({ passwordless_enabled: true, mfa_enabled: true })

/** Asks for an email from a network. */
async function askFrom(acme: Tenant, from: string, kind: 'recovery' | 'login', email = ADA) {
  const field = kind === 'login' ? 'identifier' : 'email'
  return acme.send(await acme.start(kind), { method: 'code', [field]: email }, { [PEER]: from })
}

/** Starts a recovery, spends its tries, and has its code sent elsewhere. */
async function spoil(acme: Tenant, from: string) {
  const { body: flow } = await askFrom(acme, from, 'recovery')
  for (const code of wrongCodes('314159')) await acme.send(flow, { code }, { [PEER]: from })
  await acme.send(flow, { email: 'stranger@example.com' }, { [PEER]: from })
}

describe('a stranger who asks for emails to an address', () => {
  test('from many networks, spoiling every flow, leaves a link that works', async () => {
    const acme = await newTenant()
    await person(acme, ADA)
    for (let minute = 0; minute < 60; minute++) {
      await spoil(acme, `10.1.${minute}.1`)
      await clock.advance(MINUTE)
    }
    const unknown = 'nobody@example.com'
    for (let n = 0; n < 20; n++) {
      await askFrom(acme, `10.3.${n}.1`, 'recovery', unknown)
      await clock.advance(MAIL_GAP_MS)
    }
    for (const email of [ADA, unknown]) {
      const { status, body } = await askFrom(acme, '192.0.2.7', 'recovery', email)
      expect([status, messageIds(body)]).toEqual([200, [1060003]])
    }

    // Eight emails at first, then one in 7.5 minutes.
    expect(acme.sentTo(ADA).length).toBeLessThanOrEqual(8 + 70 / 7.5)
    const browser = newBrowser(flows.app)
    const link = await browser.visit(acme.linkFor(ADA))
    const settings = await browser.follow(await browser.press(link, ['method', 'code']))
    const fields = { password: NEW_PASSWORD }
    expect((await browser.press(settings, ['method', 'password'], fields)).status).toBe(303)
    expect((await acme.tryPassword(ADA, NEW_PASSWORD)).status).toBe(200)
  })

  test('leaves a link of the last 15 minutes that works for another 15', async () => {
    const acme = await newTenant()
    await person(acme, ADA)
    for (let minute = 0; minute < 90; minute++) {
      await askFrom(acme, `10.4.${minute}.1`, 'recovery')
      const [latest] = acme.sentTo(ADA)
      expect(latest?.createdAt).toBeGreaterThan(clock.now() - 15 * MINUTE)
      expect(latest?.expiresAt).toBeGreaterThan(clock.now() + 15 * MINUTE)
      await clock.advance(MINUTE)
    }
  })

  test('from one network is refused before the owner is', async () => {
    const acme = await newTenant()
    await person(acme, ADA)
    for (let n = 0; n < 9; n++) {
      const { status } = await askFrom(acme, '198.51.100.9', 'login')
      expect(status).toBe(n < 5 ? 200 : 429)
      await clock.advance(MAIL_GAP_MS)
    }
    const flow = flowIn(await askFrom(acme, '192.0.2.8', 'login'), 200, 'sent_email')
    expect((await acme.send(flow, { code: acme.codeFor(ADA) })).status).toBe(200)
  })
})

describe('a stranger who guesses second factors', () => {
  /** A person with an authenticator and a verified address: its secret. */
  async function enrolled(acme: Tenant) {
    await person(acme, ADA)
    return acme.enrol((await acme.signIn(ADA)).session_token)
  }

  const guess = async (acme: Tenant, token: string) => {
    const flow = await acme.start('login', withToken(token), '?aal=aal2')
    return (await acme.send(flow, { totp_code: '000000' }, withToken(token))).status
  }

  test('with the password does not delay the owner of the mailbox', async () => {
    const acme = await newTenant()
    const secret = await enrolled(acme)
    const { session_token: half } = await acme.signIn(ADA)
    for (let n = 0; n < 10; n++) await guess(acme, half)
    expect(await guess(acme, half)).toBe(429)
    await clock.advance(MAIL_GAP_MS)

    const token = await recover(acme, ADA)
    const flow = await acme.start('login', withToken(token), '?aal=aal2')
    const totp_code = nextCode(acme, secret)
    expect((await acme.send(flow, { totp_code }, withToken(token))).status).toBe(200)
    const change = { method: 'password', password: NEW_PASSWORD }
    expect((await acme.change(token, change)).status).toBe(200)
  })

  test('with the mailbox guesses ten times as well', async () => {
    const acme = await newTenant()
    await enrolled(acme)
    const token = await recover(acme, ADA)
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) statuses.push(await guess(acme, token))
    expect(statuses).toEqual([...Array(10).fill(422), 429])
  })
})
