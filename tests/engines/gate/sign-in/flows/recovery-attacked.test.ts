import { expect, test } from 'bun:test'
import { MINUTE } from '../../fixture.ts'
import { ADA, NEW_PASSWORD, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { flowIn, PEER, pretendPeers } from './checked.ts'
import { MAIL_GAP_MS, type Tenant, useFlows, wrongCodes } from './code-fixture.ts'
import { messageIds } from './fixture.ts'

// Strangers can't keep the owner of an address out of the account.
const flows = await useFlows()
pretendPeers(flows.app)
const { clock } = flows

async function withAda() {
  const acme = await flows.newTenant({ passwordless_enabled: true, mfa_enabled: true })
  await acme.person(ADA)
  return acme
}

/** Asks for an email from a network. */
async function askFrom(acme: Tenant, from: string, kind: 'recovery' | 'login', email = ADA) {
  const field = kind === 'login' ? 'identifier' : 'email'
  return acme.send(await acme.start(kind), { method: 'code', [field]: email }, { [PEER]: from })
}

test('A stranger who asks for emails from many networks, spoiling every flow, leaves a link that works', async () => {
  const acme = await withAda()
  for (let minute = 0; minute < 20; minute++) {
    const from = `10.1.${minute}.1`
    const { body: flow } = await askFrom(acme, from, 'recovery')
    for (const code of wrongCodes('314159')) await acme.send(flow, { code }, { [PEER]: from })
    await acme.send(flow, { email: 'stranger@example.com' }, { [PEER]: from })
    await askFrom(acme, `10.3.${minute}.1`, 'recovery', 'nobody@example.com')
    await clock.advance(MINUTE)
  }
  for (const email of [ADA, 'nobody@example.com']) {
    const { status, body } = await askFrom(acme, '192.0.2.7', 'recovery', email)
    expect([status, messageIds(body)]).toEqual([200, [1060003]])
  }

  // Eight emails at first, then one in 7.5 minutes.
  expect(acme.sentTo(ADA).length).toBeLessThanOrEqual(8 + 20 / 7.5)
  const browser = newBrowser(flows.app)
  const link = await browser.visit(acme.linkFor(ADA))
  const settings = await browser.follow(await browser.press(link, ['method', 'code']))
  const fields = { password: NEW_PASSWORD }
  expect((await browser.press(settings, ['method', 'password'], fields)).status).toBe(303)
  expect((await acme.tryPassword(ADA, NEW_PASSWORD)).status).toBe(200)
})

test('The latest link is of the last 15 minutes, and works for another 15', async () => {
  const acme = await withAda()
  for (let minute = 0; minute < 30; minute++) {
    await askFrom(acme, `10.4.${minute}.1`, 'recovery')
    const [latest] = acme.sentTo(ADA)
    expect(latest?.createdAt).toBeGreaterThan(clock.now() - 15 * MINUTE)
    expect(latest?.expiresAt).toBeGreaterThan(clock.now() + 15 * MINUTE)
    await clock.advance(MINUTE)
  }
})

test('A stranger who asks for emails from one network is refused before the owner is', async () => {
  const acme = await withAda()
  for (let n = 0; n < 9; n++) {
    const { status } = await askFrom(acme, '198.51.100.9', 'login')
    expect(status).toBe(n < 5 ? 200 : 429)
    await clock.advance(MAIL_GAP_MS)
  }
  const flow = flowIn(await askFrom(acme, '192.0.2.8', 'login'), 200, 'sent_email')
  expect((await acme.send(flow, { code: acme.codeFor(ADA) })).status).toBe(200)
})

test('Wrong second factors of a stranger with the password do not delay the owner of the mailbox', async () => {
  const acme = await withAda()
  const secret = await acme.enrol((await acme.signIn(ADA)).session_token)
  const guess = async (token: string) => {
    const flow = await acme.start('login', withToken(token), '?aal=aal2')
    return (await acme.send(flow, { totp_code: '000000' }, withToken(token))).status
  }
  const tenTries = [...Array(10).fill(422), 429]
  const elevenOf = async (token: string) => {
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) statuses.push(await guess(token))
    return statuses
  }
  expect(await elevenOf((await acme.signIn(ADA)).session_token)).toEqual(tenTries)
  await clock.advance(MAIL_GAP_MS)

  const token = await acme.recover(ADA)
  const flow = await acme.start('login', withToken(token), '?aal=aal2')
  const totp_code = acme.nextCode(secret)
  expect((await acme.send(flow, { totp_code }, withToken(token))).status).toBe(200)
  const change = { method: 'password', password: NEW_PASSWORD }
  expect((await acme.change(token, change)).status).toBe(200)

  // With the mailbox, there are ten guesses as well.
  await clock.advance(MINUTE)
  expect(await elevenOf(await acme.recover(ADA))).toEqual(tenTries)
})
