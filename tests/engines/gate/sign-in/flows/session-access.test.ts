import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { ACTOR, type Json, MINUTE } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import {
  bootFactors,
  complains,
  enrolled,
  HOUR,
  halfway,
  NEW_PASSWORD,
  nextCode,
  RETURN_TO,
  read,
  refuses,
  sendBare,
  sessionOf,
  withToken,
} from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { csrfOf, type FlowFixture, flowParty, messageIds, nodeNames, PASSWORD } from './fixture.ts'

let fixture: FlowFixture
let others: Awaited<ReturnType<typeof flowParty>>
beforeAll(async () => {
  fixture = await bootFactors()
  others = await flowParty(fixture.app)
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
beforeEach(() => {
  email = `guarded-${people++}@example.com`
  // Nobody's code of the test before is still shown.
  fixture.clock.jump(MINUTE)
})

const totp = (totp_code: string) => ({ method: 'totp', totp_code })
/** Of no browser that was given one. */
const COOKIE = 'gatehouse_browser=x'
const PRESS_TOTP: [string, string] = ['method', 'totp']
const PRESS_PASSWORD: [string, string] = ['method', 'password']

const saysOtherBrowser = ({ status, text }: Page) =>
  expect({ status, text }).toEqual({
    status: 403,
    text: expect.stringContaining('You started in another browser'),
  })

describe('a sign-in with a second factor begins by key and session', () => {
  const ask = (headers: Record<string, string>, query = '?aal=aal2') =>
    fixture.ask('login', headers, query)

  test('and is of that session, whose token it answers with', async () => {
    const { secret, token } = await enrolled(fixture, email)
    const before = await sessionOf(fixture, token)
    const flow = (await ask(withToken(token))).body
    expect(flow).toMatchObject({ requested_aal: 'aal2', refresh: false })
    expect(messageIds(flow)).toEqual([1010004])
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])

    const fields = totp(nextCode(fixture, secret))
    const done = await fixture.sendWell(flow, fields, withToken(token))

    expect(done).toMatchObject({
      session_token: token,
      session: {
        id: before.id,
        token,
        authenticated_at: new Date(fixture.clock.now()).toISOString(),
        authenticator_assurance_level: 'aal2',
      },
    })
    expect(await fixture.whoami(token)).toMatchObject({ status: 200, body: { id: before.id } })
  })

  test('also of a session that owes it', async () => {
    const { secret } = await enrolled(fixture, email)
    const { token } = await halfway(fixture, email)
    const flow = (await ask(withToken(token))).body
    expect(await fixture.whoami(token)).toMatchObject({ status: 403 })
    await fixture.sendWell(flow, totp(nextCode(fixture, secret)), withToken(token))
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  })

  test('401 without a token, with a wrong one, and with one of another tenant', async () => {
    await enrolled(fixture, email)
    const stranger = await others.register(email)
    for (const headers of [{}, withToken('garbage'), withToken(stranger.session_token)])
      expect(await ask(headers as Record<string, string>)).toMatchObject({
        status: 401,
        body: { error: expect.stringContaining('session token') },
      })
  })

  test('400 for somebody who has none, or whose tenant asks for none', async () => {
    const { session_token } = await fixture.register(email)
    expect(await ask(withToken(session_token))).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('aal: ') },
    })
    const elsewhere = await others.register(email)
    expect(
      await others.ask('login', withToken(elsewhere.session_token), '?aal=aal2'),
    ).toMatchObject({ status: 400 })
  })

  test('400 for levels that there are not', async () => {
    const { token } = await enrolled(fixture, email)
    for (const query of ['?aal=aal3', '?aal=', '?aal=2', '?refresh=yes', '?refresh='])
      expect(await ask(withToken(token), query)).toMatchObject({
        status: 400,
        body: { error: expect.any(String) },
      })
  })

  test('and a plain one needs no session, and looks at none', async () => {
    const { token } = await enrolled(fixture, email)
    for (const query of ['', '?aal=aal1', '?refresh=false'])
      for (const headers of [{}, withToken(token), withToken('garbage')]) {
        const { status, body } = await ask(headers as Record<string, string>, query)
        expect({ status, names: nodeNames(body) }).toEqual({
          status: 200,
          names: ['default:identifier', 'password:password', 'password:method=password'],
        })
      }
  })
})

