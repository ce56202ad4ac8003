import { afterAll, describe, expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { sha256 } from '../../../../../src/platform/crypto.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { type Json, MINUTE } from '../../fixture.ts'
import { auditOf, rowsOf } from '../../identities/people.ts'
import { HOUR, isAlive, RETURN_TO, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { csrfOf, messageIds, nodeNames, PASSWORD, pathOf } from './fixture.ts'
import {
  bootSocial,
  codeIn,
  linkOf,
  named,
  type SocialParty,
  startFakes,
} from './social-fixture.ts'

const fakes = await startFakes()
const fixture = await bootSocial(fakes)
afterAll(async () => {
  await fixture.stop()
  await fakes.stop()
})

const { accountsOf, app, arrive, begin, comeWith, connect, eventsOf, finish, flowAt } = fixture
const { leave } = fixture
const { press, readIdentity, send, settings, travel, visit } = fixture

let made = 0

/** Somebody signed in, with a password. */
async function somebody(of: SocialParty = fixture) {
  const email = `settings-${made++}@example.com`
  const { session_token: token, identity } = await of.register(email)
  return { email, token: token as string, identity }
}

/** Somebody signed in who has these accounts, and no password. */
async function withAccounts(of: SocialParty, first: ProviderName, ...others: ProviderName[]) {
  const account = newAccount()
  const { session_token: token, identity } = await of.comeWith(first, account)
  for (const provider of others) await of.connect(token, provider, newAccount())
  expect(await of.accountsOf(identity)).toHaveLength(1 + others.length)
  return { account, token: token as string, identity }
}

const accountNodes = (flow: Json) => nodeNames(flow).filter((name) => name.startsWith('oidc:'))

/** By somebody who has found the flow, and has no session. */
const sendBare = (flow: Json, fields: Json) =>
  app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ csrf_token: csrfOf(flow), ...fields }),
  })

const disconnect = (token: string, provider: string, of: SocialParty = fixture) =>
  of.change(token, { method: 'oidc', unlink: provider })

/** On the way back from connecting an account. */
async function onTheWay(token: string, provider: ProviderName, account = newAccount()) {
  const flow = await begin('settings', withToken(token))
  const url = await leave(flow, provider, linkOf(provider), withToken(token))
  return { flow, account, arrival: await visit(url, provider, account) }
}

describe.each([...PROVIDERS])('an account at %s', (provider) => {
  test('is connected by way of a program, signs its owner in, and is disconnected', async () => {
    const { token, identity } = await somebody()
    const account = newAccount()
    const flow = await begin('settings', withToken(token))
    expect(accountNodes(flow)).toContain(`oidc:link=${provider}`)

    const page = await travel(flow, provider, account, {
      fields: linkOf(provider),
      headers: withToken(token),
    })

    expect(page.status).toBe(303)
    expect(page.location).toBe(`${RETURN_TO}?flow=${flow.id}&code=${codeIn(page)}`)
    const done = await finish(flow, page, token)
    expect(done).toMatchObject({ status: 200, body: { state: 'success' } })
    expect(await accountsOf(identity)).toEqual([named(provider, account)])
    expect(await isAlive(fixture, token)).toBe(true)
    expect((await comeWith(provider, account)).identity.id).toBe(identity.id)
    const after = accountNodes(await settings(token))
    expect(after).toContain(`oidc:unlink=${provider}`)
    expect(after).not.toContain(`oidc:link=${provider}`)

    expect(await disconnect(token, provider)).toMatchObject({
      status: 200,
      body: { state: 'success' },
    })

    expect(await accountsOf(identity)).toEqual([])
    expect((await comeWith(provider, account)).identity.id).not.toBe(identity.id)
  })

  test('is connected and disconnected on our pages', async () => {
    const { token, identity } = await somebody()
    const account = newAccount()
    const browser = newBrowser(app)
    const { hosted_url } = await begin('settings', withToken(token))
    const start = await browser.visit(hosted_url)

    const back = await press(browser, start, provider, account, { button: 'link' })

    const connected = await browser.follow(back)
    expect(connected.status).toBe(200)
    expect(connected.text).toContain('Your changes have been saved.')
    expect(await accountsOf(identity)).toEqual([named(provider, account)])

    const removed = await browser.follow(await browser.press(connected, ['unlink', provider]))

    expect(removed.text).toContain('Your changes have been saved.')
    expect(await accountsOf(identity)).toEqual([])
  })
})

