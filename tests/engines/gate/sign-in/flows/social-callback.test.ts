import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { sha256 } from '../../../../../src/platform/crypto.ts'
import {
  type Arrival,
  newAccount,
  newSigningKey,
  type Tamper,
} from '../../../../support/social/index.ts'
import { ACTOR, IDENTITIES, type Json, MINUTE, SECOND } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import { HOUR, isAlive, read, withToken } from './acts.ts'
import { newBrowser, type Page } from './browser.ts'
import { messageIds, PASSWORD, pathOf } from './fixture.ts'
import { type Back, bootSocial, callbackOf, startFakes } from './social-fixture.ts'

const fakes = await startFakes()
const fixture = await bootSocial(fakes)
afterAll(async () => {
  await fixture.stop()
  await fakes.stop()
})
beforeEach(() => fakes.openId.tamper())

const { app, arrive, begin, comeWith, exchange, flowAt, leave, press, send, travel, visit } =
  fixture

const people = () => rowsOf(app, 'gate_identities').length
const sessions = () => rowsOf(app, 'gate_sessions').length

/** Somebody has been to the provider, and is about to come back. */
async function onTheWay(provider: ProviderName = 'google', account = newAccount()) {
  const flow = await begin('login')
  const arrival = await visit(await leave(flow, provider), provider, account)
  return { account, flow, arrival }
}

const changed = ({ method, params }: Arrival, changes: Record<string, string | null>): Arrival => {
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name)
    else next.set(name, value)
  }
  return { method, params: next }
}

/** A page that says no, leads nowhere, and has nothing to fill in. */
function expectRefused(page: Page) {
  expect(page.status).toBe(403)
  expect(page.location).toBe('')
  expect(page.headers.get('content-type')).toStartWith('text/html')
  expect(page.forms).toEqual([])
}

/** What a flow says when somebody is back on its page. */
async function saidAt(page: Back, flow: Json): Promise<(number | string)[]> {
  expect(page.location).toBe(flow.hosted_url)
  return messageIds(await flowAt(page))
}

