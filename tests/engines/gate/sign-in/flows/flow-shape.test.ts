import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import type { Json } from '../../fixture.ts'
import { HOUR, ID, MINUTE, START } from '../../identities/people.ts'
import { bareNodes, bootChecked, type Checked, saidIn } from './checked.ts'
import { csrfOf, node, nodeNames, PASSWORD, pathOf, totpAt } from './fixture.ts'

const BASE = 'http://127.0.0.1:8420'
const RETURN_TO = 'https://app.example.com/after'
const isoAt = (ms: number) => new Date(ms).toISOString()

let fixture: Checked
let token: string
beforeAll(async () => {
  fixture = await bootChecked()
  token = (await fixture.register('somebody@example.com')).session_token
})
afterAll(() => fixture[Symbol.asyncDispose]())

const start = (kind: string, headers: Record<string, string> = {}) =>
  fixture.start(kind, { ...(kind === 'settings' && { 'x-session-token': token }), ...headers })

const read = async (flow: Json): Promise<Json> => {
  const answer = await fixture.app.raw(pathOf(flow.ui.action), {
    headers: { 'x-session-token': token },
  })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

/** The fields that every flow has. */
const common = (kind: string, now: number) => ({
  id: ID,
  type: 'browser',
  expires_at: isoAt(now + HOUR),
  issued_at: isoAt(now),
  request_url: `${BASE}/v1/gate/auth/${kind}`,
  state: kind === 'settings' ? 'show_form' : 'choose_method',
  ui: { action: expect.any(String), method: 'POST', nodes: expect.any(Array) },
  hosted_url: expect.any(String),
})

const ofLogin = (now: number) => ({
  created_at: isoAt(now),
  updated_at: isoAt(now),
  refresh: false,
  requested_aal: 'aal1',
})

describe('a flow as it begins', () => {
  test.each(FLOW_KINDS)('has these fields and no others: %s', async (kind) => {
    const now = fixture.clock.now()
    const { identity } = (await fixture.whoami(token)).body
    expect(await start(kind)).toStrictEqual({
      ...common(kind, now),
      ...(kind === 'login' && ofLogin(now)),
      ...(kind === 'settings' && { identity }),
    })
  })

  test.each(FLOW_KINDS)('is submitted where it is read, by its own id: %s', async (kind) => {
    const flow = await start(kind)
    const address = `${BASE}/auth/self-service/${kind}?flow=${flow.id}`
    expect(flow).toMatchObject({ ui: { action: address }, hosted_url: address })
  })

  test.each(FLOW_KINDS)('is read back as it began, as often as one likes: %s', async (kind) => {
    const flow = await start(kind)
    expect(await read(flow)).toEqual(flow)
    expect(await read(flow)).toEqual(flow)
  })

  test.each(FLOW_KINDS)('shows where the browser goes afterwards: %s', async (kind) => {
    const now = fixture.clock.now()
    const flow = await start(kind, { 'x-return-to': RETURN_TO })
    expect(await read(flow)).toEqual(flow)
    expect(flow).toMatchObject({ ...common(kind, now), return_to: RETURN_TO })
  })

  test('begins when it is asked for, each with an id and a token of its own', async () => {
    fixture.clock.jump(1)
    const flows = await Promise.all(FLOW_KINDS.map((kind) => start(kind)))
    const { length } = FLOW_KINDS
    expect(new Set(flows.map(({ id }) => id)).size).toBe(length)
    expect(new Set(flows.map(csrfOf)).size).toBe(length)
    const now = isoAt(fixture.clock.now())
    expect(flows.map(({ issued_at }) => issued_at)).toEqual(Array(length).fill(now))
    expect(now).not.toBe(START)
  })

  test('lasts as long as is configured', async () => {
    await using own = await bootChecked({
      flags: { 'gate-flow-lifetime': '20m', 'server-base-url': 'https://id.example.com' },
    })
    const flow = await own.start('login')
    expect(Date.parse(flow.expires_at) - Date.parse(flow.issued_at)).toBe(20 * 60_000)
    expect(flow.ui.action).toBe(`https://id.example.com/auth/self-service/login?flow=${flow.id}`)
    expect(flow.request_url).toBe('https://id.example.com/v1/gate/auth/login')
  })
})

const INPUT = { disabled: false, node_type: 'input' }

const input = (group: string, label: number, attributes: Json): Json => ({
  type: 'input',
  group,
  attributes: { value: '', ...attributes, ...INPUT },
  messages: [],
  label,
})

const button = (group: string, name: string, value: string, label: number): Json =>
  input(group, label, { name, type: 'submit', value })

/** On what people do not see. */
const NO_LABEL = 0

const CSRF = input('default', NO_LABEL, {
  name: 'csrf_token',
  type: 'hidden',
  value: expect.stringMatching(/^[0-9a-f]{64}$/),
  required: true,
})

const field = (group: string, label: number, name: string, type: string, more: Json = {}): Json =>
  input(group, label, { name, type, required: true, ...more })

const hidden = (group: string, name: string, value: string, label = NO_LABEL, more: Json = {}) =>
  input(group, label, { name, type: 'hidden', value, ...more })

const IDENTIFIER = field('default', 1070002, 'identifier', 'text', { autocomplete: 'username' })
const OLD_PASSWORD = field('password', 1070001, 'password', 'password', {
  autocomplete: 'current-password',
})
const NEW_PASSWORD = field('password', 1070001, 'password', 'password', {
  autocomplete: 'new-password',
})
const EMAIL_TRAIT = field('default', 1070002, 'traits.email', 'email', { autocomplete: 'email' })
const EMAIL = field('code', 1070007, 'email', 'email', { autocomplete: 'email' })

const codeField = (label: number, more: Json = {}) =>
  field('code', label, 'code', 'text', { autocomplete: 'one-time-code', ...more })

const CODE_SENT = [hidden('code', 'method', 'code'), button('code', 'method', 'code', 1070009)]

const byPassword = {
  login: [IDENTIFIER, OLD_PASSWORD, button('password', 'method', 'password', 1010022)],
  registration: [EMAIL_TRAIT, NEW_PASSWORD, button('password', 'method', 'password', 1040001)],
}
const byCode = {
  login: button('code', 'method', 'code', 1010015),
  registration: button('code', 'method', 'code', 1040006),
}
const address = [EMAIL, button('code', 'method', 'code', 1070009)]

const settingsFor = (email: string, { mfa }: { mfa: boolean }): Json[] => [
  input('profile', 1070002, {
    name: 'traits.email',
    type: 'email',
    value: email,
    autocomplete: 'email',
    required: true,
  }),
  button('profile', 'method', 'profile', 1070003),
  NEW_PASSWORD,
  button('password', 'method', 'password', 1070003),
  ...(mfa ? AUTHENTICATOR : []),
]

const AUTHENTICATOR = [
  {
    type: 'img',
    group: 'totp',
    attributes: {
      id: 'totp_qr',
      name: 'totp_qr',
      type: 'img',
      value: expect.stringMatching(/^data:image/),
      src: expect.stringMatching(/^data:image\/png;base64,[\w+/]+=*$/),
      width: 256,
      height: 256,
      node_type: 'img',
    },
    messages: [],
    label: 1050005,
  },
  {
    type: 'text',
    group: 'totp',
    attributes: {
      id: 'totp_secret_key',
      name: 'totp_secret_key',
      type: 'text',
      value: expect.stringMatching(/^[A-Z2-7]{32}$/),
      text: expect.objectContaining({ id: 1050006 }),
      node_type: 'text',
    },
    messages: [],
    label: 1050017,
  },
  field('totp', 1070006, 'totp_code', 'text', { autocomplete: 'one-time-code' }),
  button('totp', 'method', 'totp', 1070003),
  button('lookup_secret', 'lookup_secret_regenerate', 'true', 1050008),
]

describe('the nodes of a flow', () => {
  test.each([false, true])('with sign-in by code %p', async (passwordless_enabled) => {
    await fixture.security({ passwordless_enabled, mfa_enabled: false })
    const ifOn = (one: Json) => (passwordless_enabled ? [one] : [])
    expect(bareNodes(await start('login'))).toEqual([
      CSRF,
      ...byPassword.login,
      ...ifOn(byCode.login),
    ])
    expect(bareNodes(await start('registration'))).toEqual([
      CSRF,
      ...byPassword.registration,
      ...ifOn(byCode.registration),
    ])
    for (const kind of ['recovery', 'verification'])
      expect(bareNodes(await start(kind))).toEqual([CSRF, ...address])
  })

  test.each([false, true])('with a second factor %p', async (mfa_enabled) => {
    await fixture.security({ passwordless_enabled: false, mfa_enabled })
    expect(bareNodes(await start('settings'))).toEqual([
      CSRF,
      ...settingsFor('somebody@example.com', { mfa: mfa_enabled }),
    ])
    expect(bareNodes(await start('login'))).toEqual([CSRF, ...byPassword.login])
    expect(bareNodes(await start('registration'))).toEqual([CSRF, ...byPassword.registration])
  })

  test('of an open flow follow the settings of the tenant', async () => {
    await fixture.security({ passwordless_enabled: true })
    const flow = await start('login')
    await fixture.security({ passwordless_enabled: false })
    expect(bareNodes(await read(flow))).toEqual([CSRF, ...byPassword.login])
    await fixture.security({ passwordless_enabled: true })
    expect(bareNodes(await read(flow))).toEqual([CSRF, ...byPassword.login, byCode.login])
  })

  test('have no provider that is switched on where the instance has no client of it', async () => {
    await fixture.api.put('/v1/gate/settings/oidc-providers', {
      providers: [{ provider: 'github', enabled: true }],
    })
    for (const kind of FLOW_KINDS) expect(nodeNames(await start(kind)).join()).not.toContain('oidc')
  })

  test('have a label for people wherever there is something to fill in or to press', async () => {
    await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
    for (const kind of FLOW_KINDS) {
      const { ui } = await start(kind)
      const shown = ui.nodes.filter(({ attributes }: Json) => attributes.type !== 'hidden')
      for (const { meta } of shown) {
        expect(meta.label).toMatchObject({ type: 'info', id: expect.any(Number) })
        expect(meta.label.text.length).toBeGreaterThan(3)
      }
    }
  })
})

test('every node of every kind of flow, in every state, has what clients read of it', async () => {
  await using own = await bootChecked()
  await own.security({ passwordless_enabled: true, mfa_enabled: true })
  const seen = new Set<string>()
  function look(kind: string, flow: Json): Json {
    expect(flow.ui.nodes.length, kind).toBeGreaterThan(0)
    for (const { type, group, attributes, meta } of flow.ui.nodes) {
      seen.add(`${kind} ${flow.state}`).add(type)
      expect({ group, ...attributes, label: meta.label }).toMatchObject({
        group: expect.stringMatching(/./),
        name: expect.stringMatching(/./),
        type: expect.stringMatching(/./),
        value: expect.any(String),
        label: { text: expect.any(String) },
      })
    }
    return flow
  }
  const headers = { 'x-return-to': RETURN_TO }
  const begun = async (kind: string) => look(kind, await own.start(kind, headers))

  /** Flows that mail a code: begun, asking for it, and over. */
  async function byCode(kind: string, email: string, fields: Json) {
    const flow = await begun(kind)
    look(kind, await own.sendWell(flow, { method: 'code', ...fields }))
    await own.sendWell(flow, { method: 'code', code: own.codeFor(email) })
    look(kind, (await own.app.raw(pathOf(flow.ui.action))).body)
    own.clock.jump(MINUTE)
  }
  await byCode('registration', 'one@example.com', { traits: { email: 'one@example.com' } })
  await byCode('login', 'one@example.com', { identifier: 'one@example.com' })
  await byCode('recovery', 'one@example.com', { email: 'one@example.com' })
  const { id } = await own.createIdentity({ traits: { email: 'two@example.com' } })
  expect(id).toBeString()
  await byCode('verification', 'two@example.com', { email: 'two@example.com' })

  const { session_token: mine } = await own.register('three@example.com')
  const session = { 'x-session-token': mine }
  const change = async (fields: Json) =>
    look('settings', await own.sendWell(await own.settings(mine), fields, session))
  look('settings', await own.settings(mine))
  await own.enrol(mine)
  const shown = await change({ lookup_secret_regenerate: 'true' })
  look('settings', await own.sendWell(shown, { lookup_secret_confirm: 'true' }, session))
  look('login', await own.start('login', session, '?aal=aal2'))
  look('login', (await own.send(await begun('login'), { method: 'password' })).body)

  expect([...seen].toSorted()).toEqual([
    'a',
    'img',
    'input',
    ...['choose_method', 'passed_challenge', 'sent_email'].map((state) => `login ${state}`),
    ...['choose_method', 'passed_challenge', 'sent_email'].map((state) => `recovery ${state}`),
    ...['choose_method', 'passed_challenge', 'sent_email'].map((state) => `registration ${state}`),
    ...['show_form', 'success'].map((state) => `settings ${state}`),
    'text',
    ...['choose_method', 'passed_challenge', 'sent_email'].map((state) => `verification ${state}`),
  ])
})

describe('a sign-in that somebody signed in is asked for', () => {
  test('again has the address in it, for nobody to change', async () => {
    await fixture.security({ passwordless_enabled: true, mfa_enabled: false })
    const flow = await fixture.start('login', { 'x-session-token': token }, '?refresh=true')
    expect(flow).toMatchObject({ refresh: true, requested_aal: 'aal1' })
    expect(saidIn(flow)).toEqual([1010003])
    expect(bareNodes(flow)).toEqual([
      CSRF,
      hidden('default', 'identifier', 'somebody@example.com', 1070002, { required: true }),
      OLD_PASSWORD,
      button('password', 'method', 'password', 1010001),
      byCode.login,
    ])
    expect(await read(flow)).toEqual(flow)
  })

  test('by the second factor asks for nothing else, and for codes only where there are some', async () => {
    await using own = await bootChecked()
    await own.security({ mfa_enabled: true })
    const { session_token: mine } = await own.register('two@example.com')
    await own.enrol(mine)
    const asked = () => own.start('login', { 'x-session-token': mine }, '?aal=aal2')

    const flow = await asked()
    expect(flow).toMatchObject({ refresh: false, requested_aal: 'aal2', state: 'choose_method' })
    expect(saidIn(flow)).toEqual([1010004])
    const byApp = [
      field('totp', 1010006, 'totp_code', 'text', { autocomplete: 'one-time-code' }),
      button('totp', 'method', 'totp', 1010009),
    ]
    expect(bareNodes(flow)).toEqual([CSRF, ...byApp])

    const settings = await own.settings(mine)
    const headers = { 'x-session-token': mine }
    const shown = await own.sendWell(settings, { lookup_secret_regenerate: 'true' }, headers)
    await own.sendWell(shown, { lookup_secret_confirm: 'true' }, headers)
    expect(bareNodes(await asked())).toEqual([
      CSRF,
      ...byApp,
      field('lookup_secret', 1010007, 'lookup_secret', 'text'),
      button('lookup_secret', 'method', 'lookup_secret', 1010010),
    ])
  })
})

describe('a flow after a step', () => {
  /** A new fixture, so that a mail can go out, and an hour is left. */
  const withCodes = async () => {
    const own = await bootChecked()
    await own.security({ passwordless_enabled: true })
    return own
  }

  test('shows where a code for signing in went, and asks for it', async () => {
    await using own = await withCodes()
    const flow = await own.start('login')
    own.clock.jump(1500)
    const sent = await own.sendWell(flow, { method: 'code', identifier: 'One@Example.com' })
    const now = own.clock.now()
    expect(sent).toStrictEqual({
      ...common('login', now - 1500),
      ...ofLogin(now - 1500),
      id: flow.id,
      active: 'code',
      state: 'sent_email',
      updated_at: isoAt(now),
      ui: { ...sent.ui, action: flow.ui.action, messages: [expect.objectContaining({})] },
    })
    expect(saidIn(sent)).toEqual([1010014])
    expect(csrfOf(sent)).toBe(csrfOf(flow))
    expect(bareNodes(sent)).toEqual([
      CSRF,
      hidden('default', 'identifier', 'one@example.com', 1070002, { required: true }),
      codeField(1070013),
      ...CODE_SENT,
      button('code', 'resend', 'code', 1070008),
    ])
    expect((await own.app.raw(pathOf(flow.ui.action))).body).toEqual(sent)
  })

  test('shows where a code for signing up went, and asks for it', async () => {
    await using own = await withCodes()
    const flow = await own.start('registration')
    const sent = await own.sendWell(flow, { method: 'code', traits: { email: 'one@example.com' } })
    expect(sent).toStrictEqual({ ...flow, active: 'code', state: 'sent_email', ui: sent.ui })
    expect(saidIn(sent)).toEqual([1040005])
    expect(bareNodes(sent)).toEqual([
      CSRF,
      hidden('default', 'traits.email', 'one@example.com', 1070002, { required: true }),
      codeField(1070012),
      ...CODE_SENT,
      button('code', 'resend', 'code', 1070008),
    ])
    expect((await own.app.raw(pathOf(flow.ui.action))).body).toEqual(sent)
  })

  test.each([
    ['recovery', 1060003, codeField(1070010, { pattern: '[0-9]+', maxlength: 6 })],
    ['verification', 1080003, codeField(1070011)],
  ])('shows where a code went, and asks for it: %s', async (kind, message, asked) => {
    await using own = await withCodes()
    const flow = await own.start(kind)
    const sent = await own.sendWell(flow, { method: 'code', email: 'one@example.com' })
    expect(sent).toStrictEqual({ ...flow, active: 'code', state: 'sent_email', ui: sent.ui })
    expect(saidIn(sent)).toEqual([message])
    expect(bareNodes(sent)).toEqual([
      CSRF,
      asked,
      ...CODE_SENT,
      button('code', 'email', 'one@example.com', 1070008),
    ])
    expect((await own.app.raw(pathOf(flow.ui.action))).body).toEqual(sent)
  })

  test('that led to a session is over: it asks for nothing more', async () => {
    await using own = await withCodes()
    const registration = await own.start('registration')
    const fields = { method: 'password', traits: { email: 'one@example.com' }, password: PASSWORD }
    await own.sendWell(registration, fields)
    const login = await own.start('login')
    own.clock.jump(1000)
    await own.sendWell(login, {
      method: 'password',
      identifier: 'one@example.com',
      password: PASSWORD,
    })
    for (const flow of [registration, login]) {
      const { active: _, ...rest } = (await own.app.raw(pathOf(flow.ui.action))).body
      expect(rest).toStrictEqual({
        ...flow,
        state: 'passed_challenge',
        ui: { ...flow.ui, nodes: flow.ui.nodes.slice(0, 1) },
        ...(flow === login && { updated_at: isoAt(own.clock.now()) }),
      })
    }
  })

  test('says by which method it was ended', async () => {
    await using own = await withCodes()
    await own.register('one@example.com')
    const flow = await own.start('login')
    await own.sendWell(flow, {
      method: 'password',
      identifier: 'one@example.com',
      password: PASSWORD,
    })
    expect((await own.app.raw(pathOf(flow.ui.action))).body.active).toBe('password')
  })

  test('of verification leads on to where the browser came from', async () => {
    await using own = await withCodes()
    const { session_token: token } = await own.register('one@example.com')
    own.clock.jump(31_000)
    for (const [returnTo, nodes] of [
      [undefined, []],
      [
        RETURN_TO,
        [
          {
            type: 'a',
            group: 'code',
            attributes: {
              id: 'continue',
              name: 'continue',
              type: 'a',
              value: RETURN_TO,
              href: RETURN_TO,
              title: expect.objectContaining({ id: 1070009 }),
              node_type: 'a',
            },
            messages: [],
            label: 1070009,
          },
        ],
      ],
    ] as const) {
      const email = returnTo === undefined ? 'one@example.com' : 'two@example.com'
      if (returnTo !== undefined) await own.createIdentity({ traits: { email } })
      const headers: Record<string, string> =
        returnTo === undefined ? { 'x-session-token': token } : {}
      const flow = await own.start('verification', returnTo ? { 'x-return-to': returnTo } : {})
      await own.sendWell(flow, { method: 'code', email })
      const done = await own.sendWell(flow, { method: 'code', code: own.codeFor(email) }, headers)
      expect(done).toMatchObject({ id: flow.id, state: 'passed_challenge' })
      expect(done.ui.messages).toEqual([expect.objectContaining({ id: 1080002, type: 'success' })])
      expect(bareNodes(done)).toEqual([CSRF, ...nodes])
      expect((await own.app.raw(pathOf(flow.ui.action))).body).toEqual(done)
    }
  })

  test('of recovery says what to do next, in this order', async () => {
    await using own = await withCodes()
    await own.register('one@example.com')
    own.clock.jump(31_000)
    const flow = await own.start('recovery')
    await own.sendWell(flow, { method: 'code', email: 'one@example.com' })
    const done = await own.sendWell(flow, { code: own.codeFor('one@example.com') })
    expect(done).toStrictEqual({
      ...flow,
      active: 'code',
      state: 'passed_challenge',
      ui: { ...done.ui, messages: [expect.objectContaining({ id: 1060001, type: 'success' })] },
      continue_with: [
        { action: 'set_ory_session_token', ory_session_token: expect.stringMatching(/^gat_st_/) },
        {
          action: 'show_settings_ui',
          flow: {
            id: ID,
            url: expect.stringContaining(`${BASE}/auth/self-service/settings?flow=`),
          },
        },
      ],
    })
    expect(bareNodes(done)).toEqual([CSRF])
    const later = (await own.app.raw(pathOf(flow.ui.action))).body
    expect(later).not.toHaveProperty('continue_with')
    expect(JSON.stringify(later)).not.toContain('gat_st_')
  })

  test('of settings is over, and says that all is saved', async () => {
    await using own = await withCodes()
    const { session_token } = await own.register('one@example.com')
    const headers = { 'x-session-token': session_token }
    const flow = await own.settings(session_token)
    const fields = { method: 'password', password: 'another good one 7' }
    const done = await own.sendWell(flow, fields, headers)
    expect(done).toMatchObject({ id: flow.id, state: 'success' })
    expect(done.ui.messages).toEqual([expect.objectContaining({ id: 1050001, type: 'success' })])
    expect(done.identity).toMatchObject({ id: flow.identity.id })
  })

  test('of which something is wrong is as it was, with messages', async () => {
    await using own = await withCodes()
    const flow = await own.start('login')
    const { status, body } = await own.send(flow, { method: 'password', identifier: 'x' })
    expect(status).toBe(422)
    const asked = node(body, 'password')
    expect(asked.messages).toEqual([
      {
        id: 4000002,
        text: expect.stringContaining('Password'),
        type: 'error',
        context: { property: 'password' },
      },
    ])
    expect(body.ui.messages).toEqual(asked.messages)
    delete body.ui.messages
    asked.messages = []
    node(body, 'identifier').attributes.value = ''
    expect(body).toEqual(flow)
    expect((await own.app.raw(pathOf(flow.ui.action))).body).toEqual(flow)
  })
})

test('the secret of an authenticator that is being set up is the same on every look', async () => {
  await fixture.security({ mfa_enabled: true })
  const flow = await start('settings')
  const secretIn = (shown: Json) => node(shown, 'totp_secret_key').attributes.text.context.secret
  expect(secretIn(await read(flow))).toBe(secretIn(flow))
  expect(totpAt(secretIn(flow), fixture.clock.now())).toMatch(/^\d{6}$/)
  expect(secretIn(await start('settings'))).not.toBe(secretIn(flow))
})
