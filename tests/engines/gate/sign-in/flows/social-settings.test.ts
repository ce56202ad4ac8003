import { describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { sha256 } from '../../../../../src/platform/crypto.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { type Json, MINUTE } from '../../fixture.ts'
import { auditOf, rowsOf } from '../../identities/people.ts'
import { complains, HOUR, isAlive, RETURN_TO, refuses, sendBare, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { messageIds, nodeNames, PASSWORD } from './fixture.ts'
import { codeIn, linkOf, named, type SocialTenant, useSocial } from './social-fixture.ts'

const social = await useSocial()
const { accountsOf, app, authorize, authorizeUrl, begin, callback, connect, finishLink } = social
const { flowAt, newTenant, pressProvider, readIdentity, roundTrip, send, settings, signInWith } =
  social

let users = 0

/** A user with a password, signed in. */
async function newUser(of: SocialTenant = social) {
  const email = `settings-${users++}@example.com`
  const { session_token: token, identity } = await of.register(email)
  return { email, token: token as string, identity }
}

/** A user without a password, who has accounts at these providers. */
async function withAccounts(of: SocialTenant, first: ProviderName, ...others: ProviderName[]) {
  const account = newAccount()
  const { session_token: token, identity } = await of.signInWith(first, account)
  for (const provider of others) await of.connect(token, provider, newAccount())
  return { account, token: token as string, identity }
}

const buttons = (flow: Json) => nodeNames(flow).filter((name) => name.startsWith('oidc:'))

const disconnect = (token: string, provider: string, of: SocialTenant = social) =>
  of.change(token, { method: 'oidc', unlink: provider })

/** A browser that is about to come back from the provider. */
async function arriving(token: string, provider: ProviderName, account = newAccount()) {
  const flow = await begin('settings', withToken(token))
  const url = await authorizeUrl(flow, provider, linkOf(provider), withToken(token))
  return { flow, account, arrival: await authorize(url, provider, account) }
}

/** A browser that brought a code back to the app, which has not used it yet. */
async function backAtApp(token: string, provider: ProviderName, account = newAccount()) {
  const { flow, arrival } = await arriving(token, provider, account)
  const back = await callback(provider, arrival)
  return { flow, back, account, finish: (by = token) => finishLink(flow, back, by) }
}

describe('Connecting an account', () => {
  test.each(['github', 'google'] as const)(
    'at %s lets it sign in until it is disconnected',
    async (provider) => {
      const { email, token, identity } = await newUser()
      const { session_token: other } = await social.signIn(email)
      const { credentials: _, ...before } = await readIdentity(identity)
      const account = newAccount()
      const headers = withToken(token)
      const flow = await begin('settings', headers)
      expect(buttons(flow)).toContain(`oidc:link=${provider}`)

      const page = await roundTrip(flow, provider, account, { fields: linkOf(provider), headers })
      expect(page.status).toBe(303)
      expect(page.location).toBe(`${RETURN_TO}?flow=${flow.id}&code=${codeIn(page)}`)
      expect((await finishLink(flow, page, token)).body.state).toBe('success')

      const { credentials, ...after } = await readIdentity(identity)
      expect(after).toEqual(before)
      expect(Object.keys(credentials).sort()).toEqual(['oidc', 'password'])
      expect(await accountsOf(identity)).toEqual([named(provider, account)])
      for (const one of [token, other]) expect(await isAlive(social, one)).toBe(true)
      expect(social.eventTypesOf(identity)).toEqual(['identity.created', 'identity.login'])
      const { identity: same, session_token: byAccount } = await signInWith(provider, account)
      expect(same.id).toBe(identity.id)
      const open = buttons(await settings(token))
      expect(open).toContain(`oidc:unlink=${provider}`)
      expect(open).not.toContain(`oidc:link=${provider}`)

      expect((await disconnect(token, provider)).body.state).toBe('success')
      expect(await accountsOf(identity)).toEqual([])
      expect(await isAlive(social, byAccount)).toBe(true)
      expect((await signInWith(provider, account)).identity.id).not.toBe(identity.id)

      const about = { actor_kind: 'person', actor_id: identity.id }
      const name = { github: 'GitHub', google: 'Google' }[provider]
      const detail = { provider: name, provider_id: provider }
      const audited = auditOf(app, `identity:${identity.id}`)
      expect(audited.filter(({ action }) => action.startsWith('identity.account_'))).toEqual([
        { action: 'identity.account_connected', ...about, detail },
        { action: 'identity.account_disconnected', ...about, detail },
      ])
    },
  )

  test('works on a page, and disconnecting, too', async () => {
    const { token, identity } = await newUser()
    const account = newAccount()
    const browser = newBrowser(app)
    const start = await browser.visit((await begin('settings', withToken(token))).hosted_url)

    const back = await pressProvider(browser, start, 'gitlab', account, { button: 'link' })
    const connected = await browser.follow(back)
    expect(connected.text).toContain('Your changes have been saved.')
    expect(await accountsOf(identity)).toEqual([named('gitlab', account)])

    const removed = await browser.follow(await browser.press(connected, ['unlink', 'gitlab']))
    expect(removed.text).toContain('Your changes have been saved.')
    expect(await accountsOf(identity)).toEqual([])
  })

  test('works through the tenant’s server, and disconnecting, too', async () => {
    const { token, identity } = await newUser()
    const account = newAccount()
    const submit = (fields: Json) => social.submit('settings', fields, withToken(token))
    const { id: flow } = await begin('settings', withToken(token))
    const sent = await submit({ flow, link: 'spotify' })
    const arrival = await authorize(sent.body.redirect_browser_to, 'spotify', account)
    const code = codeIn(await callback('spotify', arrival))
    expect((await submit({ flow, method: 'oidc', code })).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([named('spotify', account)])

    const { id: next } = await settings(token)
    expect((await submit({ flow: next, unlink: 'spotify' })).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([])
  })

  test('takes an account with no address, an unverified one, or that of another user', async () => {
    const other = await newUser()
    for (const fields of [{ email: null }, { isVerified: false }, { email: other.email }]) {
      const { token, identity } = await newUser()
      const account = newAccount(fields)
      await connect(token, 'github', account)
      expect(await accountsOf(identity)).toEqual([named('github', account)])
    }
    expect(await accountsOf(other.identity)).toEqual([])
    expect((await social.tryPassword(other.email)).status).toBe(200)
    expect(await isAlive(social, other.token)).toBe(true)
  })

  test('is refused for an account that another user has', async () => {
    const account = newAccount()
    const { identity: owner } = await signInWith('discord', account)
    const { token, identity } = await newUser()
    const { flow, finish } = await backAtApp(token, 'discord', account)

    const refused = await finish()

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4000027])
    await authorizeUrl(flow, 'gitlab', linkOf('gitlab'), withToken(token))
    const browser = newBrowser(app)
    const start = await browser.visit((await begin('settings', withToken(token))).hosted_url)
    const back = await pressProvider(browser, start, 'discord', account, { button: 'link' })
    expect((await browser.follow(back)).text).toContain('connected to another user')
    expect(await accountsOf(identity)).toEqual([])
    expect(await accountsOf(owner)).toEqual([named('discord', account)])
  })

  test('is allowed for an account of a user at another tenant', async () => {
    const account = newAccount()
    const other = await newTenant()
    const { identity: there } = await other.signInWith('google', account)
    const { token, identity } = await newUser()
    await connect(token, 'google', account)
    expect(await accountsOf(identity)).toEqual([named('google', account)])
    expect(await other.accountsOf(there)).toEqual([named('google', account)])
  })

  test('is refused for a second account at the same provider', async () => {
    const { token, identity } = await newUser()
    await connect(token, 'google', newAccount())
    const refused = await social.change(token, { method: 'oidc', link: 'google' })
    expect(refused).toMatchObject(complains(4900009))
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('adds one of two accounts at the same provider that come at once', async () => {
    const { token, identity } = await newUser()
    const ways = [await backAtApp(token, 'google'), await backAtApp(token, 'google')]
    const answers = await Promise.all(ways.map(({ finish }) => finish()))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const taken = answers.findIndex(({ status }) => status === 200)
    expect(messageIds(answers[1 - taken]?.body)).toEqual([4000027])
    expect(await accountsOf(identity)).toEqual([named('google', ways[taken]?.account as Account)])
  })

  test('adds one of two that come at once on two pages', async () => {
    const { token, identity } = await newUser()
    const ways = []
    for (const browser of [newBrowser(app), newBrowser(app)]) {
      const page = await browser.visit((await begin('settings', withToken(token))).hosted_url)
      const { location } = await browser.press(page, ['link', 'google'])
      ways.push({ browser, arrival: await authorize(location, 'google', newAccount()) })
    }

    const pages = await Promise.all(
      ways.map(({ arrival, browser }) => callback('google', arrival, browser)),
    )

    const texts: string[] = []
    for (const page of pages) texts.push((await page.browser.follow(page)).text)
    const saying = (words: string) => texts.filter((text) => text.includes(words))
    expect(saying('Your changes have been saved.')).toHaveLength(1)
    expect(saying('connected to another user')).toHaveLength(1)
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('of the same account twice at once succeeds; by two users it does for one', async () => {
    const account = newAccount()
    const one = await newUser()
    const twice = [
      await backAtApp(one.token, 'github', account),
      await backAtApp(one.token, 'github', account),
    ]
    const same = await Promise.all(twice.map(({ finish }) => finish()))
    expect(same.map(({ status }) => status)).toEqual([200, 200])
    expect(await accountsOf(one.identity)).toEqual([named('github', account)])

    const wanted = newAccount()
    const both = [await newUser(), await newUser()]
    const ways = []
    for (const { token } of both) ways.push(await backAtApp(token, 'github', wanted))
    const answers = await Promise.all(ways.map(({ finish }) => finish()))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const owned = await Promise.all(both.map(({ identity }) => accountsOf(identity)))
    expect(owned.flat()).toEqual([named('github', wanted)])
  })

  test('continues after the user cancelled at the provider', async () => {
    const { token, identity } = await newUser()
    const headers = withToken(token)
    const flow = await begin('settings', headers)
    const options = { press: 'deny' as const, fields: linkOf('facebook'), headers }
    const page = await roundTrip(flow, 'facebook', newAccount(), options)
    expect(page.location).toBe(flow.hosted_url)
    const shown = await flowAt(page, headers)
    expect(messageIds(shown)).toEqual([4900003])
    expect(await accountsOf(identity)).toEqual([])

    const url = await authorizeUrl(shown, 'facebook', linkOf('facebook'), headers)
    const back = await callback('facebook', await authorize(url, 'facebook', newAccount()))
    expect((await finishLink(flow, back, token)).status).toBe(200)
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('stops if the provider is disabled meanwhile, or after half an hour', async () => {
    const tenant = await newTenant()
    const { token, identity } = await newUser(tenant)
    const headers = withToken(token)
    const flow = await tenant.begin('settings', headers)
    const arrivals = []
    for (let n = 0; n < 2; n++) {
      const url = await tenant.authorizeUrl(flow, 'google', linkOf('google'), headers)
      arrivals.push(await authorize(url, 'google', newAccount()))
    }
    const [first, second] = arrivals as [(typeof arrivals)[0], (typeof arrivals)[0]]
    await tenant.disable('google')

    const page = await callback('google', first)
    expect(page.location).toBe(flow.hosted_url)
    expect(messageIds(await tenant.flowAt(page, headers))).toEqual([4900009])
    await tenant.enable('google')
    social.clock.jump(30 * MINUTE)
    expect((await callback('google', second)).status).toBe(403)
    expect(await tenant.accountsOf(identity)).toEqual([])
  })
})

describe('The code that the browser brings back to the app', () => {
  async function brought() {
    const user = await newUser()
    return { ...user, ...(await backAtApp(user.token, 'google')) }
  }

  test('is needed to connect the account', async () => {
    const { token, flow, back, identity, account, finish } = await brought()
    const other = await brought()
    expect(await accountsOf(identity)).toEqual([])
    expect((await signInWith('google', account)).identity.id).not.toBe(identity.id)
    expect((await newBrowser(app).visit(flow.hosted_url)).status).toBe(200)
    for (const code of ['made-up', codeIn(other.back), `${codeIn(back)}x`]) {
      const refused = await send(flow, { method: 'oidc', code }, withToken(token))
      expect(refused.status).toBe(422)
      expect(messageIds(refused.body)).toEqual([4000001])
    }
    expect(messageIds((await finish()).body)).toEqual([4000027])
  })

  test('works once, for the session’s token, and opens no session', async () => {
    const { token, flow, back, identity, account, finish } = await brought()
    const stranger = await newUser()
    const fields = { method: 'oidc', code: codeIn(back) }
    expect(await sendBare(social, flow, fields)).toMatchObject(refuses(401, 'session_inactive'))
    expect(await finish(stranger.token)).toMatchObject(refuses(403, 'security_identity_mismatch'))
    expect((await social.tryExchange(flow.id, codeIn(back))).status).toBe(400)
    for (const one of [identity, stranger.identity]) expect(await accountsOf(one)).toEqual([])

    expect((await finish()).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([named('google', account)])
    await disconnect(token, 'google')
    expect((await finish()).status).toBe(422)
    expect(await accountsOf(identity)).toEqual([])
  })

  test('works for five minutes', async () => {
    const [inTime, late] = [await brought(), await brought()]
    social.clock.jump(5 * MINUTE - 1)
    expect((await inTime.finish()).status).toBe(200)
    social.clock.jump(1)
    expect((await late.finish()).status).toBe(422)
  })

  test('is the last one of its flow', async () => {
    const { token, flow, identity, finish } = await brought()
    const other = newAccount()
    const url = await authorizeUrl(flow, 'gitlab', linkOf('gitlab'), withToken(token))
    const last = await callback('gitlab', await authorize(url, 'gitlab', other))
    expect((await finish()).status).toBe(422)
    expect((await finishLink(flow, last, token)).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([named('gitlab', other)])
  })

  test('needs a sign-in within the hour', async () => {
    const { token, identity } = await newUser()
    social.clock.jump(HOUR - MINUTE)
    const { finish } = await backAtApp(token, 'github')
    social.clock.jump(MINUTE + 1)
    expect(await finish()).toMatchObject(refuses(403, 'session_refresh_required'))
    expect(await accountsOf(identity)).toEqual([])
  })

  test('is stored as a hash, and its account sealed', async () => {
    const { flow, back, account } = await brought()
    const [row] = rowsOf(app, 'gate_flows').filter(({ id }) => id === flow.id)
    expect(row.exchange_hash).toBe(sha256(codeIn(back)))
    for (const secret of [codeIn(back), `#${account.id}`, 'access-'])
      expect(JSON.stringify(row)).not.toContain(secret)
  })

  test('needs an app to return to', async () => {
    const { token } = await newUser()
    const before = rowsOf(app, 'gate_round_trips').length
    const refused = await send(await settings(token), { link: 'github' }, withToken(token))
    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4000001])
    expect(rowsOf(app, 'gate_round_trips')).toHaveLength(before)
  })

  // Otherwise an attacker could open the page, begin by a program, and send a victim there.
  test('is needed also if a page has the flow open and a program began', async () => {
    const { token, identity } = await newUser()
    const flow = await begin('settings', withToken(token))
    await newBrowser(app).visit(flow.hosted_url)
    const url = await authorizeUrl(flow, 'google', linkOf('google'), withToken(token))
    const victim = newAccount()
    await callback('google', await authorize(url, 'google', victim), newBrowser(app))
    expect(await accountsOf(identity)).toEqual([])
    expect((await signInWith('google', victim)).identity.id).not.toBe(identity.id)
  })

  test.each([0, HOUR])('opens nothing in another browser %d ms after it was used', async (wait) => {
    const { email, flow, finish } = await brought()
    expect((await finish()).status).toBe(200)
    social.clock.jump(wait)
    const stranger = newBrowser(app)
    let seen = await stranger.visit(flow.hosted_url)
    while (seen.status === 303) seen = await stranger.follow(seen)
    expect(seen.html).not.toContain(email)
    expect(seen.forms.flatMap(({ buttons }) => buttons)).toEqual([])
  })
})

describe('Connecting and disconnecting need', () => {
  const FORMS = [{ link: 'github' }, { unlink: 'google' }]

  test('the token of the session and of the form', async () => {
    const { token, identity } = await newUser()
    await connect(token, 'google', newAccount())
    const stranger = await newUser()
    const flow = await settings(token)
    for (const fields of FORMS) {
      const sendAs = (by: string, more = {}) => send(flow, { ...fields, ...more }, withToken(by))
      expect(await sendBare(social, flow, fields)).toMatchObject(refuses(401, 'session_inactive'))
      expect(await sendAs(stranger.token)).toMatchObject(refuses(403, 'security_identity_mismatch'))
      const forged = await sendAs(token, { csrf_token: 'x' })
      expect(forged).toMatchObject(refuses(403, 'security_csrf_violation'))
    }
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('the browser that opened the page first', async () => {
    const { token, identity } = await newUser()
    const flow = await begin('settings', withToken(token))
    const page = await newBrowser(app).visit(flow.hosted_url)
    const stranger = await newBrowser(app).press(page, ['link', 'google'])
    expect(stranger).toMatchObject({ status: 403, location: '' })
    expect(await accountsOf(identity)).toEqual([])
  })

  test.each([
    [HOUR, true],
    [HOUR + 1, false],
  ])('a sign-in within the hour: %d ms ago is recent: %p', async (ms, isRecent) => {
    const { token, identity } = await newUser()
    await connect(token, 'google', newAccount())
    social.clock.jump(ms)
    const flow = await begin('settings', withToken(token))
    const answers = []
    for (const fields of FORMS) answers.push(await send(flow, fields, withToken(token)))
    const expected = refuses(403, 'session_refresh_required')
    if (isRecent) expect(answers.map(({ status }) => status)).toEqual([422, 200])
    else expect(answers).toMatchObject([expected, expected])
    expect(await accountsOf(identity)).toHaveLength(isRecent ? 0 : 1)
  })

  test('the second factor', async () => {
    const tenant = await newTenant()
    const { email, token } = await newUser(tenant)
    await tenant.security({ mfa_enabled: true })
    await tenant.enrol(token)
    const flow = await tenant.settings(token)
    const { session_token: half } = await tenant.signIn(email)
    for (const fields of FORMS)
      expect(await tenant.send(flow, fields, withToken(half))).toMatchObject(
        refuses(403, 'session_aal2_required'),
      )
  })
})

describe('Disconnecting an account', () => {
  test('frees it for other users, and its provider for another account', async () => {
    const { token, identity } = await newUser()
    const account = newAccount()
    await connect(token, 'google', account)
    await disconnect(token, 'google')
    const next = await newUser()
    await connect(next.token, 'google', account)
    const another = newAccount()
    await connect(token, 'google', another)
    expect(await accountsOf(next.identity)).toEqual([named('google', account)])
    expect(await accountsOf(identity)).toEqual([named('google', another)])
  })

  test('is refused for one that is not connected', async () => {
    const { token, identity } = await newUser()
    await connect(token, 'google', newAccount())
    for (const provider of ['github', 'nonsense'])
      expect(await disconnect(token, provider)).toMatchObject(complains(4900009))
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('works for a provider that has been disabled', async () => {
    const tenant = await newTenant()
    const { token, identity } = await newUser(tenant)
    await tenant.connect(token, 'google', newAccount())
    await tenant.disable('google')
    expect(buttons(await tenant.settings(token))).toContain('oidc:unlink=google')
    expect(await disconnect(token, 'google', tenant)).toMatchObject({ status: 200 })
    expect(await tenant.accountsOf(identity)).toEqual([])
  })

  test('is refused if the user could not sign in without it', async () => {
    const tenant = await newTenant()
    const { account, token, identity } = await withAccounts(tenant, 'google', 'github')
    await tenant.disable('github')
    expect(buttons(await tenant.settings(token))).not.toContain('oidc:unlink=google')
    expect(await disconnect(token, 'google', tenant)).toMatchObject(complains(4900011))
    expect((await tenant.signInWith('google', account)).identity.id).toBe(identity.id)
    await tenant.enable('github')
    expect(await disconnect(token, 'google', tenant)).toMatchObject({ status: 200 })
    expect(await disconnect(token, 'github', tenant)).toMatchObject(complains(4900011))

    await tenant.change(token, { method: 'password', password: PASSWORD })
    expect(await disconnect(token, 'github', tenant)).toMatchObject({ status: 200 })
    expect(await tenant.accountsOf(identity)).toEqual([])
  })

  test('works if the user can sign in by email code', async () => {
    const tenant = await newTenant()
    await tenant.security({ passwordless_enabled: true })
    const { token, identity } = await withAccounts(tenant, 'google')
    expect(await disconnect(token, 'google', tenant)).toMatchObject({ status: 200 })
    expect(await tenant.accountsOf(identity)).toEqual([])
  })

  test('of both accounts at once leaves one', async () => {
    const { token, identity } = await withAccounts(social, 'google', 'github')
    const flows = [await settings(token), await settings(token)]
    const answers = await Promise.all([
      send(flows[0], { unlink: 'google' }, withToken(token)),
      send(flows[1], { unlink: 'github' }, withToken(token)),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect(await accountsOf(identity)).toHaveLength(1)
  })
})
