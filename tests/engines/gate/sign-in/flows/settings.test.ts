import { describe, expect, test } from 'bun:test'
import { DAY, HOUR, type Json, SESSIONS, UNKNOWN_ID } from '../../fixture.ts'
import { actionsOn, auditOf, rowsOf } from '../../identities/people.ts'
import {
  ADA,
  BOB,
  complains,
  connect,
  isAlive,
  NEW_PASSWORD,
  RETURN_TO,
  read,
  refuses,
  sessionOf,
  WAYS,
  withToken,
} from './acts.ts'
import { FLOW_MS, sessionsOf, type Tenant, useFlows } from './code-fixture.ts'
import { AUTH, csrfOf, messageIds, node, nodeNames, PASSWORD, SELF_SERVICE } from './fixture.ts'
import { offering } from './offering.ts'

const flows = await useFlows()
const { clock, app } = flows

const INACTIVE = refuses(401, 'session_inactive')
const OTHER = refuses(403, 'security_identity_mismatch')
const OWED = refuses(403, 'session_aal2_required')
const OVER = complains(4050001)

async function withAda() {
  const acme = await flows.newTenant()
  const traits = { custom_data: { plan: 'free' } }
  const { session_token: token, identity } = await acme.register(ADA, PASSWORD, traits)
  return { acme, token: token as string, identity }
}

const endSession = async (acme: Tenant, token: string) => {
  const { id } = await sessionOf(acme, token)
  expect(await acme.api.delete(`${SESSIONS}/${id}`)).toMatchObject({ status: 204 })
}

/** A session that owes its second factor, and a flow that it started before. */
async function owing() {
  const acme = await flows.newTenant({ mfa_enabled: true })
  const { session_token: first } = await acme.register(ADA)
  const { session_token: half } = await acme.signIn(ADA)
  const flow = await acme.settings(half)
  await acme.enrol(first)
  return { acme, first, half, flow }
}

/** A change that everyone may make, and that can be seen. */
const mark = (value: unknown) => ({
  method: 'profile',
  traits: { email: ADA, custom_data: { mark: value } },
})

const markOf = async (acme: Tenant, identity: Json): Promise<unknown> =>
  (await acme.readIdentity(identity)).traits.custom_data.mark

describe('a settings flow starts', () => {
  test('with the forms and the identity of the person', async () => {
    const { acme, token, identity } = await withAda()
    const flow = await acme.settings(token)
    expect(flow).toMatchObject({
      type: 'browser',
      state: 'show_form',
      ui: { action: flow.hosted_url, method: 'POST' },
      identity: { id: identity.id, traits: { email: ADA, tenant_id: acme.tenantId } },
    })
    expect(new URL(flow.hosted_url).pathname).toBe(`${SELF_SERVICE}/settings`)
    expect(Date.parse(flow.expires_at) - Date.parse(flow.issued_at)).toBe(FLOW_MS)
    expect(nodeNames(flow)).toEqual([
      'profile:traits.email',
      'profile:method=profile',
      'password:password',
      'password:method=password',
    ])
    expect(node(flow, 'traits.email').attributes.value).toBe(ADA)
    expect(flow).not.toHaveProperty('continue_with')
    expect(JSON.stringify(flow)).not.toContain('gat_st_')
  })

  test('with the token of a live session of the tenant', async () => {
    const { acme, token, identity } = await withAda()
    const globex = await flows.newTenant()
    const { session_token: foreign } = await globex.register(ADA)
    const missing = { error: 'missing session token: send it as X-Session-Token' }
    expect(await acme.ask('settings')).toMatchObject({ status: 401, body: missing })
    for (const wrong of ['garbage', `${token}x`, acme.key, foreign])
      expect(await acme.ask('settings', withToken(wrong))).toMatchObject({ status: 401 })

    const { session_token: second } = await acme.signIn(ADA)
    const { session_token: third } = await acme.signIn(ADA)
    await endSession(acme, second)
    expect(await acme.ask('settings', withToken(second))).toMatchObject({ status: 401 })
    clock.jump(DAY - 1)
    expect(await acme.ask('settings', withToken(third))).toMatchObject({ status: 200 })
    clock.jump(1)
    expect(await acme.ask('settings', withToken(third))).toMatchObject({ status: 401 })
    const { session_token: last } = await acme.signIn(ADA)
    await acme.setState(identity, 'inactive')
    expect(await acme.ask('settings', withToken(last))).toMatchObject({ status: 401 })
  })

  test('once the second factor is shown', async () => {
    const { acme, first, half } = await owing()
    expect(await acme.ask('settings', withToken(half))).toMatchObject(OWED)
    expect(await acme.ask('settings', withToken(first))).toMatchObject({ status: 200 })
  })
})