describe('a state', () => {
  test.each([
    ['is made up', 'x'.repeat(43)],
    ['is empty', ''],
    ['is missing', null],
    ['is huge', 'x'.repeat(5000)],
    ['is another in part', 'x'],
  ])('that %s leads nowhere', async (_, state) => {
    const { arrival } = await onTheWay()
    const before = [people(), sessions()]
    const given = state === 'x' ? `${arrival.params.get('state')?.slice(0, -1)}x` : state
    const last = arrival.params.get('state')?.endsWith('x') ? 'y' : 'x'

    const page = await arrive(
      'google',
      changed(arrival, { state: given?.replace(/x$/, last) ?? null }),
    )

    expectRefused(page)
    expect([people(), sessions()]).toEqual(before)
    // And whoever it belongs to is not kept out by that.
    expect((await exchange(await arrive('google', arrival))).session.active).toBe(true)
  })

  test('is good once', async () => {
    const { arrival } = await onTheWay()
    const page = await arrive('google', arrival)
    const before = sessions()

    expectRefused(await arrive('google', arrival))

    expect(sessions()).toBe(before)
    expect((await exchange(page)).session.active).toBe(true)
  })

  test('is good once, however it was used: an answer that is no good uses it up', async () => {
    const { arrival, flow } = await onTheWay()
    const bad = await arrive('google', changed(arrival, { code: 'made-up' }))
    expect(await saidAt(bad, flow)).toEqual([4900004])

    expectRefused(await arrive('google', arrival))
  })

  test('that comes twice at once is good for one of them', async () => {
    const { arrival } = await onTheWay('github')
    const before = [people(), sessions()] as [number, number]

    const pages = await Promise.all(Array.from({ length: 5 }, () => arrive('github', arrival)))

    expect(pages.map(({ status }) => status).sort()).toEqual([303, 403, 403, 403, 403])
    expect([people(), sessions()]).toEqual([before[0] + 1, before[1] + 1])
    await exchange(pages.find(({ status }) => status === 303) as Page)
  })

  test.each([
    ['google', 'gitlab'],
    ['github', 'discord'],
    ['apple', 'google'],
  ] as [ProviderName, ProviderName][])(
    'of a way to %s is not taken where %s comes back',
    async (provider, other) => {
      const { arrival } = await onTheWay(provider)

      expectRefused(await arrive(other, arrival))

      // It was left for the provider that it belongs to.
      await exchange(await arrive(provider, arrival))
    },
  )

  test.each([
    [30 * MINUTE, false],
    [30 * MINUTE - 1, true],
  ])('is good for half an hour: %d ms later that is %p', async (ms, isGood) => {
    const { arrival } = await onTheWay('github')
    fixture.clock.jump(ms)

    const page = await arrive('github', arrival)

    if (isGood) await exchange(page)
    else expectRefused(page)
  })

  test('is good no longer than the flow that it was made for', async () => {
    const flow = await begin('login')
    fixture.clock.jump(HOUR - 10 * SECOND)
    const arrival = await visit(await leave(flow, 'github'), 'github', newAccount())
    fixture.clock.jump(10 * SECOND)
    const before = people()

    expectRefused(await arrive('github', arrival))

    expect(people()).toBe(before)
  })

  test('is given up for later ones when there are more than ten of one flow', async () => {
    const flow = await begin('login')
    const urls: string[] = []
    for (let n = 0; n < 11; n++) {
      urls.push(await leave(flow, 'github'))
      fixture.clock.jump(SECOND)
    }
    const come = async (url: string | undefined) =>
      arrive('github', await visit(url ?? '', 'github', newAccount()))

    expectRefused(await come(urls[0]))

    await exchange(await come(urls[1]))
  })

  test('says nothing of who it belongs to, and is another each time', async () => {
    const flow = await begin('login')
    const urls = [await leave(flow, 'github'), await leave(flow, 'github')]
    const states = urls.map((url) => new URL(url).searchParams.get('state') as string)

    expect(new Set(states).size).toBe(2)
    for (const state of states) {
      expect(state).toMatch(/^[0-9A-Za-z]{40,}$/)
      expect(urls.join()).not.toContain(flow.id)
    }
  })
})

describe('a way that began on a page', () => {
  async function fromPage(provider: ProviderName = 'google') {
    const browser = newBrowser(app)
    const { hosted_url } = await begin('login')
    const sent = await browser.press(await browser.visit(hosted_url), ['provider', provider])
    const arrival = await visit(sent.location, provider, newAccount())
    return { browser, arrival }
  }

  test.each([...PROVIDERS])('to %s ends in the same browser alone', async (provider) => {
    const { browser, arrival } = await fromPage(provider)
    const other = newBrowser(app)
    await other.visit((await begin('login')).hosted_url)
    const before = people()

    expectRefused(await arrive(provider, arrival, newBrowser(app)))
    expectRefused(await arrive(provider, arrival, other))
    expect(people()).toBe(before)

    await exchange(await arrive(provider, arrival, browser))
  })

  test('is remembered by a cookie that neither scripts nor forms elsewhere can use', async () => {
    const page = await newBrowser(app).visit((await begin('login')).hosted_url)

    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-gatehouse_browser=[0-9A-Za-z]{40,}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ])
  })

  test('is not tied to a cookie of somebody else’s choice', async () => {
    const { arrival, browser } = await fromPage()

    const name = '__Host-gatehouse_browser'
    // The last one is what a sibling domain can plant: the right value, under a name without the prefix.
    const planted = `gatehouse_browser=${browser.cookies.get(name)}`
    for (const cookie of [`${name}=`, `${name}=x`, `${name}=null`, planted]) {
      const page = await newBrowser(app, { cookie }).visit(
        `${callbackOf('google')}?${arrival.params}`,
      )
      expectRefused(page)
    }
  })
})

