import { beforeEach, describe, expect, test } from 'bun:test'
import { ACTOR, type Json, plain } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import {
  ADA,
  complains,
  enrolled,
  HOUR,
  halfway,
  NEW_PASSWORD,
  nextCode,
  read,
  refuses,
  sendBare,
  sessionOf,
  withToken,
} from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { type Flows, messageIds, nodeNames, PASSWORD, useFlows } from './fixture.ts'

const { app, clock, newTenant } = await useFlows()
const other = await newTenant()
let acme: Flows
beforeEach(async () => {
  acme = await newTenant({ mfa_enabled: true })
})

const totp = (totp_code: string) => ({ method: 'totp', totp_code })
const opened = async (url: string): Promise<Browser> => {
  const browser = newBrowser(app)
  expect(await browser.visit(url)).toMatchObject({ status: 200 })
  return browser
}
const hostedSettings = async (token: string) => (await acme.settings(token)).hosted_url

function expectOtherBrowser({ status, text, forms }: Page) {
  expect({ status, forms }).toEqual({ status: 403, forms: [] })
  expect(text).toContain('You started in another browser')
  expect(text).not.toContain(ADA)
}

/** Tokens that are not the user's. */
async function wrongTokens(): Promise<Record<string, string>[]> {
  const { session_token: neighbor } = await acme.register('neighbor@example.com')
  const { session_token: stranger } = await other.register(`${crypto.randomUUID()}@example.com`)
  return [{}, ...['garbage', neighbor, stranger].map(withToken)]
}

describe('A sign-in with a second factor', () => {
  test('belongs to the session that started it, and returns its token', async () => {
    const { secret, token } = await enrolled(acme)
    const before = await sessionOf(acme, token)
    const flow = await acme.start('login', withToken(token), '?aal=aal2')
    expect(flow).toMatchObject({ requested_aal: 'aal2', refresh: false })
    expect(messageIds(flow)).toEqual([1010004])
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])

    const done = await acme.sendWell(flow, totp(nextCode(acme, secret)), withToken(token))

    expect(done).toMatchObject({
      session_token: token,
      session: {
        id: before.id,
        token,
        authenticated_at: new Date(clock.now()).toISOString(),
        authenticator_assurance_level: 'aal2',
      },
    })
    expect((await sessionOf(acme, token)).id).toBe(before.id)
  })

  test('can be started by a session that owes it', async () => {
    const { secret } = await enrolled(acme)
    const { token } = await halfway(acme)
    const flow = await acme.start('login', withToken(token), '?aal=aal2')
    expect(await acme.whoami(token)).toMatchObject({
      status: 403,
      body: {
        error: 'the session requires two-factor authentication',
        id: 'session_aal2_required',
      },
    })
    await acme.sendWell(flow, totp(nextCode(acme, secret)), withToken(token))
    expect(await acme.whoami(token)).toMatchObject({ status: 200 })
  })

  test('is refused if the user has no second factor, or the tenant has none', async () => {
    for (const tenant of [acme, await newTenant()]) {
      const { session_token } = await tenant.register(ADA)
      const answer = await tenant.ask('login', withToken(session_token), '?aal=aal2')
      expect(answer).toMatchObject(plain(400, 'aal: '))
    }
  })

  test('is not asked for in a plain sign-in, which needs no session', async () => {
    const { token } = await enrolled(acme)
    for (const query of ['', '?aal=aal1', '?refresh=false', '?aal=aal1&refresh=false'])
      for (const headers of [{}, withToken(token), withToken('garbage')]) {
        const flow = await acme.ask('login', headers as Record<string, string>, query)
        expect(flow).toMatchObject({ status: 200, body: { refresh: false, requested_aal: 'aal1' } })
        expect(nodeNames(flow.body)[0]).toBe('default:identifier')
      }
  })
})