describe('a settings flow is read', () => {
  test('with the token of any session of its person', async () => {
    const { acme, token, identity } = await withAda()
    const { session_token: second } = await acme.signIn(ADA)
    const flow = await acme.settings(token)
    const shown = { status: 200, body: { id: flow.id, identity: { id: identity.id } } }
    for (const good of [token, second])
      expect(await read(acme, flow.ui.action, withToken(good))).toMatchObject(shown)
  })

  test('with no other token, before and after it is complete, and tells nothing', async () => {
    const { acme, token, identity } = await withAda()
    const globex = await flows.newTenant()
    const { session_token: foreign } = await globex.register(ADA)
    const { session_token: bob } = await acme.register(BOB)
    const flow = await acme.settings(token)
    for (const _ of ['open', 'complete']) {
      for (const [headers, refusal] of [
        [undefined, INACTIVE],
        ['garbage', INACTIVE],
        [foreign, INACTIVE],
        [bob, OTHER],
      ] as const) {
        const answer = await read(acme, flow.ui.action, headers ? withToken(headers) : {})
        expect(answer).toMatchObject(refusal)
        for (const secret of [identity.id, ADA])
          expect(JSON.stringify(answer.body)).not.toContain(secret)
      }
      await acme.send(flow, mark(1), withToken(token))
    }
    const shown = { state: 'success', identity: { id: identity.id } }
    expect((await read(acme, flow.ui.action, withToken(token))).body).toMatchObject(shown)
    await endSession(acme, token)
    expect(await read(acme, flow.ui.action, withToken(token))).toMatchObject(INACTIVE)
  })

  test('once the second factor is shown, for which it has a URL', async () => {
    const { acme, half, flow } = await owing()
    const answer = await read(acme, flow.ui.action, withToken(half))
    expect(answer).toMatchObject(OWED)
    const login = await read(acme, answer.body.redirect_browser_to, withToken(half))
    expect(login).toMatchObject({ status: 200, body: { requested_aal: 'aal2' } })
  })
})