describe('the provider that says no', () => {
  test.each([...PROVIDERS])('(%s) leads back to the flow, which goes on', async (provider) => {
    const account = newAccount()
    const { identity } = await fixture.register(account.email as string)
    const flow = await begin('login')

    const page = await travel(flow, provider, newAccount(), { press: 'deny' })

    const shown = await flowAt(page)
    expect(page.location).toBe(flow.hosted_url)
    expect(messageIds(shown)).toEqual([4900003])
    expect(shown.ui.messages[0].context).toMatchObject({ provider_id: provider })
    const { status, body } = await send(shown, {
      method: 'password',
      identifier: account.email,
      password: PASSWORD,
    })
    expect(status).toBe(200)
    expect(body.session.identity.id).toBe(identity.id)
  })

  test('leads back to the page, where one may try again', async () => {
    const browser = newBrowser(app)
    const { hosted_url } = await begin('registration')
    const start = await browser.visit(hosted_url)

    const denied = await press(browser, start, 'apple', newAccount(), { choice: 'deny' })
    expect(denied.location).toBe(hosted_url)
    const again = await browser.follow(denied)
    expect(again.text).toContain('Apple was denied or cancelled')

    await exchange(await press(browser, again, 'apple', newAccount()))
  })

  test('is not quoted, in pages or in the log', async () => {
    const { arrival, flow } = await onTheWay()
    const from = app.log.length
    const params = {
      code: null,
      error: 'access_denied',
      error_description: '<b>a-stranger-wrote-this</b>',
      error_uri: 'https://evil.example/a-stranger-wrote-this',
    }

    const page = await arrive('google', changed(arrival, params))

    expect(await saidAt(page, flow)).toEqual([4900003])
    const { html } = await newBrowser(app).visit(page.location)
    for (const seen of [html, page.location, ...app.log.slice(from)])
      expect(seen).not.toContain('a-stranger-wrote-this')
  })

  test('is said until somebody goes on, and not beside what comes next', async () => {
    const party = await fixture.party()
    await party.security({ passwordless_enabled: true })
    const flow = await party.begin('login')
    const denied = await party.travel(flow, 'google', newAccount(), { press: 'deny' })
    const shown = await party.flowAt(denied)

    const sent = await party.send(shown, { method: 'code', identifier: 'ada@example.com' })

    expect(sent).toMatchObject({ status: 200 })
    expect(messageIds(sent.body)).toEqual([1010014])
  })
})