describe('a session that owes a second factor', () => {
  test('is told to nobody: 403, with the name of what is missing', async () => {
    await enrolled(fixture, email)
    const { token } = await halfway(fixture, email)
    const { status, body } = await fixture.whoami(token)
    expect({ status, body }).toEqual({
      status: 403,
      body: {
        error: 'the session requires two-factor authentication',
        id: 'session_aal2_required',
      },
    })
  })

  test('is listed and can be ended by the tenant', async () => {
    const { identity } = await enrolled(fixture, email)
    const { token, signedIn } = await halfway(fixture, email)
    const listed = (await fixture.api.get(`/v1/gate/identities/${identity.id}/sessions`)).body
    expect(listed[0]).toMatchObject({
      id: signedIn.session.id,
      authenticator_assurance_level: 'aal1',
    })
    await fixture.api.delete(`/v1/gate/sessions/${signedIn.session.id}`)
    expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  })

  test('of somebody who was deactivated meanwhile is made whole by nothing', async () => {
    const { secret, identity } = await enrolled(fixture, email)
    const { flow, token } = await halfway(fixture, email)
    await fixture.setState(identity, 'inactive')
    const answer = await fixture.send(flow, totp(nextCode(fixture, secret)))
    expect([401, 422]).toContain(answer.status)
    expect(JSON.stringify(answer.body)).not.toContain(token)
    expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  })

  test('whose flow has expired goes on in another, with the same token in the end', async () => {
    const { secret } = await enrolled(fixture, email)
    const { flow, token } = await halfway(fixture, email)
    fixture.clock.jump(HOUR)
    const { body: gone } = await fixture.send(flow, {}, withToken(token))
    expect(gone.id).toBe('self_service_flow_expired')
    const url = `${flow.ui.action.split('?')[0]}?flow=${gone.use_flow_id}`
    const next = (await read(fixture, url, withToken(token))).body
    expect(next.requested_aal).toBe('aal2')

    const done = await fixture.send(next, totp(nextCode(fixture, secret)), withToken(token))

    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
    expect(done).toMatchObject({ status: 200, body: { session_token: token } })
  })
})

describe('the way through pages', () => {
  test('of a sign-in leads from the password to the second factor and to the app', async () => {
    const { secret } = await enrolled(fixture, email)
    const flow = await fixture.start('login', { 'x-return-to': RETURN_TO })
    const browser = newBrowser(fixture.app)

    const first = await browser.signIn(flow.hosted_url, email, PASSWORD)
    const asked = await browser.follow(first)
    expect(asked.status).toBe(200)
    expect(asked.text).toContain('Two-factor authentication for')
    const wrong = await browser.press(asked, PRESS_TOTP, { totp_code: '12345' })
    expect(wrong.status).toBe(422)
    const done = await browser.press(asked, PRESS_TOTP, { totp_code: nextCode(fixture, secret) })

    expect(done.status).toBe(303)
    expect(new URL(done.location).origin).toBe('https://app.example.com')
    const { searchParams } = new URL(done.location)
    const { body } = await fixture.api.post('/v1/gate/sessions/exchange', {
      flow: searchParams.get('flow'),
      code: searchParams.get('code'),
    })
    expect(body.session).toMatchObject({
      authenticator_assurance_level: 'aal2',
      identity: { traits: { email } },
    })
    expect(await sessionOf(fixture, body.session_token)).toMatchObject({ id: body.session.id })
  })

  test('of a sign-in without an app ends at the account', async () => {
    const { secret } = await enrolled(fixture, email)
    const browser = newBrowser(fixture.app)
    const { hosted_url } = await fixture.start('login')
    const asked = await browser.follow(await browser.signIn(hosted_url, email, PASSWORD))
    const done = await browser.follow(
      await browser.press(asked, PRESS_TOTP, { totp_code: nextCode(fixture, secret) }),
    )
    expect(done.status).toBe(200)
    expect(done.text).toContain(`You're signed in as ${email}.`)
    expect(done.forms).not.toEqual([])
  })
})

/** The ways to a flow that acts for a session, each opened by a browser and not by a program. */
const ACTING: Record<string, () => Promise<{ browser: Browser; url: string }>> = {
  'about settings': async () => {
    const { session_token } = await fixture.register(email)
    const { hosted_url: url } = await fixture.settings(session_token)
    return { browser: await opened(url), url }
  },
  'about settings, at the end of a sign-in': async () => {
    await fixture.register(email)
    const browser = newBrowser(fixture.app)
    const { hosted_url } = await fixture.start('login')
    const { location: url } = await browser.signIn(hosted_url, email, PASSWORD)
    return { browser, url }
  },
  'for the second factor': async () => {
    await enrolled(fixture, email)
    const browser = newBrowser(fixture.app)
    const { hosted_url } = await fixture.start('login')
    const { location: url } = await browser.signIn(hosted_url, email, PASSWORD)
    return { browser, url }
  },
  'for the second factor, begun by a program': async () => {
    await enrolled(fixture, email)
    const { flow } = await halfway(fixture, email)
    return { browser: await opened(flow.hosted_url), url: flow.hosted_url }
  },
  'for a sign-in once more': async () => {
    const { session_token } = await fixture.register(email)
    const flow = await fixture.start('login', withToken(session_token), '?refresh=true')
    return { browser: await opened(flow.hosted_url), url: flow.hosted_url }
  },
}

