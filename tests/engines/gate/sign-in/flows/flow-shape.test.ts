import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import type { Json } from '../../fixture.ts'
import { ID } from '../../identities/people.ts'
import { ADA, CODES, HOUR, NEW_PASSWORD, RETURN_TO, withToken } from './acts.ts'
import { bootChecked, saidIn } from './checked.ts'
import { csrfOf, flowsOf, node, nodeNames, PASSWORD, pathOf } from './fixture.ts'

const BASE = 'http://127.0.0.1:8420'
const isoAt = (ms: number) => new Date(ms).toISOString()

const { app, clock, ...checked } = await bootChecked()
afterAll(app.stop)

async function newTenant() {
  const { id, key } = await app.tenant()
  const { key: secret } = await key('gate', 'live')
  const api = app.client(secret)
  return flowsOf(app, { tenantId: id, key: secret, api })
}

let acme: Awaited<ReturnType<typeof newTenant>>
let token: string
beforeEach(async () => {
  acme = await newTenant()
  token = (await acme.register(ADA)).session_token
  clock.jump(31_000)
})

const start = (kind: string, headers: Record<string, string> = {}) =>
  acme.start(kind, { ...(kind === 'settings' && withToken(token)), ...headers })

const read = async (flow: Json): Promise<Json> =>
  (await app.raw(pathOf(flow.ui.action), { headers: withToken(token) })).body

describe('A flow', () => {
  test.each(FLOW_KINDS)(
    'of kind %s starts with these fields, and is read as often as wanted',
    async (kind) => {
      const now = clock.now()
      const { identity } = (await checked.whoami(token)).body
      const flow = await start(kind)
      const address = `${BASE}/auth/self-service/${kind}?flow=${flow.id}`
      const fields = {
        id: ID,
        type: 'browser',
        expires_at: isoAt(now + HOUR),
        issued_at: isoAt(now),
        request_url: `${BASE}/v1/gate/auth/${kind}`,
        state: kind === 'settings' ? 'show_form' : 'choose_method',
        ui: { action: address, method: 'POST', nodes: flow.ui.nodes },
        hosted_url: address,
        ...(kind === 'login' && {
          created_at: isoAt(now),
          updated_at: isoAt(now),
          refresh: false,
          requested_aal: 'aal1',
        }),
        ...(kind === 'settings' && { identity }),
      }
      expect(flow).toStrictEqual(fields)
      for (let n = 0; n < 2; n++) expect(await read(flow)).toEqual(flow)

      const other = await start(kind, { 'x-return-to': RETURN_TO })
      expect(other.return_to).toBe(RETURN_TO)
      expect(await read(other)).toEqual(other)
      expect(other.id).not.toBe(flow.id)
      expect(csrfOf(other)).not.toBe(csrfOf(flow))
    },
  )

  test('has the lifetime and the base URL of the configuration', async () => {
    const flags = { 'gate-flow-lifetime': '20m', 'server-base-url': 'https://id.example.com' }
    await using own = await bootChecked({ flags })
    const flow = await own.start('login')
    expect(Date.parse(flow.expires_at) - Date.parse(flow.issued_at)).toBe(20 * 60_000)
    expect(flow.ui.action).toBe(`https://id.example.com/auth/self-service/login?flow=${flow.id}`)
    expect(flow.request_url).toBe('https://id.example.com/v1/gate/auth/login')
  })
})