describe('an answer that we cannot use', () => {
  const claiming =
    (changes: Json): Tamper =>
    ({ claims }) => {
      Object.assign(claims, changes)
    }

  const headed =
    (changes: Json): Tamper =>
    ({ header }) => {
      Object.assign(header, changes)
    }

  const signedElsewhere: Tamper = (token) => {
    token.key = { ...newSigningKey(), kid: token.key.kid }
  }

  const YEAR_S = 365 * 86_400

  test.each<[string, Tamper]>([
    ['is not signed', headed({ alg: 'none' })],
    ['is signed with our secret', headed({ alg: 'HS256' })],
    ['is signed by somebody else', signedElsewhere],
    ['is for another client', claiming({ aud: 'another' })],
    ['is from elsewhere', claiming({ iss: 'https://evil.example' })],
    ['is of last year', claiming({ exp: Date.parse('2026-03-01') / 1000 - YEAR_S })],
    ['names nobody', claiming({ sub: '' })],
  ])('because it %s lets nobody in', async (_, tamper) => {
    const { flow, arrival } = await onTheWay()
    const before = [people(), sessions()]
    fakes.openId.tamper(tamper)

    const page = await arrive('google', arrival)

    expect(await saidAt(page, flow)).toEqual([4900004])
    expect([people(), sessions()]).toEqual(before)
  })

  const WITH_NONCE: ProviderName[] = ['google', 'gitlab', 'microsoft', 'apple', 'slack', 'twitch']

  test.each(WITH_NONCE)(
    'because %s answers to another question lets nobody in',
    async (provider) => {
      for (const nonce of ['another', undefined]) {
        const { flow, arrival } = await onTheWay(provider)
        const before = people()
        fakes.openId.tamper(({ claims }) => {
          expect(claims.nonce).toBeString()
          if (nonce === undefined) delete claims.nonce
          else claims.nonce = nonce
        })

        expect(await saidAt(await arrive(provider, arrival), flow)).toEqual([4900004])
        expect(people()).toBe(before)
        fakes.openId.tamper()
      }
    },
  )

  // LinkedIn takes neither a challenge nor a nonce: there, only the state is in the way of this.
  test.each(PROVIDERS.filter((name) => name !== 'linkedin'))(
    'because the code is of another way to %s lets nobody in',
    async (provider) => {
      const mine = await onTheWay(provider)
      const theirs = await onTheWay(provider)
      const before = [people(), sessions()]
      const code = theirs.arrival.params.get('code')

      const page = await arrive(provider, changed(mine.arrival, { code }))

      expect(await saidAt(page, mine.flow)).toEqual([4900004])
      expect([people(), sessions()]).toEqual(before)
    },
  )

  test.each([...PROVIDERS])(
    'because the code of %s was used before lets nobody in',
    async (provider) => {
      const first = await onTheWay(provider)
      await exchange(await arrive(provider, first.arrival))
      const { flow, arrival } = await onTheWay(provider)
      const before = sessions()

      const code = first.arrival.params.get('code')
      const page = await arrive(provider, changed(arrival, { code }))

      expect(await saidAt(page, flow)).toEqual([4900004])
      expect(sessions()).toBe(before)
    },
  )

  test.each<[string, Record<string, string | null>]>([
    ['has neither a code nor an error', { code: null }],
    ['is an error of theirs', { code: null, error: 'server_error' }],
    ['is an error in no known word', { code: null, error: 'a b<c>' }],
    ['has a code that is made up', { code: 'made-up' }],
    ['says that it is from elsewhere', { iss: 'https://evil.example' }],
  ])('because it %s leads back to the flow, which goes on', async (_, changes) => {
    const { flow, arrival } = await onTheWay()

    const page = await arrive('google', changed(arrival, changes))

    expect(await saidAt(page, flow)).toEqual([4900004])
    await exchange(await travel(flow, 'google', newAccount()))
  })

  test.each<[ProviderName, string, Json]>([
    ['github', 'an id in words', { id: 'seven' }],
    ['discord', 'an id that is a number', { id: 7 }],
    ['facebook', 'no id', { id: null }],
    ['spotify', 'a list of ids', { account_id: ['x'] }],
    ['discord', 'two words for an address', { email: 'a b@example.com' }],
  ])('because %s says nonsense of somebody (%s) lets nobody in', async (provider, _, claims) => {
    const { flow, arrival } = await onTheWay(provider, newAccount({ claims }))
    const before = people()

    expect(await saidAt(await arrive(provider, arrival), flow)).toEqual([4900004])

    expect(people()).toBe(before)
  })

  test('because it would come in the clear is not even asked for', async () => {
    await using apart = await bootSocial(fakes, {
      flags: { 'gate-providers-github-token-url': 'http://github.example/token' },
    })

    const answer = await apart.send(await apart.begin('login'), { provider: 'github' })

    expect(answer.status).toBe(422)
    expect(messageIds(answer.body)).toEqual([4900004])
  })

  test('because nobody answers at all leads back to the flow', async () => {
    await using apart = await bootSocial(fakes, {
      flags: { 'gate-providers-github-token-url': 'http://127.0.0.1:1/token' },
    })
    const flow = await apart.begin('login')

    const page = await apart.travel(flow, 'github', newAccount())

    expect(messageIds(await apart.flowAt(page))).toEqual([4900004])
  })

  test('is written to the log, with what was wrong and for which provider', async () => {
    const { arrival } = await onTheWay()
    fakes.openId.tamper(claiming({ aud: 'another' }))
    const from = app.log.length

    await arrive('google', arrival)

    const warnings = app.log.slice(from).filter((line) => line.includes('"warn"'))
    expect(warnings).toHaveLength(1)
    expect(JSON.parse(warnings[0] as string)).toMatchObject({ provider: 'google' })
  })
})

