import { beforeEach, expect, test } from 'bun:test'
import { HOUR, type Json, plain, rowsOf } from '../../fixture.ts'
import { ADA, NEW_PASSWORD, withToken } from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import { PASSWORD } from './fixture.ts'

const { app, clock, newTenant } = await useFlows()
let acme: Tenant
beforeEach(async () => {
  acme = await newTenant({ mfa_enabled: true })
})

const totp = (totp_code: string) => ({ method: 'totp', totp_code })

async function opened({ hosted_url: url }: Json) {
  const browser = newBrowser(app)
  expect(await browser.visit(url)).toMatchObject({ status: 200 })
  return { browser, url: url as string }
}

function expectOtherBrowser({ status, text, forms }: Page) {
  expect({ status, forms }).toEqual({ status: 403, forms: [] })
  expect(text).toContain('You started in another browser')
  expect(text).not.toContain(ADA)
}

/** Headers with no token, and with tokens that are not the user's. */
async function wrongTokens(): Promise<Record<string, string>[]> {
  const { session_token: neighbor } = await acme.register('neighbor@example.com')
  const { session_token: stranger } = await (await newTenant()).register(ADA)
  return [{}, ...['garbage', neighbor, stranger].map(withToken)]
}

test('A sign-in with a second factor needs a user who has one, and a tenant', async () => {
  for (const tenant of [acme, await newTenant()]) {
    const { session_token } = await tenant.register(ADA)
    const answer = await tenant.ask('login', withToken(session_token), '?aal=aal2')
    expect(answer).toMatchObject(plain(400, 'aal: '))
  }
})

/** The kinds of flows that act for a session, each opened by a browser. */
const ACTING: [string, () => Promise<{ browser: Browser; url: string }>][] = [
  [
    'of settings',
    async () => opened(await acme.settings((await acme.register(ADA)).session_token)),
  ],
  ['of settings after a sign-in', () => signedInOnPages(acme.register(ADA))],
  ['for the second factor', () => signedInOnPages(acme.enrolled())],
  [
    'for the second factor, begun by a program',
    async () => {
      await acme.enrolled()
      return opened((await acme.halfway()).flow)
    },
  ],
  [
    'to sign in again',
    async () => {
      const { session_token } = await acme.register(ADA)
      return opened(await acme.start('login', withToken(session_token), '?refresh=true'))
    },
  ],
]

async function signedInOnPages(registered: Promise<unknown>) {
  await registered
  const browser = newBrowser(app)
  const { hosted_url } = await acme.start('login')
  return { browser, url: (await browser.signIn(hosted_url, ADA, PASSWORD)).location }
}

test.each(ACTING)('A flow %s belongs to the browser that opened it first', async (_, begin) => {
  const { browser, url } = await begin()
  const [form] = (await browser.visit(url)).forms
  for (const cookie of ['', 'gatehouse_browser=', 'gatehouse_browser=x']) {
    const stranger = newBrowser(app, cookie ? { cookie } : {})
    // The second visit has the cookie that the first one set.
    for (let n = 0; n < 2; n++) expectOtherBrowser(await stranger.visit(url))
    const fields = { ...form?.hidden, method: 'password', password: NEW_PASSWORD }
    expect(await stranger.post(url, fields)).toMatchObject({ status: 403, forms: [] })
  }
  const tokens = await wrongTokens()
  for (const headers of tokens) {
    const shown = await acme.readAt(url, headers)
    expect([401, 403]).toContain(shown.status)
    expect(JSON.stringify(shown.body)).not.toContain(ADA)
  }
  expect(await acme.tryPassword(ADA)).toMatchObject({ status: 200 })
  expect(await browser.visit(url)).toMatchObject({ status: 200 })
  expect(browser.cookies.size).toBe(1)
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
  expect(await acme.readAt(url, { cookie })).toMatchObject({ status: 200 })

  // Once it has expired, it leads on only its browser.
  clock.jump(HOUR)
  const before = rowsOf(app, 'gate_flows').length
  const refused = { status: 403, location: '', forms: [] }
  expect(await newBrowser(app).visit(url)).toMatchObject(refused)
  for (const headers of tokens) {
    const { status, body } = await acme.readAt(url, headers)
    expect([401, 403, 410]).toContain(status)
    expect(body).not.toHaveProperty('use_flow_id')
  }
  expect(rowsOf(app, 'gate_flows')).toHaveLength(before)
  expect(await browser.visit(url)).toMatchObject({ status: 303 })
})

test('A form that a session acts with needs the token of its user', async () => {
  const { secret, token } = await acme.enrolled()
  const { flow, token: half } = await acme.halfway()
  const refresh = await acme.start('login', withToken(token), '?refresh=true')
  const proof = { method: 'password', password: PASSWORD }
  for (const headers of await wrongTokens()) {
    const wrong = headers['x-session-token']
    for (const answer of [
      await acme.sendBare(flow, totp(acme.nextCode(secret)), wrong),
      await acme.sendBare(refresh, proof, wrong),
      await acme.readAt(refresh.ui.action, headers),
    ]) {
      expect([401, 403]).toContain(answer.status)
      expect(JSON.stringify(answer.body)).not.toContain(ADA)
    }
  }
  const code = totp(acme.nextCode(secret))
  expect(await acme.sendBare(flow, code, half)).toMatchObject({ status: 200 })
  expect(await acme.sendBare(refresh, proof, token)).toMatchObject({ status: 200 })
})

test('A settings flow belongs to one of two browsers that open it at once, also after a change', async () => {
  const { session_token: token } = await acme.register(ADA)
  const { hosted_url: url } = await acme.settings(token)
  const browsers = [newBrowser(app), newBrowser(app)]
  const pages = await Promise.all(browsers.map(({ visit }) => visit(url)))
  expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 403])
  const at = pages.findIndex(({ status }) => status === 200)
  const [mine, other] = (at === 0 ? browsers : browsers.toReversed()) as [Browser, Browser]
  const changed = await mine.press(pages[at] as Page, ['method', 'profile'])
  for (const address of [changed.location, url]) expectOtherBrowser(await other.visit(address))
  expect(await acme.readAt(url, withToken(token))).toMatchObject({ status: 200 })
  const page = await mine.follow(changed)
  expect(page.status).toBe(200)

  const { id } = (await acme.sessionOf(token)).identity
  await acme.api.delete(`/v1/gate/identities/${id}/sessions`)
  const after = await mine.visit(changed.location)
  const sent = await mine.press(page, ['method', 'password'], { password: NEW_PASSWORD })
  for (const { status, html } of [after, sent])
    expect([status, html.includes(ADA)]).toEqual([401, false])
  expect(await acme.tryPassword(ADA)).toMatchObject({ status: 200 })
})