describe.each(Object.entries(WAYS))('a settings form, sent %s,', (_, send) => {
  test('is accepted with the token of any session of its person, once', async () => {
    const { acme, token, identity } = await withAda()
    const { session_token: second } = await acme.signIn(ADA)
    for (const [at, good] of [token, second].entries()) {
      const flow = await acme.settings(token)
      const done = { status: 200, body: { id: flow.id, state: 'success' } }
      expect(await send(acme, flow, mark(at), good)).toMatchObject(done)
      expect(await send(acme, flow, mark('again'), good)).toMatchObject(OVER)
      expect(await markOf(acme, identity)).toBe(at)
      expect(JSON.stringify((await send(acme, flow, mark(2))).body)).not.toContain(ADA)
    }
    const flow = await acme.settings(token)
    const both = await Promise.all([1, 2].map((n) => send(acme, flow, mark(n), token)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 422])
    expect(both.find(({ status }) => status === 422)).toMatchObject(OVER)
  })

  test('is refused with any other token, and changes nobody', async () => {
    const { acme, token, identity } = await withAda()
    const globex = await flows.newTenant()
    const { session_token: foreign } = await globex.register(ADA)
    const bob = await acme.register(BOB)
    const { session_token: ended } = await acme.signIn(ADA)
    await endSession(acme, ended)
    const flow = await acme.settings(token)
    for (const wrong of [undefined, 'garbage', acme.key, `${token.slice(0, -1)}!`, foreign, ended])
      expect(await send(acme, flow, mark(1), wrong)).toMatchObject(INACTIVE)
    expect(await send(acme, flow, mark(1), bob.session_token)).toMatchObject(OTHER)
    expect(await markOf(acme, identity)).toBeUndefined()
    expect((await acme.readIdentity(bob.identity)).traits).toEqual(bob.identity.traits)
  })

  test('is refused until the second factor is shown', async () => {
    const { acme, half, flow } = await owing()
    const fields = { method: 'password', password: NEW_PASSWORD }
    expect(await send(acme, flow, fields, half)).toMatchObject(OWED)
    expect(await acme.tryPassword(ADA, NEW_PASSWORD)).toMatchObject(complains(4000006))
  })

  test('needs a method that the tenant has', async () => {
    const { acme, token } = await withAda()
    const flow = await acme.settings(token)
    for (const [fields, id] of [
      [{}, 4010004],
      [{ method: 'magic' }, 4010004],
      [{ method: 'code', email: ADA }, 4010004],
      [{ method: 5 }, 4000026],
      [{ method: 'totp', totp_code: '123456' }, 4010004],
      [{ totp_code: '123456' }, 4010004],
      [{ totp_unlink: 'true' }, 4010004],
      [{ method: 'lookup_secret', lookup_secret_regenerate: true }, 4010004],
    ] as [Json, number][]) {
      const { status, body } = await send(acme, flow, fields, token)
      expect([status, messageIds(body)]).toEqual([422, [id]])
    }
    expect(await send(acme, flow, mark(1), token)).toMatchObject({ status: 200 })
  })
})

test('a button states its method by its name, as a word or a boolean', async () => {
  const acme = await flows.newTenant({ mfa_enabled: true })
  const { session_token } = await acme.register(ADA)
  for (const value of ['true', true])
    for (const [name, expected] of [
      ['totp_unlink', complains(4000011)],
      ['lookup_secret_regenerate', { status: 200 }],
      ['lookup_secret_confirm', complains(4000014)],
      ['lookup_secret_reveal', complains(4900007)],
    ] as const)
      expect(await acme.change(session_token, { [name]: value })).toMatchObject(expected)
})