describe('a flow that is over when somebody comes back', () => {
  test('signs nobody in, and another one says why', async () => {
    const known = newAccount()
    await comeWith('google', known)
    const { flow, arrival } = await onTheWay('google', known)
    const email = `quicker-${known.id}@example.com`
    await fixture.register(email)
    await fixture.sendWell(flow, { method: 'password', identifier: email, password: PASSWORD })
    const before = sessions()

    const page = await arrive('google', arrival)

    expect(page.location).not.toBe(flow.hosted_url)
    const next = await flowAt(page)
    expect(messageIds(next)).toEqual([4010007])
    expect(next.return_to).toBe(flow.return_to)
    expect(sessions()).toBe(before)
  })

  /** Somebody was quicker in the same flow; where the one who comes back is sent. */
  async function overtaken(how: 'a page' | 'a program') {
    const known = newAccount()
    await comeWith('google', known)
    const { flow, arrival } = await onTheWay('google', known)
    const email = `quicker-${known.id}@example.com`
    await fixture.register(email)
    if (how === 'a page') await newBrowser(app).signIn(flow.hosted_url, email, PASSWORD)
    else await fixture.sendWell(flow, { method: 'password', identifier: email, password: PASSWORD })
    const browser = newBrowser(app)
    const page = await browser.follow(await arrive('google', arrival, browser))
    return { known, flow, browser, page, email }
  }

  test.each(['a page', 'a program'] as const)(
    'is followed by one that is for anybody, if it ended by %s',
    async (how) => {
      const { known, browser, page } = await overtaken(how)

      await exchange(await press(browser, page, 'google', known))
    },
  )

  test.each(['a page', 'a program'] as const)(
    'is followed by one that does not say who was quicker, if it ended by %s',
    async (how) => {
      const { page, email } = await overtaken(how)

      expect(page.status).toBe(200)
      expect(page.html).not.toContain(email)
    },
  )

  test('is followed by none where the tenant may start none', async () => {
    const own = await fixture.party()
    const flow = await own.begin('login')
    const arrival = await own.visit(await own.leave(flow, 'google'), 'google', newAccount())
    const email = `suspended-${flow.id}@example.com`
    await own.register(email)
    await own.sendWell(flow, { method: 'password', identifier: email, password: PASSWORD })
    await app.platform.tenants.suspend(ACTOR, own.tenantId, 'billing')
    const before = rowsOf(app, 'gate_flows').length

    const page = await own.arrive('google', arrival)

    expect(page.status).toBe(402)
    expect(page.text).toContain('Temporarily unavailable')
    expect(rowsOf(app, 'gate_flows')).toHaveLength(before)
  })

  test('is not followed, once it expires, by one that says who it was', async () => {
    const account = newAccount()
    const flow = await begin('login')
    await exchange(await travel(flow, 'google', account))
    fixture.clock.jump(HOUR)

    const { status, body } = await read(fixture, flow.ui.action)

    expect(status).toBe(410)
    const ids = [body.use_flow_id].filter((id) => id !== undefined)
    for (const id of ids) {
      const next = await read(fixture, flow.ui.action.replace(flow.id, id))
      expect(JSON.stringify(next.body)).not.toContain(account.email as string)
    }
  })

  test('makes nobody of a newcomer', async () => {
    const { flow, arrival } = await onTheWay('github')
    const other = await visit(await leave(flow, 'gitlab'), 'gitlab', newAccount())
    await exchange(await arrive('gitlab', other))
    const before = people()

    expect(messageIds(await flowAt(await arrive('github', arrival)))).toEqual([4010007])

    expect(people()).toBe(before)
  })

  test('connects nothing when it is about settings, or when its session has ended', async () => {
    for (const how of ['saved', 'ended'] as const) {
      const email = `over-${how}@example.com`
      const { session_token: token, session, identity } = await fixture.register(email)
      const flow = await begin('settings', withToken(token))
      const link = { provider: undefined, link: 'github' }
      const url = await leave(flow, 'github', link, withToken(token))
      const arrival = await visit(url, 'github', newAccount())
      if (how === 'saved')
        await fixture.sendWell(flow, { method: 'profile', traits: { email } }, withToken(token))
      else await fixture.api.delete(`/v1/gate/sessions/${session.id}`)

      const page = await arrive('github', arrival)

      expect(page.status).toBe(303)
      expect((await fixture.finish(flow, page, token)).status).toBe(how === 'saved' ? 422 : 401)
      expect(await fixture.accountsOf(identity)).toEqual([])
      expect(await isAlive(fixture, token)).toBe(how === 'saved')
    }
  })

  test('is gone with the person whose settings it was about', async () => {
    const { session_token: token, identity } = await fixture.register('gone@example.com')
    const flow = await begin('settings', withToken(token))
    const url = await leave(
      flow,
      'github',
      { provider: undefined, link: 'github' },
      withToken(token),
    )
    const arrival = await visit(url, 'github', newAccount())
    await fixture.api.delete(`${IDENTITIES}/${identity.id}`)

    const page = await arrive('github', arrival)

    expect([303, 403]).toContain(page.status)
    expect(
      rowsOf(app, 'gate_social_links').filter((row) => row.identity_id === identity.id),
    ).toEqual([])
  })
})