describe('connecting an account', () => {
  test('changes nothing else: neither the address nor whether it is proven, nor sessions', async () => {
    const { email, token, identity } = await somebody()
    const { session_token: other } = await fixture.signIn(email)
    const before = await readIdentity(identity)

    await connect(token, 'google', newAccount())

    const { credentials, ...after } = await readIdentity(identity)
    const { credentials: _, ...rest } = before
    expect(after).toEqual(rest)
    expect(Object.keys(credentials).sort()).toEqual(['oidc', 'password'])
    for (const one of [token, other]) expect(await isAlive(fixture, one)).toBe(true)
    expect(eventsOf(identity).map(([type]) => type)).toEqual(['identity.created', 'identity.login'])
  })

  test.each([
    ['has no address', { email: null }],
    ['has one that nobody has checked', { isVerified: false }],
  ])('needs no address: one that %s is as good', async (_, fields) => {
    const { token, identity } = await somebody()
    const account = newAccount(fields)

    await connect(token, 'github', account)

    expect(await accountsOf(identity)).toEqual([named('github', account)])
    expect((await comeWith('github', account)).identity.id).toBe(identity.id)
  })

  test('takes one with the address of somebody else, who keeps everything', async () => {
    const other = await somebody()
    const { token, identity } = await somebody()
    const account = newAccount({ email: other.email })

    await connect(token, 'google', account)

    expect(await accountsOf(identity)).toEqual([named('google', account)])
    expect(await accountsOf(other.identity)).toEqual([])
    expect((await fixture.tryPassword(other.email)).status).toBe(200)
    expect(await isAlive(fixture, other.token)).toBe(true)
  })

  test('is written down, as done by the person', async () => {
    const { token, identity } = await somebody()

    await connect(token, 'gitlab', newAccount())
    await disconnect(token, 'gitlab')

    const lines = auditOf(app, `identity:${identity.id}`).filter(({ action }) =>
      action.startsWith('identity.account_'),
    )
    const about = { actor_kind: 'person', actor_id: identity.id }
    const detail = { provider: 'GitLab', provider_id: 'gitlab' }
    expect(lines).toEqual([
      { action: 'identity.account_connected', ...about, detail },
      { action: 'identity.account_disconnected', ...about, detail },
    ])
  })

  test('goes by way of the tenant’s server, too', async () => {
    const { token, identity } = await somebody()
    const account = newAccount()
    const { id: flow } = await begin('settings', withToken(token))

    const sent = await fixture.submit('settings', { flow, link: 'spotify' }, withToken(token))
    expect(sent.status).toBe(422)
    const arrival = await visit(sent.body.redirect_browser_to, 'spotify', account)
    const code = codeIn(await arrive('spotify', arrival))
    const fields = { flow, method: 'oidc', code }
    expect((await fixture.submit('settings', fields, withToken(token))).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([named('spotify', account)])

    const { id: next } = await settings(token)
    const removal = { flow: next, unlink: 'spotify' }
    expect((await fixture.submit('settings', removal, withToken(token))).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([])
  })

  test('is refused for one that belongs to somebody else', async () => {
    const account = newAccount()
    const { identity: owner } = await comeWith('discord', account)
    const { token, identity } = await somebody()
    const { flow, arrival } = await onTheWay(token, 'discord', account)

    const refused = await finish(flow, await arrive('discord', arrival), token)

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4000027])
    expect(await accountsOf(identity)).toEqual([])
    expect(await accountsOf(owner)).toEqual([named('discord', account)])
    expect((await comeWith('discord', account)).identity.id).toBe(owner.id)
    await leave(flow, 'gitlab', linkOf('gitlab'), withToken(token))
  })

  test('says on the page that it belongs to somebody else', async () => {
    const account = newAccount()
    await comeWith('slack', account)
    const { token, identity } = await somebody()
    const browser = newBrowser(app)
    const start = await browser.visit((await begin('settings', withToken(token))).hosted_url)

    const back = await press(browser, start, 'slack', account, { button: 'link' })

    const page = await browser.follow(back)
    expect(page.text).toContain('connected to another user')
    expect(await accountsOf(identity)).toEqual([])
  })

  test('is open to what belongs to somebody at another tenant', async () => {
    const account = newAccount()
    const other = await fixture.party()
    const { identity: there } = await other.comeWith('google', account)
    const { token, identity } = await somebody()

    await connect(token, 'google', account)

    expect(await accountsOf(identity)).toEqual([named('google', account)])
    expect(await other.accountsOf(there)).toEqual([named('google', account)])
  })

  test('is not offered for a second one at the same provider', async () => {
    const { token, identity } = await somebody()
    const account = newAccount()
    await connect(token, 'google', account)

    const refused = await fixture.change(token, { method: 'oidc', link: 'google' })

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4900009])
    expect(await accountsOf(identity)).toEqual([named('google', account)])
  })

  /** Somebody is back at the app, and has not gone on from there. */
  async function backAtApp(token: string, provider: ProviderName, account = newAccount()) {
    const { flow, arrival } = await onTheWay(token, provider, account)
    const back = await arrive(provider, arrival)
    return { flow, back, account, finish: () => finish(flow, back, token) }
  }

  test('of two at the same provider at once takes one', async () => {
    const { token, identity } = await somebody()
    const ways = [await backAtApp(token, 'google'), await backAtApp(token, 'google')]

    const answers = await Promise.all(ways.map((way) => way.finish()))

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const taken = answers.findIndex(({ status }) => status === 200)
    expect(messageIds(answers[1 - taken]?.body)).toEqual([4000027])
    expect(await accountsOf(identity)).toEqual([named('google', ways[taken]?.account as Account)])
  })

  test('of two at the same provider on two pages at once takes one', async () => {
    const { token, identity } = await somebody()
    const come = async () => {
      const browser = newBrowser(app)
      const { hosted_url } = await begin('settings', withToken(token))
      const sent = await browser.press(await browser.visit(hosted_url), ['link', 'google'])
      const arrival = await visit(sent.location, 'google', newAccount())
      return () => arrive('google', arrival, browser)
    }
    const ways = [await come(), await come()]

    const pages = await Promise.all(ways.map(async (way) => way()))

    const texts = await Promise.all(
      pages.map(async (back) => (await back.browser.follow(back)).text),
    )
    expect(texts.filter((text) => text.includes('Your changes have been saved.'))).toHaveLength(1)
    expect(texts.filter((text) => text.includes('connected to another user'))).toHaveLength(1)
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('of the same one twice at once is done once, and well both times', async () => {
    const { token, identity } = await somebody()
    const account = newAccount()
    const ways = [
      await backAtApp(token, 'github', account),
      await backAtApp(token, 'github', account),
    ]

    const answers = await Promise.all(ways.map((way) => way.finish()))

    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await accountsOf(identity)).toEqual([named('github', account)])
  })

  test('of one account by two people at once is for one of them', async () => {
    const people = [await somebody(), await somebody()] as const
    const account = newAccount()
    const ways = [
      await backAtApp(people[0].token, 'github', account),
      await backAtApp(people[1].token, 'github', account),
    ]

    const answers = await Promise.all(ways.map((way) => way.finish()))

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const [first, second] = [
      await accountsOf(people[0].identity),
      await accountsOf(people[1].identity),
    ]
    expect([...first, ...second]).toEqual([named('github', account)])
  })

  test('does not happen when the provider says no, and one may go on', async () => {
    const { token, identity } = await somebody()
    const flow = await begin('settings', withToken(token))

    const page = await travel(flow, 'facebook', newAccount(), {
      press: 'deny',
      fields: linkOf('facebook'),
      headers: withToken(token),
    })

    expect(page.location).toBe(flow.hosted_url)
    const shown = await flowAt(page, withToken(token))
    expect(messageIds(shown)).toEqual([4900003])
    expect(await accountsOf(identity)).toEqual([])
    const url = await leave(shown, 'facebook', linkOf('facebook'), withToken(token))
    const back = await arrive('facebook', await visit(url, 'facebook', newAccount()))
    expect((await finish(flow, back, token)).status).toBe(200)
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('does not happen when its provider was switched off on the way', async () => {
    const party = await fixture.party()
    const { token, identity } = await somebody(party)
    const flow = await party.begin('settings', withToken(token))
    const url = await party.leave(flow, 'google', linkOf('google'), withToken(token))
    const arrival = await party.visit(url, 'google', newAccount())
    await party.disable('google')

    const page = await party.arrive('google', arrival)

    expect(page.location).toBe(flow.hosted_url)
    expect(messageIds(await party.flowAt(page, withToken(token)))).toEqual([4900009])
    expect(await party.accountsOf(identity)).toEqual([])
  })
})

describe('the code that a browser brings back to the app', () => {
  async function brought(provider: ProviderName = 'google') {
    const person = await somebody()
    const { flow, arrival, account } = await onTheWay(person.token, provider)
    const back = await arrive(provider, arrival)
    return { ...person, flow, back, account }
  }

  test('connects nothing by itself: whoever was at the provider may be somebody else', async () => {
    const { flow, identity, account } = await brought()

    expect(await accountsOf(identity)).toEqual([])
    expect((await comeWith('google', account)).identity.id).not.toBe(identity.id)
    expect(await newBrowser(app).visit(flow.hosted_url)).toMatchObject({ status: 200 })
  })

  test('is needed: who has only sent somebody there connects nothing', async () => {
    const { token, flow, identity } = await brought()
    const other = await brought()

    for (const code of ['made-up', codeIn(other.back), `${codeIn(other.back)}x`]) {
      const refused = await send(flow, { method: 'oidc', code }, withToken(token))
      expect(refused.status).toBe(422)
      expect(messageIds(refused.body)).toEqual([4000001])
    }
    expect(await accountsOf(identity)).toEqual([])
  })

  test('is good for whoever shows the token of the session alone', async () => {
    const { token, flow, back, identity, account } = await brought()
    const stranger = await somebody()

    const fields = { method: 'oidc', code: codeIn(back) }
    expect(await sendBare(flow, fields)).toMatchObject(refuses(401, 'session_inactive'))
    expect(await finish(flow, back, stranger.token)).toMatchObject(
      refuses(403, 'security_identity_mismatch'),
    )
    for (const one of [identity, stranger.identity]) expect(await accountsOf(one)).toEqual([])

    expect((await finish(flow, back, token)).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([named('google', account)])
  })

  test('is good once', async () => {
    const { token, flow, back, identity } = await brought()
    await finish(flow, back, token)
    await disconnect(token, 'google')

    const again = await finish(flow, back, token)

    expect(again.status).toBe(422)
    expect(await accountsOf(identity)).toEqual([])
  })

  test.each([
    [5 * MINUTE - 1, 200],
    [5 * MINUTE, 422],
  ])('is good for five minutes: %d ms later the answer is %d', async (ms, status) => {
    const { token, flow, back } = await brought()
    fixture.clock.jump(ms)

    expect((await finish(flow, back, token)).status).toBe(status)
  })

  test('is good for the last way alone, of several within one flow', async () => {
    const { token, flow, back, identity } = await brought('google')
    const other = newAccount()
    const url = await leave(flow, 'gitlab', linkOf('gitlab'), withToken(token))
    const last = await arrive('gitlab', await visit(url, 'gitlab', other))

    expect((await finish(flow, back, token)).status).toBe(422)
    expect((await finish(flow, last, token)).status).toBe(200)

    expect(await accountsOf(identity)).toEqual([named('gitlab', other)])
  })

  test('opens no session, and ends none', async () => {
    const { token, flow, back } = await brought()

    expect((await fixture.tryExchange(flow.id, codeIn(back))).status).toBe(400)

    expect(await isAlive(fixture, token)).toBe(true)
    expect((await finish(flow, back, token)).status).toBe(200)
  })

  test('wants a sign-in within the hour as the way there did', async () => {
    const { token, identity } = await somebody()
    fixture.clock.jump(HOUR - MINUTE)
    const { flow, arrival } = await onTheWay(token, 'github')
    const back = await arrive('github', arrival)
    fixture.clock.jump(MINUTE + 1)

    expect(await finish(flow, back, token)).toMatchObject(refuses(403, 'session_refresh_required'))

    expect(await accountsOf(identity)).toEqual([])
  })

  test('is kept as a hash, and what it is for is sealed', async () => {
    const { flow, back, account } = await brought('github')

    const [row] = rowsOf(app, 'gate_flows').filter(({ id }) => id === flow.id)

    expect(row.exchange_hash).toBe(sha256(codeIn(back)))
    expect(JSON.stringify(row)).not.toContain(codeIn(back))
    expect(JSON.stringify(row)).not.toContain(`#${account.id}`)
    expect(JSON.stringify(row)).not.toMatch(/access-/)
  })

  test('has to lead somewhere: without an app to go back to, a program connects nothing', async () => {
    const { token } = await somebody()
    const flow = await settings(token)
    const before = rowsOf(app, 'gate_round_trips').length

    const refused = await send(flow, { link: 'github' }, withToken(token))

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4000001])
    expect(rowsOf(app, 'gate_round_trips')).toHaveLength(before)
  })

  // Else somebody could open the page themselves, have a program begin, and send others there.
  test('is needed in settings that a page has open, too, where a program began', async () => {
    const { token, identity } = await somebody()
    const flow = await begin('settings', withToken(token))
    await newBrowser(app).visit(flow.hosted_url)
    const url = await leave(flow, 'google', linkOf('google'), withToken(token))
    const victim = newAccount()

    await arrive('google', await visit(url, 'google', victim), newBrowser(app))

    expect(await accountsOf(identity)).toEqual([])
    expect((await comeWith('google', victim)).identity.id).not.toBe(identity.id)
  })
})