test('the tenant names a settings flow of its own, in the body or in the query', async () => {
  const { acme, token, identity } = await withAda()
  const globex = await flows.newTenant()
  const authorization = `Bearer ${acme.key}`
  const headers = { authorization, 'content-type': 'application/json', ...withToken(token) }
  const post = (query: string, fields: Json) =>
    app.raw(`${AUTH}/settings/submit${query}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(fields),
    })
  const [first, second] = [await acme.settings(token), await acme.settings(token)]
  expect(await post(`?flow=${first.id}`, mark(1))).toMatchObject({ status: 200 })
  expect(await post('', { flow: second.id, ...mark(2) })).toMatchObject({ status: 200 })
  for (const flow of [undefined, '', 5, null, {}])
    expect(await post('', { flow, ...mark(3) })).toMatchObject({ status: 400 })

  const missing = refuses(404, 'flow_not_found')
  const login = await acme.start('login')
  for (const flow of [UNKNOWN_ID, 'x', login.id])
    expect(await post('', { flow, ...mark(3) })).toMatchObject(missing)
  const { id: flow } = await acme.settings(token)
  const foreign = () => globex.submit('settings', { flow, ...mark(3) }, withToken(token))
  expect(await foreign()).toMatchObject(missing)
  clock.jump(FLOW_MS)
  expect(await foreign()).toMatchObject(missing)
  expect(await markOf(acme, identity)).toBe(2)
})

test('the action of a settings flow needs its CSRF token', async () => {
  const { acme, token, identity } = await withAda()
  const [flow, other] = [await acme.settings(token), await acme.settings(token)]
  for (const csrf_token of [undefined, '', 'x'.repeat(64), 5, csrfOf(other)])
    expect(await acme.send(flow, { ...mark(1), csrf_token }, withToken(token))).toMatchObject(
      refuses(403, 'security_csrf_violation'),
    )
  expect(await markOf(acme, identity)).toBeUndefined()
})

describe('the profile', () => {
  const save = (acme: Tenant, token: string, traits: unknown) =>
    acme.change(token, { method: 'profile', traits })

  test('keeps custom data that is not sent, and replaces it otherwise', async () => {
    const { acme, token, identity } = await withAda()
    const stored = async () => (await acme.readIdentity(identity)).traits
    const { body } = await save(acme, token, { email: ` ${ADA.toUpperCase()} ` })
    expect([body.state, messageIds(body), nodeNames(body)]).toEqual(['success', [1050001], []])
    expect(body.ui.messages[0].type).toBe('success')
    expect(body).not.toHaveProperty('continue_with')
    const tenant_id = acme.tenantId
    expect(await stored()).toEqual({ email: ADA, tenant_id, custom_data: { plan: 'free' } })

    for (const custom_data of [{ theme: { dark: true } }, {}]) {
      // The tenant is not theirs to choose.
      const traits = { email: ADA, custom_data, tenant_id: UNKNOWN_ID }
      const { body: saved } = await save(acme, token, traits)
      expect(saved.identity.traits.custom_data).toEqual(custom_data)
      expect(await stored()).toEqual({ email: ADA, tenant_id, custom_data })
    }
  })

  test('is audited once it has changed', async () => {
    const { acme, token, identity } = await withAda()
    const about = `identity:${identity.id}`
    const before = actionsOn(app, about)
    await save(acme, token, { email: ADA })
    expect(actionsOn(app, about)).toEqual(before)
    await save(acme, token, { email: ADA, custom_data: { a: 1 } })
    expect(actionsOn(app, about)).toEqual([...before, 'identity.updated'])
    const byOwner = { actor_kind: 'person', actor_id: identity.id }
    expect(auditOf(app, about).at(-1)).toMatchObject(byOwner)
  })

  test('needs no recent sign-in, and ends no session', async () => {
    const { acme, token, identity } = await withAda()
    await acme.signIn(ADA)
    clock.jump(23 * HOUR)
    const saved = await save(acme, token, { email: ADA, custom_data: { a: 1 } })
    expect(saved).toMatchObject({ status: 200 })
    expect(await isAlive(acme, token)).toBe(true)
    expect(await sessionsOf(acme, identity)).toHaveLength(2)
  })

  test.each<[unknown, number | string]>([
    [{}, 'traits.email:4000002'],
    [{ email: '' }, 'traits.email:4000002'],
    [{ email: '<b>no' }, 'traits.email:4000040'],
    [{ email: 5 }, 'traits.email:4000040'],
    [{ email: ADA, role: 'admin' }, 4000001],
    [{ email: ADA, custom_data: 'x' }, 4000001],
    [{ email: ADA, custom_data: null }, 4000001],
    [{ email: ADA, custom_data: { a: 'x'.repeat(65_536) } }, 4000001],
    ['x', 4000026],
    [[], 4000026],
    [5, 4000026],
  ])('is refused if it is invalid (%#)', async (traits, id) => {
    const { acme, token, identity } = await withAda()
    const { status, body } = await save(acme, token, traits)
    expect([status, messageIds(body)]).toEqual([422, [id]])
    if ((traits as Json).email === '<b>no')
      expect(node(body, 'traits.email').attributes.value).toBe('<b>no')
    const kept = { email: ADA, custom_data: { plan: 'free' } }
    expect((await acme.readIdentity(identity)).traits).toMatchObject(kept)
  })
})

describe('connected accounts', () => {
  /** Ada, with or without a password, at an instance with two providers. */
  async function withProviders(hasPassword = true) {
    const { acme, token, identity } = await withAda()
    const own = offering(acme, 'github', 'discord')
    await own.enable('github', 'discord', 'google')
    const person = hasPassword ? identity : await acme.createIdentity()
    const session = hasPassword ? token : (await acme.openSession(person)).token
    const oidc = async () =>
      nodeNames(await own.settings(session))
        .filter((name) => name.startsWith('oidc:'))
        .toSorted()
    const add = (...providers: Parameters<typeof connect>[2][]) =>
      Promise.all(providers.map((name) => connect(acme, person, name, `${name}-${person.id}`)))
    const unlink = (name: string) => own.change(session, { unlink: name })
    const link = (name: string) => own.change(session, { link: name })
    return { acme, own, person, session, oidc, add, unlink, link }
  }
  const NOT_OFFERED = complains(4900009)
  const LAST = complains(4900011)

  test('can be added where tenant and instance have the provider', async () => {
    const { own, session, oidc, add, link } = await withProviders()
    expect(await oidc()).toEqual(['oidc:link=discord', 'oidc:link=github'])
    const flow = await own.start('settings', { ...withToken(session), 'x-return-to': RETURN_TO })
    const { status, body } = await own.send(flow, { link: 'github' }, withToken(session))
    expect([status, body.id]).toEqual([422, 'browser_location_change_required'])
    expect(new URL(body.redirect_browser_to).host).toBe('github.com')
    // A flow without a return URL has nowhere to return to.
    expect(await link('github')).toMatchObject(complains(4000001))

    await add('github')
    expect(await oidc()).toEqual(['oidc:link=discord', 'oidc:unlink=github'])
    for (const name of ['github', 'google', 'spotify', 'nothing', '__proto__'])
      expect(await link(name)).toMatchObject(NOT_OFFERED)
  })

  test('can be removed by their owner alone', async () => {
    const { acme, person, oidc, add, unlink } = await withProviders()
    const bob = await acme.createIdentity()
    await connect(acme, bob, 'github', `github-${bob.id}`)
    expect(await unlink('github')).toMatchObject(NOT_OFFERED)
    await add('github', 'discord')
    expect(await unlink('github')).toMatchObject({ status: 200, body: { state: 'success' } })
    expect(await oidc()).toEqual(['oidc:link=github', 'oidc:unlink=discord'])
    const links = rowsOf(app, 'gate_social_links')
      .filter(({ identity_id }) => [person.id, bob.id].includes(identity_id))
      .map(({ identity_id, provider }) => [identity_id, provider])
    expect(links.toSorted()).toEqual(
      [
        [person.id, 'discord'],
        [bob.id, 'github'],
      ].toSorted(),
    )
    expect(actionsOn(app, `identity:${person.id}`)).toContain('identity.account_disconnected')
    expect(await unlink('github')).toMatchObject(NOT_OFFERED)
  })

  test('can not be removed if nothing else is left to sign in with', async () => {
    const { oidc, add, unlink } = await withProviders(false)
    await add('github')
    expect(await oidc()).toEqual(['oidc:link=discord'])
    expect(await unlink('github')).toMatchObject(LAST)
    // No one can sign in with a provider that the instance doesn't have.
    await add('spotify')
    expect(await unlink('github')).toMatchObject(LAST)
    expect(await unlink('spotify')).toMatchObject({ status: 200 })
    await add('discord')
    expect(await oidc()).toEqual(['oidc:unlink=discord', 'oidc:unlink=github'])
    const both = await Promise.all([unlink('github'), unlink('discord')])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 422])
  })

  test('can be removed if an email code or a password is left', async () => {
    const { own, session, oidc, add, unlink } = await withProviders(false)
    await add('github')
    await own.allowCodes(true)
    expect(await oidc()).toEqual(['oidc:link=discord', 'oidc:unlink=github'])
    await own.allowCodes(false)
    expect(await unlink('github')).toMatchObject(LAST)
    await own.change(session, { method: 'password', password: NEW_PASSWORD })
    expect(await unlink('github')).toMatchObject({ status: 200 })
  })
})