describe('the address where people come back', () => {
  test.each(['nobody', 'GitHub', 'gitlab-tenant', 'google%2F..%2Fgithub', '__proto__'])(
    'is not there for %s',
    async (name) => {
      const { arrival } = await onTheWay()
      const url = pathOf(callbackOf(name as ProviderName))

      const got = await app.raw(`${url}?${arrival.params}`, { headers: { accept: 'text/html' } })
      const posted = await fixture.post(
        `https://gate.example${url}`,
        Object.fromEntries(arrival.params),
      )

      expect([got.status, posted.status]).toEqual([404, 404])
      await exchange(await arrive('google', arrival))
    },
  )

  test('leads nowhere but to the app of the flow, whatever else it is told', async () => {
    const { arrival } = await onTheWay()
    const more = {
      return_to: 'https://evil.example/',
      redirect_uri: 'https://evil.example/',
      redirect: '//evil.example',
      next: 'https://evil.example/',
      flow: (await begin('login')).id,
    }
    const browser = newBrowser(app, {
      'x-return-to': 'https://evil.example/',
      'x-forwarded-host': 'evil.example',
      host: 'evil.example',
    })

    const page = await browser.visit(`${callbackOf('google')}?${changed(arrival, more).params}`)

    expect(page.location).not.toContain('evil')
    await exchange(page)
  })

  test('answers with a page even to who asks for none', async () => {
    const answer = await app.raw(`${pathOf(callbackOf('google'))}?state=x&code=y`)

    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toStartWith('text/html')
    expect(answer.headers.get('location')).toBeNull()
  })

  test('tells neither the app nor anybody on the way what came from the provider', async () => {
    const { arrival } = await onTheWay('github')

    const page = await arrive('github', arrival)

    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cache-control')).toBe('no-store')
    for (const value of arrival.params.values()) expect(page.location).not.toContain(value)
    expect(page.html).toBe('')
  })

  test('counts how often one comes, and keeps what belongs to whoever was sent off', async () => {
    await using small = await bootSocial(fakes, { flags: { 'limits-sign-ins-per-minute': '4' } })
    const flow = await small.begin('login')
    const arrival = await small.visit(await small.leave(flow, 'google'), 'google', newAccount())
    for (let n = 0; n < 3; n++)
      expectRefused(await small.arrive('google', changed(arrival, { state: `made-up-${n}` })))

    const page = await small.arrive('google', arrival)

    expect(page.status).toBe(429)
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0)
    await small.clock.advance(MINUTE)
    await small.exchange(await small.arrive('google', arrival))
  })
})