async function opened(url: string): Promise<Browser> {
  const browser = newBrowser(fixture.app)
  expect(await browser.visit(url)).toMatchObject({ status: 200 })
  return browser
}

describe.each(Object.entries(ACTING))('a flow %s', (_, begin) => {
  test('is of the browser that opened it first, however often', async () => {
    const { browser, url } = await begin()
    for (let n = 0; n < 3; n++) expect(await browser.visit(url)).toMatchObject({ status: 200 })
    expect(browser.cookies.size).toBe(1)
  })

  test('is shown to no other browser, with a cookie or without', async () => {
    const { browser, url } = await begin()
    const second = newBrowser(fixture.app)
    for (let n = 0; n < 2; n++) {
      const page = await second.visit(url)
      saysOtherBrowser(page)
      expect(page.html).not.toContain(email)
      expect(page.forms).toEqual([])
    }
    saysOtherBrowser(await newBrowser(fixture.app, { cookie: 'gatehouse_browser=' }).visit(url))
    saysOtherBrowser(await newBrowser(fixture.app, { cookie: COOKIE }).visit(url))
    expect(await browser.visit(url)).toMatchObject({ status: 200 })
  })

  test('is taken from no other browser, though it knows what the form has in it', async () => {
    const { browser, url } = await begin()
    const [form] = (await browser.visit(url)).forms
    const before = rowsOf(fixture.app, 'gate_credentials').length
    const fields = { ...form?.hidden, method: 'password', password: PASSWORD }
    for (const other of [newBrowser(fixture.app), newBrowser(fixture.app, { cookie: COOKIE })])
      expect(await other.post(url, fields)).toMatchObject({ status: 403, forms: [] })
    expect(rowsOf(fixture.app, 'gate_credentials')).toHaveLength(before)
  })

  test.each([
    ['nothing', () => ({})],
    ['a token that is none', () => withToken('garbage')],
    [
      'the token of somebody else',
      async () => withToken((await fixture.register(`else-${email}`)).session_token),
    ],
    [
      'a token of another tenant',
      async () => withToken((await others.register(email)).session_token),
    ],
  ])('is neither told to nor taken from a program that shows %s', async (_, headers) => {
    const { browser, url } = await begin()
    const csrf_token = (await browser.visit(url)).forms[0]?.hidden.csrf_token
    const given = (await headers()) as Record<string, string>

    const answer = await read(fixture, url, given)
    expect(JSON.stringify(answer.body)).not.toContain(email)
    expect([401, 403]).toContain(answer.status)
    const sent = await fixture.app.raw(new URL(url).pathname + new URL(url).search, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...given },
      body: JSON.stringify({ csrf_token, method: 'password', password: PASSWORD }),
    })
    expect([401, 403]).toContain(sent.status)
    expect(await browser.visit(url)).toMatchObject({ status: 200 })
  })

  test('that has expired leads on nobody but its browser', async () => {
    const { browser, url } = await begin()
    fixture.clock.jump(HOUR)
    const before = rowsOf(fixture.app, 'gate_flows').length
    expect(await newBrowser(fixture.app).visit(url)).toMatchObject({ location: '', forms: [] })
    for (const headers of [{}, withToken('garbage')] as Record<string, string>[]) {
      const { status, body } = await read(fixture, url, headers)
      expect([401, 403, 410]).toContain(status)
      expect(body).not.toHaveProperty('use_flow_id')
    }
    expect(rowsOf(fixture.app, 'gate_flows')).toHaveLength(before)
    expect(await browser.visit(url)).toMatchObject({ status: 303 })
  })

  test('is told to a program of the same browser', async () => {
    const { browser, url } = await begin()
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
    expect(await read(fixture, url, { cookie })).toMatchObject({ status: 200 })
  })
})

test('a flow that acts for a session takes a form from no program without the token of that person', async () => {
  const { secret, token } = await enrolled(fixture, email)
  const stranger = await fixture.register(`else-${email}`)
  const elsewhere = await others.register(email)
  const { flow, token: half } = await halfway(fixture, email)
  const refresh = await fixture.start('login', withToken(token), '?refresh=true')
  const proof = { method: 'password', password: PASSWORD }
  for (const wrong of [undefined, 'garbage', stranger.session_token, elsewhere.session_token]) {
    const code = totp(nextCode(fixture, secret))
    expect([401, 403]).toContain((await sendBare(fixture, flow, code, wrong)).status)
    expect([401, 403]).toContain((await sendBare(fixture, refresh, proof, wrong)).status)
    const { status, body } = await read(fixture, refresh.ui.action, wrong ? withToken(wrong) : {})
    expect([401, 403]).toContain(status)
    expect(JSON.stringify(body)).not.toContain(email)
  }
  const code = totp(nextCode(fixture, secret))
  expect(await sendBare(fixture, flow, code, half)).toMatchObject({ status: 200 })
  expect(await sendBare(fixture, refresh, proof, token)).toMatchObject({ status: 200 })
})

