import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { DAY, type Json, UNKNOWN_ID } from '../../fixture.ts'
import { actionsOn, auditOf, rowsOf } from '../../identities/people.ts'
import {
  ADA,
  BOB,
  bootFactors,
  bootUnhurried,
  complains,
  connect,
  HOUR,
  isAlive,
  NEW_PASSWORD,
  RETURN_TO,
  read,
  refuses,
  sessionOf,
  WAYS,
  withToken,
} from './acts.ts'
import {
  AUTH,
  type FlowFixture,
  flowParty,
  messageIds,
  node,
  nodeNames,
  PASSWORD,
  SELF_SERVICE,
} from './fixture.ts'
import { offering } from './offering.ts'

let fixture: FlowFixture
let others: Awaited<ReturnType<typeof flowParty>>
beforeAll(async () => {
  fixture = await bootUnhurried()
  others = await flowParty(fixture.app)
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
let token: string
let identity: Json
beforeEach(async () => {
  email = `settler-${people++}@example.com`
  const done = await fixture.register(email, PASSWORD, { custom_data: { plan: 'free' } })
  token = done.session_token
  identity = done.identity
})

const endSession = async (of: string) => {
  const { id } = await sessionOf(fixture, of)
  expect(await fixture.api.delete(`/v1/gate/sessions/${id}`)).toMatchObject({ status: 204 })
}

/** Sets the address to what it is, and something along with it that can be seen. */
const mark = (value: unknown) => ({
  method: 'profile',
  traits: { email, custom_data: { mark: value } },
})

const markOf = async (): Promise<unknown> =>
  (await fixture.readIdentity(identity)).traits.custom_data.mark

describe('a settings flow begins', () => {
  test('with all that somebody may change, and with who it is', async () => {
    const flow = await fixture.settings(token)

    expect(flow).toMatchObject({
      type: 'browser',
      state: 'show_form',
      ui: { action: flow.hosted_url, method: 'POST' },
      identity: { id: identity.id, traits: { email, tenant_id: fixture.tenantId } },
    })
    expect(new URL(flow.hosted_url).pathname).toBe(`${SELF_SERVICE}/settings`)
    expect(Date.parse(flow.expires_at) - Date.parse(flow.issued_at)).toBe(HOUR)
    expect(nodeNames(flow)).toEqual([
      'profile:traits.email',
      'profile:method=profile',
      'password:password',
      'password:method=password',
    ])
    expect(node(flow, 'traits.email').attributes.value).toBe(email)
    expect(flow).not.toHaveProperty('continue_with')
    expect(JSON.stringify(flow)).not.toContain('gat_st_')
  })

  test('without a token: 401', async () => {
    expect(await fixture.ask('settings')).toMatchObject({
      status: 401,
      body: { error: 'missing session token: send it as X-Session-Token' },
    })
  })

  test('with one that is no good, or of another tenant: 401', async () => {
    const stranger = await others.register(email)
    for (const wrong of ['garbage', `${token}x`, fixture.key, stranger.session_token])
      expect(await fixture.ask('settings', withToken(wrong))).toMatchObject({
        status: 401,
        body: { error: expect.stringContaining('session token') },
      })
    expect(await others.ask('settings', withToken(token))).toMatchObject({ status: 401 })
    expect(await others.ask('settings', withToken(stranger.session_token))).toMatchObject({
      status: 200,
    })
  })

  test('with one that has ended: 401', async () => {
    await endSession(token)
    expect(await fixture.ask('settings', withToken(token))).toMatchObject({ status: 401 })
  })

  test('of somebody who was deactivated: 401', async () => {
    await fixture.setState(identity, 'inactive')
    expect(await fixture.ask('settings', withToken(token))).toMatchObject({ status: 401 })
  })

  test('until the session has expired', async () => {
    await using own = await bootUnhurried()
    const { session_token } = await own.register(ADA)
    own.clock.jump(DAY - 1)
    expect(await own.ask('settings', withToken(session_token))).toMatchObject({ status: 200 })
    own.clock.jump(1)
    expect(await own.ask('settings', withToken(session_token))).toMatchObject({ status: 401 })
  })

  test('only once the second factor is shown: 403 before', async () => {
    await using own = await bootFactors()
    const { session_token } = await own.register(ADA)
    await own.enrol(session_token)
    const { session_token: half } = await own.signIn(ADA)

    expect(await own.ask('settings', withToken(half))).toMatchObject(
      refuses(403, 'session_aal2_required'),
    )
    expect(await own.ask('settings', withToken(session_token))).toMatchObject({ status: 200 })
  })
})

describe('a settings flow is read', () => {
  test('with a token of its person, from whichever of their sessions', async () => {
    const { session_token: second } = await fixture.signIn(email)
    const flow = await fixture.settings(token)
    for (const good of [token, second])
      expect(await read(fixture, flow.ui.action, withToken(good))).toMatchObject({
        status: 200,
        body: { id: flow.id, identity: { id: identity.id } },
      })
  })

  test.each([
    ['no token', 401, 'session_inactive', () => ({})],
    ['one that is no good', 401, 'session_inactive', () => withToken('garbage')],
    [
      'that of somebody else',
      403,
      'security_identity_mismatch',
      async () => withToken((await fixture.register(`else-${email}`)).session_token),
    ],
    [
      'that of another tenant',
      401,
      'session_inactive',
      async () => withToken((await others.register(email)).session_token),
    ],
  ])('with %s: %i, and nothing of it is told', async (_, status, id, headers) => {
    const flow = await fixture.settings(token)
    const given = (await headers()) as Record<string, string>

    const answer = await read(fixture, flow.ui.action, given)

    expect(answer).toMatchObject(refuses(status, id))
    expect(JSON.stringify(answer.body)).not.toContain(identity.id)
    expect(JSON.stringify(answer.body)).not.toContain(email)
  })

  test('once its session has ended: 401', async () => {
    const flow = await fixture.settings(token)
    await endSession(token)
    expect(await read(fixture, flow.ui.action, withToken(token))).toMatchObject(
      refuses(401, 'session_inactive'),
    )
  })

  test('once the second factor is owed: 403, with the place where it is asked for', async () => {
    await using own = await bootFactors()
    const { session_token: first } = await own.register(ADA)
    const { session_token: second } = await own.signIn(ADA)
    const flow = await own.settings(second)
    await own.enrol(first)

    const answer = await read(own, flow.ui.action, withToken(second))

    expect(answer).toMatchObject(refuses(403, 'session_aal2_required'))
    expect(await read(own, answer.body.redirect_browser_to, withToken(second))).toMatchObject({
      status: 200,
      body: { requested_aal: 'aal2' },
    })
  })

  test('after it is over no more freely than before', async () => {
    const flow = await fixture.settings(token)
    await fixture.sendWell(flow, mark(1), withToken(token))
    const stranger = await fixture.register(`else-${email}`)

    expect(await read(fixture, flow.ui.action, withToken(token))).toMatchObject({
      status: 200,
      body: { state: 'success', identity: { id: identity.id } },
    })
    for (const headers of [{}, withToken('garbage'), withToken(stranger.session_token)]) {
      const answer = await read(fixture, flow.ui.action, headers as Record<string, string>)
      expect(JSON.stringify(answer.body)).not.toContain(email)
      expect([401, 403]).toContain(answer.status)
    }
  })

  test('after it has expired: 410, with another one for the same session', async () => {
    await using own = await bootUnhurried()
    const { session_token, identity: ada } = await own.register(ADA)
    const { session_token: bob } = await own.register(BOB)
    const flow = await own.settings(session_token)
    own.clock.jump(HOUR)

    const { status, body } = await read(own, flow.ui.action, withToken(session_token))

    expect({ status, body }).toEqual({
      status: 410,
      body: {
        error: 'the flow has expired',
        id: 'self_service_flow_expired',
        use_flow_id: expect.any(String),
        expired_at: flow.expires_at,
        since: 0,
      },
    })
    const next = `${SELF_SERVICE}/settings?flow=${body.use_flow_id}`
    const ask = (headers = {}) => own.app.raw(next, { headers })
    expect(await ask()).toMatchObject(refuses(401, 'session_inactive'))
    expect(await ask(withToken(bob))).toMatchObject(refuses(403, 'security_identity_mismatch'))
    const renewed = await ask(withToken(session_token))
    expect(renewed).toMatchObject({ status: 200, body: { identity: { id: ada.id } } })
    expect(messageIds(renewed.body)).toEqual([4050001])
  })
})

describe.each(Object.entries(WAYS))('a form sent %s', (_, send) => {
  test('is taken with a token of its person, from whichever of their sessions', async () => {
    const { session_token: second } = await fixture.signIn(email)
    for (const good of [token, second]) {
      const flow = await fixture.settings(token)
      expect(await send(fixture, flow, mark(good.length), good)).toMatchObject({
        status: 200,
        body: { id: flow.id, state: 'success' },
      })
      expect(await markOf()).toBe(good.length)
    }
  })

  test('is refused without a token', async () => {
    const flow = await fixture.settings(token)
    expect(await send(fixture, flow, mark(1))).toMatchObject(refuses(401, 'session_inactive'))
    expect(await markOf()).toBeUndefined()
  })

  test('is refused with a token that is no good', async () => {
    const flow = await fixture.settings(token)
    for (const wrong of ['garbage', fixture.key, `${token.slice(0, -1)}!`])
      expect(await send(fixture, flow, mark(1), wrong)).toMatchObject(
        refuses(401, 'session_inactive'),
      )
    expect(await markOf()).toBeUndefined()
  })

  test('is refused with a token of somebody else, whom it does not change either', async () => {
    const other = await fixture.register(`else-${email}`)
    const flow = await fixture.settings(token)

    expect(await send(fixture, flow, mark(1), other.session_token)).toMatchObject(
      refuses(403, 'security_identity_mismatch'),
    )

    expect(await markOf()).toBeUndefined()
    expect(await fixture.readIdentity(other.identity)).toMatchObject({
      traits: other.identity.traits,
    })
  })

  test('is refused with a token of another tenant', async () => {
    const other = await others.register(email)
    const flow = await fixture.settings(token)
    expect(await send(fixture, flow, mark(1), other.session_token)).toMatchObject(
      refuses(401, 'session_inactive'),
    )
    expect(await markOf()).toBeUndefined()
  })

  test('is refused once the session has ended', async () => {
    const flow = await fixture.settings(token)
    await endSession(token)
    expect(await send(fixture, flow, mark(1), token)).toMatchObject(
      refuses(401, 'session_inactive'),
    )
    expect(await markOf()).toBeUndefined()
  })

  test('is refused once a second factor is owed', async () => {
    await using own = await bootFactors()
    const { session_token: first } = await own.register(ADA)
    const { session_token: second, session } = await own.signIn(ADA)
    const flow = await own.settings(second)
    await own.enrol(first)

    const fields = { method: 'password', password: NEW_PASSWORD }
    expect(await send(own, flow, fields, second)).toMatchObject(
      refuses(403, 'session_aal2_required'),
    )
    expect(session.authenticator_assurance_level).toBe('aal1')
    expect(await own.tryPassword(ADA, NEW_PASSWORD)).toMatchObject(complains(4000006))
  })

  test('is taken once: a second one is told that the flow is over', async () => {
    const flow = await fixture.settings(token)
    expect(await send(fixture, flow, mark(1), token)).toMatchObject({ status: 200 })
    expect(await send(fixture, flow, mark(2), token)).toMatchObject(complains(4050001))
    expect(await markOf()).toBe(1)
  })

  test('tells a stranger nothing of a flow that is over', async () => {
    const flow = await fixture.settings(token)
    await send(fixture, flow, mark(1), token)
    const { body } = await send(fixture, flow, mark(2))
    expect(JSON.stringify(body)).not.toContain(email)
  })

  test('of two at once one is taken', async () => {
    const flow = await fixture.settings(token)
    const answers = await Promise.all([
      send(fixture, flow, mark(1), token),
      send(fixture, flow, mark(2), token),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
    expect(answers.find(({ status }) => status === 422)).toMatchObject(complains(4050001))
  })

  test('has to say what for', async () => {
    const flow = await fixture.settings(token)
    for (const fields of [{}, { method: 'magic' }, { method: 'code', email }, { method: 5 }]) {
      const answer = await send(fixture, flow, fields, token)
      expect(answer.status).toBe(422)
      expect(messageIds(answer.body)).toEqual([fields.method === 5 ? 4000026 : 4010004])
    }
    expect(await send(fixture, flow, mark(1), token)).toMatchObject({ status: 200 })
  })

  test('about a second factor is for tenants that ask for one', async () => {
    const flow = await fixture.settings(token)
    for (const fields of [
      { method: 'totp', totp_code: '123456' },
      { totp_code: '123456' },
      { totp_unlink: 'true' },
      { method: 'lookup_secret', lookup_secret_regenerate: true },
    ])
      expect(await send(fixture, flow, fields, token)).toMatchObject(complains(4010004))
  })
})

test('a button that says by its name what for does so as a word and as a boolean', async () => {
  await using own = await bootFactors()
  const { session_token } = await own.register(ADA)
  for (const value of ['true', true])
    for (const [name, wanted] of [
      ['totp_unlink', complains(4000011)],
      ['lookup_secret_regenerate', { status: 200 }],
      ['lookup_secret_confirm', complains(4000014)],
      ['lookup_secret_reveal', complains(4900007)],
    ] as const)
      expect(await own.change(session_token, { [name]: value })).toMatchObject(wanted)
})

describe('the tenant’s server', () => {
  test('names the flow in the body or in the query', async () => {
    const headers = {
      authorization: `Bearer ${fixture.key}`,
      'content-type': 'application/json',
      ...withToken(token),
    }
    const post = (query: string, fields: Json) =>
      fixture.app.raw(`${AUTH}/settings/submit${query}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(fields),
      })
    const first = await fixture.settings(token)
    expect(await post(`?flow=${first.id}`, mark(1))).toMatchObject({ status: 200 })
    const second = await fixture.settings(token)
    expect(await post('', { flow: second.id, ...mark(2) })).toMatchObject({ status: 200 })
    expect(await markOf()).toBe(2)

    for (const flow of [undefined, '', 5, null, {}])
      expect(await post('', { flow, ...mark(3) })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining('flow: is required') },
      })
  })

  test('has to name one of its tenant’s, of this kind: 404', async () => {
    const flow = await fixture.settings(token)
    const login = await fixture.start('login')
    for (const id of [UNKNOWN_ID, 'x', login.id])
      expect(
        await fixture.submit('settings', { flow: id, ...mark(1) }, withToken(token)),
      ).toMatchObject(refuses(404, 'flow_not_found'))
    expect(
      await others.submit('settings', { flow: flow.id, ...mark(1) }, withToken(token)),
    ).toMatchObject(refuses(404, 'flow_not_found'))
    expect(await markOf()).toBeUndefined()
  })

  test('of another tenant learns nothing of an expired flow', async () => {
    await using own = await bootUnhurried()
    const party = await flowParty(own.app)
    const { session_token } = await own.register(ADA)
    const flow = await own.settings(session_token)
    own.clock.jump(HOUR)
    expect(await party.submit('settings', { flow: flow.id })).toMatchObject(
      refuses(404, 'flow_not_found'),
    )
    expect(rowsOf(own.app, 'gate_flows').filter(({ kind }) => kind === 'settings')).toHaveLength(1)
  })
})

describe('the action of the flow', () => {
  test.each([
    ['none', undefined],
    ['an empty one', ''],
    ['any other', 'x'.repeat(64)],
    ['no text', 5],
  ])('needs the token against forgery: with %s 403', async (_, csrf_token) => {
    const flow = await fixture.settings(token)
    const fields = { ...mark(1), csrf_token }
    expect(await fixture.send(flow, fields, withToken(token))).toMatchObject(
      refuses(403, 'security_csrf_violation'),
    )
    expect(await markOf()).toBeUndefined()
  })

  test('does not take that of another flow', async () => {
    const flow = await fixture.settings(token)
    const csrf_token = node(await fixture.settings(token), 'csrf_token').attributes.value
    expect(await fixture.send(flow, { ...mark(1), csrf_token }, withToken(token))).toMatchObject(
      refuses(403, 'security_csrf_violation'),
    )
  })
})

describe('the profile', () => {
  const saved = async (traits: Json) => {
    const { status, body } = await fixture.change(token, { method: 'profile', traits })
    expect({ status, state: body.state }).toEqual({ status: 200, state: 'success' })
    return body
  }
  const traits = async () => (await fixture.readIdentity(identity)).traits

  test('keeps data of the tenant’s own that is not sent along', async () => {
    await saved({ email })
    expect(await traits()).toEqual({
      email,
      tenant_id: fixture.tenantId,
      custom_data: { plan: 'free' },
    })
  })

  test('takes such data in the place of what there was', async () => {
    const body = await saved({ email, custom_data: { theme: { dark: true } } })
    expect(body.identity.traits.custom_data).toEqual({ theme: { dark: true } })
    expect((await traits()).custom_data).toEqual({ theme: { dark: true } })
    await saved({ email, custom_data: {} })
    expect((await traits()).custom_data).toEqual({})
  })

  test('says that it is saved, and shows no form any more', async () => {
    const body = await saved({ email, custom_data: { a: 1 } })
    expect(messageIds(body)).toEqual([1050001])
    expect(body.ui.messages[0].type).toBe('success')
    expect(nodeNames(body)).toEqual([])
    expect(body).not.toHaveProperty('continue_with')
  })

  test('is noted once it has changed, as the person’s own doing', async () => {
    const actions = () => actionsOn(fixture.app, `identity:${identity.id}`)
    const before = actions()
    await saved({ email })
    expect(actions()).toEqual(before)
    await saved({ email, custom_data: { a: 1 } })
    expect(actions()).toEqual([...before, 'identity.updated'])
    expect(auditOf(fixture.app, `identity:${identity.id}`).at(-1)).toMatchObject({
      actor_kind: 'person',
      actor_id: identity.id,
    })
  })

  test('ends no session, and needs no recent sign-in', async () => {
    await using own = await bootUnhurried()
    const { session_token: first, identity: ada } = await own.register(ADA)
    const { session_token: second } = await own.signIn(ADA)
    own.clock.jump(23 * HOUR)
    const fields = { method: 'profile', traits: { email: ADA, custom_data: { a: 1 } } }
    expect(await own.change(first, fields)).toMatchObject({ status: 200 })
    expect((await own.readIdentity(ada)).traits.custom_data).toEqual({ a: 1 })
    for (const each of [first, second]) expect(await isAlive(own, each)).toBe(true)
  })

  test.each([
    ['no address', () => ({}), 4000002, 'traits.email'],
    ['an empty address', () => ({ email: '' }), 4000002, 'traits.email'],
    ['an address that is none', () => ({ email: 'no' }), 4000040, 'traits.email'],
    ['an address that is no text', () => ({ email: 5 }), 4000040, 'traits.email'],
    ['a field that there is not', () => ({ email, role: 'admin' }), 4000001, undefined],
    ['data that is no object', () => ({ email, custom_data: 'x' }), 4000001, undefined],
    ['data that is null', () => ({ email, custom_data: null }), 4000001, undefined],
    [
      'data that is too large',
      () => ({ email, custom_data: { a: 'x'.repeat(65_536) } }),
      4000001,
      undefined,
    ],
  ])('with %s is not taken', async (_, given, id, field) => {
    const answer = await fixture.change(token, { method: 'profile', traits: given() })
    expect(answer).toMatchObject(complains(id, field))
    expect(await traits()).toMatchObject({ email, custom_data: { plan: 'free' } })
  })

  test('that is no object is not taken', async () => {
    for (const given of ['x', [], 5])
      expect(await fixture.change(token, { method: 'profile', traits: given })).toMatchObject({
        status: 422,
      })
    expect(await traits()).toMatchObject({ email, custom_data: { plan: 'free' } })
  })

  test('cannot be moved to another tenant', async () => {
    await saved({ email, tenant_id: others.id, custom_data: { a: 1 } })
    expect((await traits()).tenant_id).toBe(fixture.tenantId)
    expect((await fixture.readIdentity(identity)).traits.custom_data).toEqual({ a: 1 })
  })

  test('reads the same address in another spelling as no change', async () => {
    const body = await saved({ email: ` ${email.toUpperCase()} `.trim() })
    expect(body).not.toHaveProperty('continue_with')
    expect((await traits()).email).toBe(email)
  })

  test('shows an address again that was mistyped', async () => {
    const fields = { method: 'profile', traits: { email: '<b>no' } }
    const { body } = await fixture.change(token, fields)
    expect(node(body, 'traits.email').attributes.value).toBe('<b>no')
  })

  test('keeps the address until the new one is proven', async () => {
    await using own = await bootUnhurried()
    const { session_token, identity: ada } = await own.register(ADA)
    own.clock.jump(31_000)
    const { body } = await own.change(session_token, {
      method: 'profile',
      traits: { email: BOB, custom_data: { a: 1 } },
    })

    expect(body.state).toBe('success')
    expect(body.identity.traits).toMatchObject({ email: ADA, custom_data: { a: 1 } })
    const [next, ...rest] = body.continue_with
    expect(rest).toEqual([])
    expect(next).toMatchObject({
      action: 'show_verification_ui',
      flow: { verifiable_address: BOB },
    })
    expect((await own.readIdentity(ada)).traits.email).toBe(ADA)
    expect(own.mailsTo(ADA)[0]).toMatchObject({ kind: 'notice' })

    const verification = (await read(own, next.flow.url)).body
    const code = own.codeFor(BOB)
    expect((await own.sendWell(verification, { code })).state).toBe('passed_challenge')
    expect(await own.readIdentity(ada)).toMatchObject({
      traits: { email: BOB, custom_data: { a: 1 } },
      verifiable_addresses: [{ value: BOB, verified: true }],
    })
    expect(await own.tryPassword(ADA)).toMatchObject(complains(4000006))
    expect(await own.tryPassword(BOB)).toMatchObject({ status: 200 })
  })
})

describe('accounts elsewhere', () => {
  let own: ReturnType<typeof offering>
  let ada: Json
  let session: string
  beforeAll(async () => {
    own = offering(fixture, 'github', 'discord')
    await own.enable('github', 'discord', 'google')
  })
  beforeEach(() => {
    ada = identity
    session = token
  })

  const oidcNodes = async () =>
    nodeNames(await own.settings(session)).filter((name) => name.startsWith('oidc:'))

  /** Somebody who has never had a password. */
  async function withoutPassword() {
    ada = await fixture.createIdentity()
    session = (await fixture.openSession(ada)).token
  }

  test('can be connected where the tenant has them on and the instance knows them', async () => {
    expect((await oidcNodes()).toSorted()).toEqual(['oidc:link=discord', 'oidc:link=github'])
    await connect(fixture, ada, 'github', `github-${ada.id}`)
    expect(await oidcNodes()).toEqual(['oidc:link=discord', 'oidc:unlink=github'])
  })

  test('lead to the provider first', async () => {
    const headers = { ...withToken(session), 'x-return-to': RETURN_TO }
    const flow = await own.start('settings', headers)
    const answer = await own.send(flow, { link: 'github' }, withToken(session))
    expect(answer).toMatchObject({ status: 422, body: { id: 'browser_location_change_required' } })
    expect(new URL(answer.body.redirect_browser_to).host).toBe('github.com')
    expect(await own.change(session, { link: 'github' })).toMatchObject(complains(4000001))
  })

  test('are not connected twice, nor where they are not offered', async () => {
    await connect(fixture, ada, 'github', `github-${ada.id}`)
    for (const link of ['github', 'google', 'spotify', 'nothing', '__proto__'])
      expect(await own.change(session, { link })).toMatchObject(complains(4900009))
  })

  test('are disconnected, and then are nobody’s', async () => {
    await connect(fixture, ada, 'github', `github-${ada.id}`)
    await connect(fixture, ada, 'discord', `discord-${ada.id}`)

    expect(await own.change(session, { unlink: 'github' })).toMatchObject({
      status: 200,
      body: { state: 'success' },
    })

    expect(await oidcNodes()).toEqual(['oidc:link=github', 'oidc:unlink=discord'])
    const links = rowsOf(fixture.app, 'gate_social_links').filter(
      ({ identity_id }) => identity_id === ada.id,
    )
    expect(links.map(({ provider }) => provider)).toEqual(['discord'])
    expect(actionsOn(fixture.app, `identity:${ada.id}`)).toContain('identity.account_disconnected')
    expect(await own.change(session, { unlink: 'github' })).toMatchObject(complains(4900009))
  })

  test('of somebody else cannot be disconnected', async () => {
    const other = await fixture.createIdentity()
    await connect(fixture, other, 'github', `github-${other.id}`)
    expect(await own.change(session, { unlink: 'github' })).toMatchObject(complains(4900009))
    expect(
      rowsOf(fixture.app, 'gate_social_links').some(({ identity_id }) => identity_id === other.id),
    ).toBe(true)
  })

  test('that are the last way in stay', async () => {
    await withoutPassword()
    await connect(fixture, ada, 'github', `github-${ada.id}`)

    expect(await oidcNodes()).toEqual(['oidc:link=discord'])
    expect(await own.change(session, { unlink: 'github' })).toMatchObject(complains(4900011))

    await connect(fixture, ada, 'discord', `discord-${ada.id}`)
    expect((await oidcNodes()).toSorted()).toEqual(['oidc:unlink=discord', 'oidc:unlink=github'])
    expect(await own.change(session, { unlink: 'github' })).toMatchObject({ status: 200 })
    expect(await own.change(session, { unlink: 'discord' })).toMatchObject(complains(4900011))
  })

  test('of two at once that would leave no way in one stays', async () => {
    await withoutPassword()
    await connect(fixture, ada, 'github', `github-${ada.id}`)
    await connect(fixture, ada, 'discord', `discord-${ada.id}`)
    const answers = await Promise.all([
      own.change(session, { unlink: 'github' }),
      own.change(session, { unlink: 'discord' }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
  })

  test('go once a code by mail is a way in, or a password', async () => {
    await withoutPassword()
    await connect(fixture, ada, 'github', `github-${ada.id}`)
    await own.allowCodes(true)
    try {
      expect(await oidcNodes()).toEqual(['oidc:link=discord', 'oidc:unlink=github'])
    } finally {
      await own.allowCodes(false)
    }
    expect(await own.change(session, { unlink: 'github' })).toMatchObject(complains(4900011))
    expect(await own.change(session, { method: 'password', password: NEW_PASSWORD })).toMatchObject(
      { status: 200 },
    )
    expect(await own.change(session, { unlink: 'github' })).toMatchObject({ status: 200 })
  })

  test('at a provider that nobody can sign in with any more are no way in', async () => {
    await withoutPassword()
    await connect(fixture, ada, 'github', `github-${ada.id}`)
    // Neither configured here nor offered.
    await connect(fixture, ada, 'spotify', `spotify-${ada.id}`)
    expect(await own.change(session, { unlink: 'github' })).toMatchObject(complains(4900011))
    expect(await own.change(session, { unlink: 'spotify' })).toMatchObject({ status: 200 })
  })
})