describe('who may connect and disconnect', () => {
  test('is whoever shows the token of the session, and nobody else', async () => {
    const { token, identity } = await somebody()
    const account = newAccount()
    await connect(token, 'google', account)
    const stranger = await somebody()
    const flow = await settings(token)

    for (const fields of [{ link: 'github' }, { unlink: 'google' }]) {
      expect(await sendBare(flow, fields)).toMatchObject(refuses(401, 'session_inactive'))
      expect(await send(flow, fields, withToken(stranger.token))).toMatchObject(
        refuses(403, 'security_identity_mismatch'),
      )
      expect(await send(flow, { ...fields, csrf_token: 'x' }, withToken(token))).toMatchObject(
        refuses(403, 'security_csrf_violation'),
      )
    }
    expect(await accountsOf(identity)).toEqual([named('google', account)])
  })

  test('is the browser that opened the page first, and no other', async () => {
    const { token, identity } = await somebody()
    const { hosted_url } = await begin('settings', withToken(token))
    const page = await newBrowser(app).visit(hosted_url)

    const stranger = await newBrowser(app).press(page, ['link', 'google'])

    expect(stranger.status).toBe(403)
    expect(stranger.location).toBe('')
    expect(await accountsOf(identity)).toEqual([])
  })

  test.each([
    [HOUR, true],
    [HOUR + 1, false],
  ])('is whoever signed in within the hour: %d ms ago counts: %p', async (ms, isFresh) => {
    const { token, identity } = await somebody()
    const account = newAccount()
    await connect(token, 'google', account)
    fixture.clock.jump(ms)
    const flow = await begin('settings', withToken(token))

    const linking = await send(flow, { link: 'github' }, withToken(token))
    const unlinking = await send(flow, { unlink: 'google' }, withToken(token))

    if (isFresh) {
      expect(linking.body.redirect_browser_to).toStartWith(fakes.plain.url)
      expect(unlinking.status).toBe(200)
    } else {
      for (const answer of [linking, unlinking])
        expect(answer).toMatchObject(refuses(403, 'session_refresh_required'))
      expect(await accountsOf(identity)).toEqual([named('google', account)])
    }
  })

  test('is nobody who still owes a second factor', async () => {
    const party = await fixture.party()
    const { email, token } = await somebody(party)
    await party.security({ mfa_enabled: true })
    await party.enrol(token)
    const flow = await party.settings(token)
    const { session_token: half } = await party.signIn(email)

    for (const fields of [{ link: 'github' }, { unlink: 'github' }])
      expect(await party.send(flow, fields, withToken(half))).toMatchObject(
        refuses(403, 'session_aal2_required'),
      )
  })
})