test('ways to a provider are counted: there is a limit to how many one address begins', async () => {
  await using small = await bootSocial(fakes, { flags: { 'limits-sign-ins-per-minute': '2' } })
  const flow = await small.begin('login')
  for (let n = 0; n < 2; n++) await small.leave(flow, 'google')

  const answer = await small.send(flow, { provider: 'google' })

  expect(answer.status).toBe(429)
  expect(messageIds(answer.body)).toEqual([4900002])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(rowsOf(small.app, 'gate_round_trips')).toHaveLength(2)
})

describe('a form that a provider sends (Apple)', () => {
  test('goes on as an address without cookies, and takes along what was in it', async () => {
    const { arrival } = await onTheWay('apple')
    expect(arrival.method).toBe('POST')

    const posted = await fixture.post(callbackOf('apple'), Object.fromEntries(arrival.params))

    expect(posted.status).toBe(303)
    expect(posted.headers.getSetCookie()).toEqual([])
    const url = new URL(posted.headers.get('location') ?? '')
    expect(url.origin + url.pathname).toBe(callbackOf('apple'))
    expect(Object.fromEntries(url.searchParams)).toEqual(Object.fromEntries(arrival.params))
    expect(posted.headers.get('referrer-policy')).toBe('no-referrer')
    expect(posted.headers.get('cache-control')).toBe('no-store')
  })

  test('uses nothing up by itself', async () => {
    const { arrival } = await onTheWay('apple')
    for (let n = 0; n < 2; n++)
      await fixture.post(callbackOf('apple'), Object.fromEntries(arrival.params))

    await exchange(await arrive('apple', arrival))
  })

  test('leads to a refusal when its state is made up', async () => {
    const { arrival } = await onTheWay('apple')

    expectRefused(await arrive('apple', changed(arrival, { state: 'made-up' })))
  })

  test('may come from any provider', async () => {
    const { arrival } = await onTheWay('github')

    await exchange(await arrive('github', { ...arrival, method: 'POST' }))
  })

  test('goes nowhere else, whatever is in it', async () => {
    const posted = await fixture.post(callbackOf('apple'), {
      'https://evil.example/': 'x',
      location: 'https://evil.example/',
      state: 'a\r\nset-cookie: x=y',
    })

    expect(posted.status).toBe(303)
    const url = new URL(posted.headers.get('location') ?? '')
    expect(url.origin + url.pathname).toBe(callbackOf('apple'))
    expect([...url.searchParams.keys()]).toEqual(['state'])
    expect(posted.headers.get('set-cookie')).toBeNull()
  })

  test('is not taken along when it is far too long', async () => {
    const posted = await fixture.post(callbackOf('apple'), {
      state: 's',
      user: 'x'.repeat(100_000),
    })

    expect(posted.status).toBe(303)
    expect(posted.headers.get('location')).toBe(`${callbackOf('apple')}?state=s`)
  })

  test.each([
    ['is neither a form nor JSON', 'text/plain', 'state=x', 415],
    ['is broken', 'application/json', '{', 400],
    ['is no object', 'application/json', '[]', 400],
  ])('is refused when it %s', async (_, type, body, status) => {
    const answer = await app.raw(pathOf(callbackOf('apple')), {
      method: 'POST',
      headers: { 'content-type': type, accept: 'text/html' },
      body,
    })

    expect(answer.status).toBe(status)
  })
})