describe('The nodes of a flow', () => {
  const LOGIN = ['default:identifier', 'password:password', 'password:method=password']
  const SIGN_UP = ['default:traits.email', 'password:password', 'password:method=password']
  const BY_CODE = 'code:method=code'
  const PROFILE = ['profile:traits.email', 'profile:method=profile']
  const PASSWORDS = ['password:password', 'password:method=password']
  const TOTP = ['totp:totp_qr', 'totp:totp_secret_key', 'totp:totp_code', 'totp:method=totp']
  const LOOKUP = 'lookup_secret:lookup_secret_regenerate=true'

  test('follow the settings of the tenant, also if the flow is open', async () => {
    const flows = Object.fromEntries(
      await Promise.all(FLOW_KINDS.map(async (kind) => [kind, await start(kind)])),
    )
    const names = async () => {
      for (const kind of FLOW_KINDS) flows[kind] = await read(flows[kind])
      return Object.fromEntries(FLOW_KINDS.map((kind) => [kind, nodeNames(flows[kind])]))
    }
    const plain = {
      login: LOGIN,
      registration: SIGN_UP,
      recovery: ['code:email', BY_CODE],
      verification: ['code:email', BY_CODE],
      settings: [...PROFILE, ...PASSWORDS],
    }
    await acme.security({ passwordless_enabled: false, mfa_enabled: false })
    expect(await names()).toEqual(plain)
    await acme.security({ passwordless_enabled: true })
    const withCodes = { ...plain, login: [...LOGIN, BY_CODE], registration: [...SIGN_UP, BY_CODE] }
    expect(await names()).toEqual(withCodes)
    await acme.security({ mfa_enabled: true })
    const settings = [...plain.settings, ...TOTP, LOOKUP]
    expect(await names()).toEqual({ ...withCodes, settings })
    // The secret of a new authenticator stays the same while its flow is open.
    const secretIn = (flow: Json) => node(flow, 'totp_secret_key').attributes.value
    expect(secretIn(await read(flows.settings))).toBe(secretIn(flows.settings))
    expect(secretIn(await start('settings'))).not.toBe(secretIn(flows.settings))
  })

  test('have the address of a user who signs in again as a hidden field', async () => {
    await acme.security({ passwordless_enabled: true })
    const flow = await acme.start('login', withToken(token), '?refresh=true')
    expect(flow).toMatchObject({ refresh: true, requested_aal: 'aal1' })
    expect(saidIn(flow)).toEqual([1010003])
    const names = [`default:identifier=${ADA}`, ...LOGIN.slice(1), BY_CODE]
    expect(nodeNames(flow)).toEqual(names)
    expect(await read(flow)).toEqual(flow)
  })

  test('ask for a second factor only, and for recovery codes if there are some', async () => {
    await acme.security({ mfa_enabled: true })
    await acme.enrol(token)
    const ask = () => acme.start('login', withToken(token), '?aal=aal2')
    const flow = await ask()
    expect(flow).toMatchObject({ refresh: false, requested_aal: 'aal2', state: 'choose_method' })
    expect(saidIn(flow)).toEqual([1010004])
    const byApp = ['totp:totp_code', 'totp:method=totp']
    expect(nodeNames(flow)).toEqual(byApp)

    const settings = await acme.settings(token)
    for (const button of [CODES.make, CODES.keep])
      await acme.sendWell(settings, button, withToken(token))
    const byCode = ['lookup_secret:lookup_secret', 'lookup_secret:method=lookup_secret']
    expect(nodeNames(await ask())).toEqual([...byApp, ...byCode])
  })
})