describe('A session that owes a second factor', () => {
  test('ends if the identity becomes inactive', async () => {
    const { secret, identity } = await enrolled(acme)
    const { flow, token } = await halfway(acme)
    await acme.setState(identity, 'inactive')
    const answer = await acme.send(flow, totp(nextCode(acme, secret)))
    expect(answer.status).toBe(401)
    expect(JSON.stringify(answer.body)).not.toContain(token)
    expect(await acme.whoami(token)).toMatchObject({ status: 401 })
  })

  test('continues in a new flow once its flow has expired', async () => {
    const { secret } = await enrolled(acme)
    const { flow, token } = await halfway(acme)
    clock.jump(HOUR)
    const { body: gone } = await acme.send(flow, {}, withToken(token))
    expect(gone.id).toBe('self_service_flow_expired')
    const url = flow.ui.action.replace(flow.id, gone.use_flow_id)
    const { body: next } = await read(acme, url, withToken(token))
    expect(next.requested_aal).toBe('aal2')
    const done = await acme.sendWell(next, totp(nextCode(acme, secret)), withToken(token))
    expect(done.session_token).toBe(token)
    expect(await acme.whoami(token)).toMatchObject({ status: 200 })
  })
})

/** The kinds of flows that act for a session, each opened by a browser. */
const ACTING: [string, () => Promise<{ browser: Browser; url: string }>][] = [
  [
    'of settings',
    async () => {
      const url = await hostedSettings((await acme.register(ADA)).session_token)
      return { browser: await opened(url), url }
    },
  ],
  [
    'of settings after a sign-in',
    async () => {
      await acme.register(ADA)
      const browser = newBrowser(app)
      const { hosted_url } = await acme.start('login')
      return { browser, url: (await browser.signIn(hosted_url, ADA, PASSWORD)).location }
    },
  ],
  [
    'for the second factor',
    async () => {
      await enrolled(acme)
      const browser = newBrowser(app)
      const { hosted_url } = await acme.start('login')
      return { browser, url: (await browser.signIn(hosted_url, ADA, PASSWORD)).location }
    },
  ],
  [
    'for the second factor, begun by a program',
    async () => {
      await enrolled(acme)
      const { hosted_url: url } = (await halfway(acme)).flow
      return { browser: await opened(url), url }
    },
  ],
  [
    'to sign in again',
    async () => {
      const { session_token } = await acme.register(ADA)
      const flow = await acme.start('login', withToken(session_token), '?refresh=true')
      return { browser: await opened(flow.hosted_url), url: flow.hosted_url }
    },
  ],
]

describe.each(ACTING)('A flow %s', (_, begin) => {
  test('belongs to the browser that opened it first', async () => {
    const { browser, url } = await begin()
    const [form] = (await browser.visit(url)).forms
    const strangers = ['', 'gatehouse_browser=', 'gatehouse_browser=x'].map((cookie) =>
      newBrowser(app, cookie ? { cookie } : {}),
    )
    for (const stranger of strangers) {
      // The second visit has the cookie that the first one set.
      for (let n = 0; n < 2; n++) expectOtherBrowser(await stranger.visit(url))
      const fields = { ...form?.hidden, method: 'password', password: NEW_PASSWORD }
      expect(await stranger.post(url, fields)).toMatchObject({ status: 403, forms: [] })
    }
    expect(await acme.tryPassword(ADA)).toMatchObject({ status: 200 })
    expect(await browser.visit(url)).toMatchObject({ status: 200 })
    expect(browser.cookies.size).toBe(1)
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
    expect(await read(acme, url, { cookie })).toMatchObject({ status: 200 })
  })

  test('is closed to programs without the user’s token', async () => {
    const { browser, url } = await begin()
    for (const headers of await wrongTokens()) {
      const shown = await read(acme, url, headers)
      expect([401, 403]).toContain(shown.status)
      expect(JSON.stringify(shown.body)).not.toContain(ADA)
    }
    expect(await browser.visit(url)).toMatchObject({ status: 200 })
  })

  test('leads on only its browser once it has expired', async () => {
    const { browser, url } = await begin()
    clock.jump(HOUR)
    const before = rowsOf(app, 'gate_flows').length
    expect(await newBrowser(app).visit(url)).toMatchObject({ status: 403, location: '', forms: [] })
    for (const headers of [{}, withToken('garbage')] as Record<string, string>[]) {
      const { status, body } = await read(acme, url, headers)
      expect([401, 403, 410]).toContain(status)
      expect(body).not.toHaveProperty('use_flow_id')
    }
    expect(rowsOf(app, 'gate_flows')).toHaveLength(before)
    expect(await browser.visit(url)).toMatchObject({ status: 303 })
  })
})