describe('a flow about settings', () => {
  test('that no browser has opened is told to no program without a token', async () => {
    const { session_token } = await fixture.register(email)
    const { hosted_url } = await fixture.settings(session_token)
    expect(await read(fixture, hosted_url)).toMatchObject(refuses(401, 'session_inactive'))
    expect(await read(fixture, hosted_url, { cookie: 'gatehouse_browser=x' })).toMatchObject(
      refuses(401, 'session_inactive'),
    )
  })

  test('that a browser has opened is still told to whoever shows the token', async () => {
    const { session_token } = await fixture.register(email)
    const { hosted_url } = await fixture.settings(session_token)
    await opened(hosted_url)
    expect(await read(fixture, hosted_url, withToken(session_token))).toMatchObject({ status: 200 })
  })

  test('is sent by the browser alone with the token of its form', async () => {
    const { session_token } = await fixture.register(email)
    const { hosted_url } = await fixture.settings(session_token)
    const browser = await opened(hosted_url)
    const fields = { method: 'password', password: NEW_PASSWORD }
    for (const csrf_token of ['', 'x', csrfOf(await fixture.start('login'))])
      expect(await browser.post(hosted_url, { ...fields, csrf_token })).toMatchObject({
        status: 403,
        forms: [],
      })
    expect(await fixture.tryPassword(email, NEW_PASSWORD)).toMatchObject(complains(4000006))
  })

  test('is of the first of two browsers that open it at once', async () => {
    const { session_token } = await fixture.register(email)
    const { hosted_url } = await fixture.settings(session_token)
    const browsers = [newBrowser(fixture.app), newBrowser(fixture.app)]
    const pages = await Promise.all(browsers.map((browser) => browser.visit(hosted_url)))
    expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 403])
  })

  test('is closed to its browser once the session has ended', async () => {
    const { session_token, identity } = await fixture.register(email)
    const { hosted_url } = await fixture.settings(session_token)
    const browser = await opened(hosted_url)
    const page = await browser.visit(hosted_url)
    await fixture.api.delete(`/v1/gate/identities/${identity.id}/sessions`)

    const after = await browser.visit(hosted_url)
    expect([401, 403]).toContain(after.status)
    expect(after.html).not.toContain(email)
    const sent = await browser.press(page, PRESS_PASSWORD, { password: NEW_PASSWORD })
    expect([401, 403]).toContain(sent.status)
    expect(await fixture.tryPassword(email, NEW_PASSWORD)).toMatchObject(complains(4000006))
  })

  test('is shown after a change to its browser alone', async () => {
    const { session_token } = await fixture.register(email)
    const { hosted_url } = await fixture.settings(session_token)
    const browser = await opened(hosted_url)
    const page = await browser.visit(hosted_url)
    const changed = await browser.press(page, ['method', 'profile'])

    saysOtherBrowser(await newBrowser(fixture.app).visit(changed.location))
    saysOtherBrowser(await newBrowser(fixture.app).visit(hosted_url))
    expect(await browser.follow(changed)).toMatchObject({ status: 200 })
  })
})

test('a flow that acts for no session may be opened by any browser', async () => {
  for (const kind of ['login', 'registration', 'recovery', 'verification']) {
    const { hosted_url } = await fixture.start(kind)
    for (let n = 0; n < 2; n++)
      expect(await newBrowser(fixture.app).visit(hosted_url)).toMatchObject({ status: 200 })
    expect(await read(fixture, hosted_url)).toMatchObject({ status: 200 })
  }
})

test('a tenant that is suspended starts no flows; sessions that there are go on', async () => {
  await using own = await bootFactors()
  const { token } = await enrolled(own, email)
  await own.app.platform.tenants.suspend(ACTOR, own.tenantId, 'billing')
  for (const [kind, query] of [
    ['login', ''],
    ['login', '?refresh=true'],
    ['login', '?aal=aal2'],
    ['registration', ''],
    ['recovery', ''],
    ['verification', ''],
    ['settings', ''],
  ] as const)
    expect((await own.ask(kind, withToken(token), query)).status).toBe(402)
  expect(await own.whoami(token)).toMatchObject({ status: 200 })
  expect(
    rowsOf(own.app, 'gate_flows').filter(({ completed_at }: Json) => completed_at === null),
  ).toHaveLength(2)
})