describe('After a step, a flow', () => {
  beforeEach(() => acme.security({ passwordless_enabled: true }))
  const NEW = 'new@example.com'

  test.each([
    [
      'login',
      { identifier: 'New@Example.com' },
      1010014,
      [`default:identifier=${NEW}`],
      'resend=code',
    ],
    [
      'registration',
      { traits: { email: NEW } },
      1040005,
      [`default:traits.email=${NEW}`],
      'resend=code',
    ],
    ['recovery', { email: NEW }, 1060003, [], `email=${NEW}`],
    ['verification', { email: NEW }, 1080003, [], `email=${NEW}`],
  ])('of kind %s that sent a code asks for it', async (kind, fields, message, hidden, resend) => {
    const flow = await start(kind)
    clock.jump(1500)
    const sent = await acme.sendWell(flow, { method: 'code', ...fields })
    expect(sent).toStrictEqual({
      ...flow,
      ...(kind === 'login' && { updated_at: isoAt(clock.now()) }),
      active: 'code',
      state: 'sent_email',
      ui: sent.ui,
    })
    expect(saidIn(sent)).toEqual([message])
    expect(csrfOf(sent)).toBe(csrfOf(flow))
    const code = ['code:code', 'code:method=code', 'code:method=code', `code:${resend}`]
    expect(nodeNames(sent)).toEqual([...hidden, ...code])
    expect(await read(flow)).toEqual(sent)
  })

  test('that led to a session asks for nothing', async () => {
    const forms: Json = { registration: { traits: { email: NEW } }, login: { identifier: ADA } }
    for (const [kind, fields] of Object.entries(forms)) {
      const flow = await start(kind)
      clock.jump(1000)
      await acme.sendWell(flow, { method: 'password', password: PASSWORD, ...(fields as Json) })
      expect(await read(flow)).toStrictEqual({
        ...flow,
        active: 'password',
        state: 'passed_challenge',
        ui: { ...flow.ui, nodes: flow.ui.nodes.slice(0, 1) },
        ...(kind === 'login' && { updated_at: isoAt(clock.now()) }),
      })
    }
  })

  test.each([undefined, RETURN_TO])('of verification leads on to %p', async (returnTo) => {
    const flow = await start('verification', returnTo ? { 'x-return-to': returnTo } : {})
    await acme.sendWell(flow, { method: 'code', email: ADA })
    const code = acme.codeFor(ADA)
    const done = await acme.sendWell(flow, { method: 'code', code }, withToken(token))
    expect(done).toMatchObject({ id: flow.id, state: 'passed_challenge' })
    expect(done.ui.messages).toMatchObject([{ id: 1080002, type: 'success' }])
    expect(nodeNames(done)).toEqual(returnTo ? ['code:continue'] : [])
    if (returnTo) expect(node(done, 'continue').attributes.href).toBe(RETURN_TO)
    expect(await read(flow)).toEqual(done)
  })

  test('of recovery has the session and the settings to continue with, once', async () => {
    const flow = await start('recovery')
    await acme.sendWell(flow, { method: 'code', email: ADA })
    const done = await acme.sendWell(flow, { code: acme.codeFor(ADA) })
    const [session, settings, ...rest] = done.continue_with
    expect(session).toEqual({
      action: 'set_ory_session_token',
      ory_session_token: expect.stringMatching(/^gat_st_/),
    })
    const url = `${BASE}/auth/self-service/settings?flow=${settings.flow.id}`
    expect(settings).toEqual({ action: 'show_settings_ui', flow: { id: ID, url } })
    expect(rest).toEqual([])
    expect(saidIn(done)).toEqual([1060001])
    expect(nodeNames(done)).toEqual([])
    const { continue_with: _, ...shown } = done
    expect(await read(flow)).toEqual(shown)
  })

  test('of settings confirms the change', async () => {
    const flow = await acme.settings(token)
    const fields = { method: 'password', password: NEW_PASSWORD }
    const done = await acme.sendWell(flow, fields, withToken(token))
    expect(done).toMatchObject({
      id: flow.id,
      state: 'success',
      identity: { id: flow.identity.id },
    })
    expect(done.ui.messages).toMatchObject([{ id: 1050001, type: 'success' }])
  })

  test('with an error is as before, with messages', async () => {
    const flow = await start('login')
    const { status, body } = await acme.send(flow, { method: 'password', identifier: 'x' })
    expect(status).toBe(422)
    const password = node(body, 'password')
    expect(password.messages).toEqual([
      {
        id: 4000002,
        text: expect.stringContaining('Password'),
        type: 'error',
        context: { property: 'password' },
      },
    ])
    expect(body.ui.messages).toEqual(password.messages)
    delete body.ui.messages
    password.messages = []
    node(body, 'identifier').attributes.value = ''
    expect(body).toEqual(flow)
    expect(await read(flow)).toEqual(flow)
  })
})