describe('what is secret', () => {
  /** Every secret of one way there and back that can be seen from outside. */
  async function journey(provider: ProviderName) {
    const flow = await begin('login')
    const url = await leave(flow, provider)
    const { searchParams } = new URL(url)
    const arrival = await visit(url, provider, newAccount())
    const before = everything()
    const page = await arrive(provider, arrival)
    const { session_token } = await exchange(page)
    const secrets = {
      state: searchParams.get('state'),
      nonce: searchParams.get('nonce'),
      code: arrival.params.get('code'),
      handedOver: new URL(page.location).searchParams.get('code'),
      session_token,
    }
    const known = Object.entries(secrets).filter((entry): entry is [string, string] => !!entry[1])
    return { known, before, state: secrets.state as string }
  }

  /** The database as it lies on the disk, with its log. */
  const everything = () =>
    ['', '-wal'].map((suffix) => readFileSync(app.db.file + suffix, 'latin1')).join('')

  const SECRETS_OF_CLIENTS = [...PROVIDERS].flatMap((name) => {
    const { clientSecret, privateKey } = fakes.settingsOf(name)
    return [clientSecret, privateKey?.split('\n')[1]].filter((one) => one !== undefined)
  })

  test.each([...PROVIDERS])('of a way to %s is not in the log', async (provider) => {
    const from = app.log.length

    const { known } = await journey(provider)
    const { arrival } = await onTheWay(provider)
    const failing = changed(arrival, { code: 'a-code-that-is-made-up' })
    await arrive(provider, failing)

    const log = app.log.slice(from).join('\n')
    expect(log).toContain('/auth/self-service/methods/oidc/callback')
    expect(log).toContain('"warn"')
    for (const [name, secret] of [...known, ...failing.params])
      expect({ name, is: log.includes(secret) }).toEqual({ name, is: false })
    for (const secret of SECRETS_OF_CLIENTS) expect(log).not.toContain(secret)
    expect(log).not.toMatch(/access-[0-9a-f]{8}|refresh-access|eyJhbGci/)
  })

  test.each([...PROVIDERS])('of a way to %s cannot be read from the disk', async (provider) => {
    const { known, before, state } = await journey(provider)
    const after = everything()

    // It is looked at rightly: this is what stands there instead.
    expect(before).toContain(sha256(state))
    expect(rowsOf(app, 'gate_round_trips').some((row) => row.state_hash === sha256(state))).toBe(
      false,
    )
    for (const [name, secret] of known)
      for (const disk of [before, after])
        expect({ name, is: disk.includes(secret) }).toEqual({ name, is: false })
    for (const secret of SECRETS_OF_CLIENTS) expect(after).not.toContain(secret)
    expect(after).not.toMatch(/access-[0-9a-f]{8}-|refresh-access|eyJhbGciOi/)
    expect(before).not.toMatch(/"verifier"|"nonce"/)
  })

  test('of the accounts is kept, and sealed', async () => {
    const account = newAccount()
    const { identity } = await comeWith('github', account)
    const [link] = rowsOf(app, 'gate_social_links').filter((row) => row.identity_id === identity.id)

    expect(link.tokens).toBeString()
    expect(link.tokens).not.toContain('access')
    expect(() => JSON.parse(link.tokens)).toThrow()
  })

  test('of the accounts is sealed while its owner is asked for more, too', async () => {
    const account = newAccount({ email: null })
    const flow = await flowAt(await travel(await begin('login'), 'github', account))
    const [row] = rowsOf(app, 'gate_flows').filter(({ id }) => id === flow.id)

    expect(row.internal).toBeString()
    expect(row.internal).not.toContain(account.id)
    expect(everything()).not.toMatch(/access-[0-9a-f]{8}-/)
    expect(JSON.stringify(flow)).not.toMatch(/access-|pendingAccount/)
    expect(JSON.stringify(flow)).not.toContain(`#${account.id}`)
  })

  test.each([...PROVIDERS])('is sent to %s in no address', async (provider) => {
    const from = fakes.requests().length
    const { known } = await journey(provider)
    const asked = fakes
      .requests()
      .slice(from)
      .map(({ path }) => path)

    // The browser brings the state and the nonce there itself; a code comes back from there.
    const ours = known.filter(([name]) => name === 'handedOver' || name === 'session_token')
    for (const [, secret] of ours) expect(asked.join()).not.toContain(secret)
    for (const secret of SECRETS_OF_CLIENTS)
      expect(asked.join()).not.toContain(encodeURIComponent(secret))
    expect(asked.join()).not.toMatch(/access_token=|code_verifier=/)
  })
})