describe('disconnecting an account', () => {
  test('lets somebody else have it', async () => {
    const { token, identity } = await somebody()
    const account = newAccount()
    await connect(token, 'google', account)
    await disconnect(token, 'google')
    const next = await somebody()

    await connect(next.token, 'google', account)

    expect(await accountsOf(next.identity)).toEqual([named('google', account)])
    expect(await accountsOf(identity)).toEqual([])
  })

  test('lets one connect another at the same provider', async () => {
    const { token, identity } = await somebody()
    await connect(token, 'google', newAccount())
    await disconnect(token, 'google')
    const account = newAccount()

    await connect(token, 'google', account)

    expect(await accountsOf(identity)).toEqual([named('google', account)])
  })

  test.each(['github', 'nonsense'])(
    'is refused for one that is not connected: %s',
    async (provider) => {
      const { token, identity } = await somebody()
      await connect(token, 'google', newAccount())

      const refused = await disconnect(token, provider)

      expect(refused.status).toBe(422)
      expect(messageIds(refused.body)).toEqual([4900009])
      expect(await accountsOf(identity)).toHaveLength(1)
    },
  )

  test('is possible for one whose provider has been switched off', async () => {
    const party = await fixture.party()
    const { token, identity } = await somebody(party)
    await party.connect(token, 'google', newAccount())
    await party.disable('google')

    expect(accountNodes(await party.settings(token))).toContain('oidc:unlink=google')
    expect(await disconnect(token, 'google', party)).toMatchObject({ status: 200 })

    expect(await party.accountsOf(identity)).toEqual([])
  })

  test('is neither offered nor done when nobody could sign in without it', async () => {
    const { account, token, identity } = await withAccounts(fixture, 'google')

    expect(accountNodes(await settings(token))).not.toContain('oidc:unlink=google')
    const refused = await disconnect(token, 'google')

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4900011])
    expect(await accountsOf(identity)).toEqual([named('google', account)])
    expect((await comeWith('google', account)).identity.id).toBe(identity.id)
  })

  test('is done when there is a password besides', async () => {
    const { token, identity } = await withAccounts(fixture, 'google')
    await fixture.change(token, { method: 'password', password: PASSWORD })

    expect(await disconnect(token, 'google')).toMatchObject({ status: 200 })

    expect(await accountsOf(identity)).toEqual([])
  })

  test('is done when there is another account besides, and then no further', async () => {
    const { token, identity } = await withAccounts(fixture, 'google', 'github')

    expect(await disconnect(token, 'google')).toMatchObject({ status: 200 })
    expect((await disconnect(token, 'github')).status).toBe(422)

    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('is done when people can sign in by codes', async () => {
    const party = await fixture.party()
    await party.security({ passwordless_enabled: true })
    const { token, identity } = await withAccounts(party, 'google')

    expect(await disconnect(token, 'google', party)).toMatchObject({ status: 200 })

    expect(await party.accountsOf(identity)).toEqual([])
  })

  test('is not done when the other account is one that nobody can sign in with now', async () => {
    const party = await fixture.party()
    const { account, token, identity } = await withAccounts(party, 'google', 'github')
    await party.disable('github')

    expect(accountNodes(await party.settings(token))).not.toContain('oidc:unlink=google')
    const refused = await disconnect(token, 'google', party)

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4900011])
    expect((await party.comeWith('google', account)).identity.id).toBe(identity.id)
  })

  test('of both accounts at once leaves one of them', async () => {
    const { token, identity } = await withAccounts(fixture, 'google', 'github')
    const flows = [await settings(token), await settings(token)]

    const answers = await Promise.all([
      send(flows[0], { unlink: 'google' }, withToken(token)),
      send(flows[1], { unlink: 'github' }, withToken(token)),
    ])

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('ends the ways to sign in with it, not the sessions that began so', async () => {
    const { token } = await somebody()
    const account = newAccount()
    await connect(token, 'google', account)
    const { session_token: byAccount } = await comeWith('google', account)

    await disconnect(token, 'google')

    expect(await isAlive(fixture, byAccount)).toBe(true)
  })
})

describe('the address of settings that are saved, which the app is told,', () => {
  test.each([
    ['at once', 0],
    ['once they have expired', HOUR],
  ])('opens nothing to whoever finds it: %s', async (_, wait) => {
    const { email, token } = await somebody()
    const flow = await begin('settings', withToken(token))
    const page = await travel(flow, 'google', newAccount(), {
      fields: linkOf('google'),
      headers: withToken(token),
    })
    expect(page.location).toContain(flow.id)
    expect((await finish(flow, page, token)).status).toBe(200)
    fixture.clock.jump(wait)

    const stranger = newBrowser(app)
    let seen = await stranger.visit(flow.hosted_url)
    while (seen.status === 303) seen = await stranger.follow(seen)

    expect(seen.html).not.toContain(email)
    expect(seen.forms.flatMap(({ buttons }) => buttons)).toEqual([])
  })
})

test('a way to connect that was begun long ago is not gone on with', async () => {
  const { token, identity } = await somebody()
  const { arrival } = await onTheWay(token, 'github')
  fixture.clock.jump(30 * MINUTE)

  expect((await arrive('github', arrival)).status).toBe(403)

  expect(await accountsOf(identity)).toEqual([])
})