test('A form that a session acts with needs the token of its user', async () => {
  const { secret, token } = await enrolled(acme)
  const { flow, token: half } = await halfway(acme)
  const refresh = await acme.start('login', withToken(token), '?refresh=true')
  const proof = { method: 'password', password: PASSWORD }
  for (const headers of await wrongTokens()) {
    const wrong = headers['x-session-token']
    const code = totp(nextCode(acme, secret))
    for (const answer of [
      await sendBare(acme, flow, code, wrong),
      await sendBare(acme, refresh, proof, wrong),
      await read(acme, refresh.ui.action, headers),
    ]) {
      expect([401, 403]).toContain(answer.status)
      expect(JSON.stringify(answer.body)).not.toContain(ADA)
    }
  }
  const code = totp(nextCode(acme, secret))
  expect(await sendBare(acme, flow, code, half)).toMatchObject({ status: 200 })
  expect(await sendBare(acme, refresh, proof, token)).toMatchObject({ status: 200 })
})

describe('A settings flow', () => {
  let token: string
  let url: string
  beforeEach(async () => {
    token = (await acme.register(ADA)).session_token
    url = await hostedSettings(token)
  })

  test('is shown to programs with the token, before and after a browser opened it', async () => {
    for (const headers of [{}, { cookie: 'gatehouse_browser=x' }] as Record<string, string>[])
      expect(await read(acme, url, headers)).toMatchObject(refuses(401, 'session_inactive'))
    await opened(url)
    expect(await read(acme, url, withToken(token))).toMatchObject({ status: 200 })
  })

  test('belongs to one of two browsers that open it at once', async () => {
    const pages = await Promise.all(
      [newBrowser(app), newBrowser(app)].map(({ visit }) => visit(url)),
    )
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 403])
  })

  test('is closed once the session has ended', async () => {
    const browser = await opened(url)
    const page = await browser.visit(url)
    const { id } = (await sessionOf(acme, token)).identity
    await acme.api.delete(`/v1/gate/identities/${id}/sessions`)
    const after = await browser.visit(url)
    expect(after.status).toBe(401)
    expect(after.html).not.toContain(ADA)
    const sent = await browser.press(page, ['method', 'password'], { password: NEW_PASSWORD })
    expect(sent.status).toBe(401)
    expect(await acme.tryPassword(ADA, NEW_PASSWORD)).toMatchObject(complains(4000006))
  })

  test('stays with its browser after a change', async () => {
    const browser = await opened(url)
    const changed = await browser.press(await browser.visit(url), ['method', 'profile'])
    for (const address of [changed.location, url])
      expectOtherBrowser(await newBrowser(app).visit(address))
    expect(await browser.follow(changed)).toMatchObject({ status: 200 })
  })
})

test.each(['login', 'registration', 'recovery'])(
  'A %s of no session is open to all',
  async (kind) => {
    const { hosted_url } = await acme.start(kind)
    for (let n = 0; n < 2; n++) await opened(hosted_url)
    expect(await read(acme, hosted_url)).toMatchObject({ status: 200 })
  },
)

test('A suspended tenant starts no flows; its sessions stay', async () => {
  const { token } = await enrolled(acme)
  const open = async () =>
    rowsOf(app, 'gate_flows').filter(
      ({ tenant_id, completed_at }: Json) => tenant_id === acme.tenantId && completed_at === null,
    ).length
  const before = await open()
  await app.platform.tenants.suspend(ACTOR, acme.tenantId, 'billing')
  for (const query of ['', '?refresh=true', '?aal=aal2'])
    expect((await acme.ask('login', withToken(token), query)).status).toBe(402)
  for (const kind of ['registration', 'recovery', 'verification', 'settings'])
    expect((await acme.ask(kind, withToken(token))).status).toBe(402)
  expect(await acme.whoami(token)).toMatchObject({ status: 200 })
  expect(await open()).toBe(before)
})
