import { beforeEach, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import { HOUR, ID, type Json } from '../../fixture.ts'
import { ADA, RETURN_TO, withToken } from './acts.ts'
import { isoAt } from './checked.ts'
import { HOSTED, type Tenant, useFlows } from './code-fixture.ts'
import { csrfOf, messageIds, node, nodeNames, PASSWORD, pathOf } from './fixture.ts'

const { app, clock, newTenant } = await useFlows()
let acme: Tenant
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

test.each(FLOW_KINDS)('A flow of kind %s has these fields', async (kind) => {
  const now = isoAt(clock.now())
  const { identity } = await acme.sessionOf(token)
  const flow = await start(kind)
  const address = `${HOSTED}/${kind}?flow=${flow.id}`
  const ofLogin = { created_at: now, updated_at: now, refresh: false, requested_aal: 'aal1' }
  expect(flow).toStrictEqual({
    id: ID,
    type: 'browser',
    expires_at: isoAt(clock.now() + HOUR),
    issued_at: now,
    request_url: `http://127.0.0.1:8420/v1/gate/auth/${kind}`,
    state: kind === 'settings' ? 'show_form' : 'choose_method',
    ui: { action: address, method: 'POST', nodes: flow.ui.nodes },
    hosted_url: address,
    ...(kind === 'login' && ofLogin),
    ...(kind === 'settings' && { identity }),
  })
  for (let n = 0; n < 2; n++) expect(await read(flow)).toEqual(flow)
  const other = await start(kind, { 'x-return-to': RETURN_TO })
  expect(other.return_to).toBe(RETURN_TO)
  expect(await read(other)).toEqual(other)
  expect(other.id).not.toBe(flow.id)
  expect(csrfOf(other)).not.toBe(csrfOf(flow))
})

test('A flow has the lifetime and the base URL of the configuration', async () => {
  const flags = { 'gate-flow-lifetime': '20m', 'server-base-url': 'https://id.example.com' }
  const own = await useFlows({ flags })
  const flow = await own.start('login')
  expect(Date.parse(flow.expires_at) - Date.parse(flow.issued_at)).toBe(20 * 60_000)
  expect(flow.ui.action).toBe(`https://id.example.com/auth/self-service/login?flow=${flow.id}`)
  expect(flow.request_url).toBe('https://id.example.com/v1/gate/auth/login')
})

const PASSWORDS = ['password:password', 'password:method=password']
const LOGIN = ['default:identifier', ...PASSWORDS]
const SIGN_UP = ['default:traits.email', ...PASSWORDS]
const BY_CODE = 'code:method=code'
const PROFILE = ['profile:traits.email', 'profile:method=profile']
const TOTP = ['totp:totp_qr', 'totp:totp_secret_key', 'totp:totp_code', 'totp:method=totp']
const LOOKUP = 'lookup_secret:lookup_secret_regenerate=true'

test('The nodes of a flow follow the settings of the tenant, also if the flow is open', async () => {
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

  const refresh = await acme.start('login', withToken(token), '?refresh=true')
  expect(refresh).toMatchObject({ refresh: true, requested_aal: 'aal1' })
  expect(messageIds(refresh)).toEqual([1010003])
  expect(nodeNames(refresh)).toEqual([`default:identifier=${ADA}`, ...PASSWORDS, BY_CODE])
  expect(await read(refresh)).toEqual(refresh)
})

const NEW = 'new@example.com'

test.each<[string, Json, number, string[]]>([
  ['login', { identifier: 'New@X.com' }, 1010014, ['default:identifier=new@x.com']],
  ['registration', { traits: { email: NEW } }, 1040005, [`default:traits.email=${NEW}`]],
  ['recovery', { email: NEW }, 1060003, []],
])('A %s that sent a code asks for it', async (kind, fields, message, hidden) => {
  await acme.security({ passwordless_enabled: true })
  const flow = await start(kind)
  clock.jump(1500)
  const sent = await acme.sendWell(flow, { method: 'code', ...fields })
  const updated = kind === 'login' && { updated_at: isoAt(clock.now()) }
  const step = { active: 'code', state: 'sent_email', ui: sent.ui }
  expect(sent).toStrictEqual({ ...flow, ...updated, ...step })
  expect([messageIds(sent), csrfOf(sent)]).toEqual([[message], csrfOf(flow)])
  const resend = kind === 'recovery' ? `code:email=${NEW}` : 'code:resend=code'
  const code = ['code:code', 'code:method=code', 'code:method=code', resend]
  expect(nodeNames(sent)).toEqual([...hidden, ...code])
  expect(await read(flow)).toEqual(sent)
})

test('A verification leads on to the return URL', async () => {
  const flow = await start('verification', { 'x-return-to': RETURN_TO })
  await acme.sendWell(flow, { method: 'code', email: ADA })
  const code = acme.codeFor(ADA)
  const done = await acme.sendWell(flow, { method: 'code', code }, withToken(token))
  expect(done.ui.messages).toMatchObject([{ id: 1080002, type: 'success' }])
  expect(nodeNames(done)).toEqual(['code:continue'])
  expect(node(done, 'continue').attributes.href).toBe(RETURN_TO)
  expect(await read(flow)).toEqual(done)
})

test('A flow with an error is as before, with messages', async () => {
  const flow = await start('login')
  const { status, body } = await acme.send(flow, { method: 'password', identifier: 'x' })
  const password = node(body, 'password')
  const context = { property: 'password' }
  const message = { id: 4000002, text: 'Password is required.', type: 'error', context }
  expect([status, password.messages, body.ui.messages]).toEqual([422, [message], [message]])
  delete body.ui.messages
  password.messages = []
  node(body, 'identifier').attributes.value = ''
  expect(body).toEqual(flow)
  expect(await read(flow)).toEqual(flow)
})

const GERMAN = { 'accept-language': 'de' }
const ENGLISH = { 'accept-language': 'en-GB' }
const WRONG = { method: 'password', identifier: ADA, password: 'wrong' }

const readIn = async ({ ui }: Json, headers: Record<string, string> = {}): Promise<Json> =>
  (await acme.readAt(ui.action, headers)).body

const passwordLabel = (flow: Json): string => node(flow, 'password').meta.label.text

test('A flow is shown in the language of its reader, or in its own', async () => {
  for (const [own, label] of [
    ['', 'Password'],
    ['*', 'Password'],
    ['de-AT, de;q=0.9, en;q=0.5', 'Passwort'],
    ['fr, de;q=0.1', 'Passwort'],
  ] as const) {
    const flow = await start('login', { 'accept-language': own })
    expect(passwordLabel(flow)).toBe(label)
    expect(passwordLabel(await readIn(flow, { 'accept-language': 'fr' }))).toBe(label)
    expect(passwordLabel(await readIn(flow, GERMAN))).toBe('Passwort')
    expect(passwordLabel(await readIn(flow, ENGLISH))).toBe('Password')
  }
})

test('A flow continues in the language in which a form was sent, until it is complete', async () => {
  const flow = await start('login')
  const { body } = await acme.send(flow, WRONG, GERMAN)
  expect(body.ui.messages[0]).toMatchObject({ id: 4000006 })
  expect(body.ui.messages[0].text).toContain('Passwort')
  expect(passwordLabel(body)).toBe('Passwort')
  expect(passwordLabel(await readIn(flow))).toBe('Passwort')
  expect(passwordLabel((await acme.send(flow, WRONG)).body)).toBe('Passwort')

  await acme.sendWell(flow, { ...WRONG, password: PASSWORD })
  await acme.send(flow, WRONG, ENGLISH)
  expect((await acme.send(flow, WRONG)).body.ui.messages[0].text).toContain('Anmeldung')
})

test('Errors of fields and emails are in the language of the flow', async () => {
  await acme.security({ passwordless_enabled: true })
  const signUp = await start('registration', GERMAN)
  const form = { method: 'password', traits: { email: NEW }, password: 'kurz' }
  const { body } = await acme.send(signUp, form)
  expect(node(body, 'password').messages[0].text).toContain('8 Zeichen')
  await acme.sendWell(signUp, { ...form, password: PASSWORD })
  expect(acme.sentTo(NEW)[0]?.subject).toStartWith('Bestätige deine')
  for (const [startedIn, sentIn, words] of [
    [{}, GERMAN, '15 Minuten'],
    [GERMAN, {}, '15 Minuten'],
    [GERMAN, ENGLISH, '15 minutes'],
  ] as [Record<string, string>, Record<string, string>, string][]) {
    const flow = await acme.start('login', startedIn)
    await acme.sendWell(flow, { method: 'code', identifier: ADA }, sentIn)
    expect(acme.sentTo(ADA)[0]?.body?.text).toContain(words)
    clock.jump(31_000)
  }
})
