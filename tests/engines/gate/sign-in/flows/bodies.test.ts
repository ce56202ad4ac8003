import { beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, type Json, plain } from '../../fixture.ts'
import { ADA, withToken } from './acts.ts'
import { saidIn } from './checked.ts'
import { csrfOf, type Flows, node, PASSWORD, pathOf, useFlows } from './fixture.ts'

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'

const { app, newTenant } = await useFlows()
let acme: Flows
let token: string
beforeAll(async () => {
  acme = await newTenant({ passwordless_enabled: true, mfa_enabled: true })
  token = (await acme.register(ADA)).session_token
})

const start = (kind: string) => acme.start(kind, withToken(token))
const send = (flow: Json, fields: Json) => acme.send(flow, fields, withToken(token))

const sendText = (
  { ui }: Json,
  body: BodyInit | null,
  type: string | null = JSON_TYPE,
  headers: Record<string, string> = {},
) =>
  app.raw(pathOf(ui.action), {
    method: 'POST',
    body,
    headers: { ...(type !== null && { 'content-type': type }), ...headers },
  })

const login = (flow: Json) => ({
  csrf_token: csrfOf(flow),
  method: 'password',
  identifier: ADA,
  password: PASSWORD,
})
const inForm = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

let newcomers = 0
const newcomer = () => `newcomer-${newcomers++}@example.com`
const BIG = { a: 'x'.repeat(70_000) }

describe('A body', () => {
  const latin1 = (text: string) => Buffer.from(`${text}\u00e4`, 'latin1')

  test.each([
    [JSON_TYPE, '{"password":"\\ud800"}', 400, 'surrogate'],
    [JSON_TYPE, '{"traits":{"\\udfff":1}}', 400, 'surrogate'],
    [JSON_TYPE, latin1('{"a":"'), 400, 'body: must be UTF-8'],
    [FORM, latin1('a='), 400, 'body: must be UTF-8'],
    [FORM, 'x'.repeat(1_048_577), 413, 'body: must be at most 1048576 bytes'],
    [`${FORM}x`, 'a=b', 415, 'Content-Type: must be application/json'],
    ['multipart/form-data; boundary=x', '--x--', 415, 'Content-Type: must be application/json'],
    [null, Buffer.from('{}'), 415, 'Content-Type: must be application/json'],
  ])('of type %s is refused: %#', async (type, body, status, words) => {
    const answer = await sendText(await start('login'), body, type)
    expect(answer).toMatchObject(plain(status, words))
  })

  test.each(['gzip', 'br', 'identity, gzip', 'x'])(
    'is refused with the encoding %s',
    async (coding) => {
      const zipped = Bun.gzipSync('{}')
      for (const type of [JSON_TYPE, FORM]) {
        const headers = { 'content-encoding': coding }
        const answer = await sendText(await start('login'), zipped, type, headers)
        const words = `Content-Encoding: must not be set, unlike ${coding}`
        expect(answer).toMatchObject(plain(415, words))
      }
    },
  )

  test.each([null, '', 'null', '{}'])('that is empty has no token: %p', async (text) => {
    const answer = await sendText(await start('login'), text)
    expect(answer).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
  })

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.x+json'])(
    'may have the type %s',
    async (type) => {
      const flow = await start('login')
      // A byte order mark and white space may stand around it, and unknown fields in it.
      const text = JSON.stringify({ ...login(flow), transient_payload: { a: 1 }, constructor: 1 })
      expect(await sendText(flow, `\ufeff \n${text}\n `, type)).toMatchObject({ status: 200 })
    },
  )

  test('has the last of two fields of one name', async () => {
    const flow = await start('login')
    const text = JSON.stringify(login(flow))
    const wrongLast = text.replace(/}$/, ',"password":"wrong"}')
    expect(await sendText(flow, wrongLast)).toMatchObject({ status: 422 })
    const wrongFirst = text.replace('{', '{"password":"wrong",')
    expect(await sendText(flow, wrongFirst)).toMatchObject({ status: 200 })
  })
})

describe('A form', () => {
  test.each([FORM, `${FORM}; charset=UTF-8`, FORM.toUpperCase()])(
    'has the type %s',
    async (type) => {
      const email = newcomer()
      const password = 'pässwörd + 100% 🐎'
      await acme.register(email, password)
      const flow = await start('login')
      const text = inForm({ ...login(flow), identifier: ` ${email} `, password })
      expect(text).toContain('p%C3%A4ssw%C3%B6rd+%2B+100%25')
      expect(await sendText(flow, text, type)).toMatchObject({ status: 200 })
    },
  )

  test('has traits by names with a dot, and the last of two of one name', async () => {
    const flow = await start('registration')
    const email = newcomer()
    const fields = [
      ['csrf_token', csrfOf(flow)],
      ['method', 'code'],
      ['method', 'password'],
      ['traits', 'nothing'],
      ['traits.email', 'first@example.com'],
      ['traits.email', email],
      ['password', 'short'],
      ['password', PASSWORD],
    ]
    const answer = await sendText(flow, new URLSearchParams(fields).toString(), FORM)
    expect(answer).toMatchObject({ status: 200, body: { identity: { traits: { email } } } })
  })

  test('has no deeper names', async () => {
    const flow = await start('registration')
    const fields = {
      csrf_token: csrfOf(flow),
      method: 'password',
      password: PASSWORD,
      'traits.email': newcomer(),
    }
    const status = async (more: Record<string, string>) =>
      (await sendText(flow, inForm({ ...fields, ...more }), FORM)).status
    for (const odd of ['custom_data.a', 'a', '', 'email.x', '.x'])
      expect(await status({ [`traits.${odd}`]: 'x' }), odd).toBe(422)
    for (const odd of ['', '.', '.a', 'a.', 'a.b.c.d', 'traits[email]', 'x'.repeat(5000)])
      expect(await status({ password: 'x', [odd]: 'x' }), odd).toBe(422)
    expect(await status({})).toBe(200)
  })
})

describe('A field', () => {
  const NO_TEXTS = [0, 1.5, true, [], ['x'], {}, { a: 'x' }, 'x'.repeat(4097)]
  /** A form, and the field of it that is wrong. */
  const CASES: [kind: FlowKind, field: string, others: () => Json][] = [
    ['login', 'identifier', () => ({ method: 'password', password: PASSWORD })],
    ['login', 'password', () => ({ method: 'password', identifier: ADA })],
    ['registration', 'password', () => ({ method: 'password', traits: { email: newcomer() } })],
    ['recovery', 'email', () => ({ method: 'code' })],
    ['verification', 'email', () => ({ method: 'code' })],
    ['settings', 'password', () => ({ method: 'password' })],
    ['settings', 'totp_code', () => ({ method: 'totp' })],
  ]

  test.each(CASES)('of a %s must be a text: %s', async (kind, field, others) => {
    const flow = await start(kind)
    const wrong = NO_TEXTS.map((value) => [value, 4000026])
    const missing = [undefined, null, ''].map((value) => [value, 4000002])
    for (const [value, id] of [...wrong, ...missing]) {
      const { status, body } = await send(flow, { ...others(), [field]: value })
      expect(status).toBe(422)
      expect(saidIn(body), `${value}`.slice(0, 50)).toEqual([`${field}:${id}`])
    }
  })

  const NAMES = ['Password', ' password', 'nonsense', '__proto__', 'constructor']

  test('that names a method or a provider must be a known one', async () => {
    for (const name of [...NO_TEXTS, null, '', ...NAMES]) {
      const forms = FLOW_KINDS.map((kind): [FlowKind, Json] => [kind, { method: name, x: 1 }])
      const byProvider = { method: 'oidc', provider: name }
      for (const [kind, fields] of [
        ...forms,
        ['login', byProvider],
        ['registration', byProvider],
      ]) {
        const { status, body } = await send(await start(kind as string), fields)
        expect({ kind, status }).toEqual({ kind, status: 422 })
        expect(saidIn(body)).toHaveLength(1)
      }
    }
  })

  test('with a code must be one', async () => {
    for (const [kind, fields] of [
      ['login', { identifier: newcomer() }],
      ['registration', { traits: { email: newcomer() } }],
      ['recovery', { email: newcomer() }],
      ['verification', { email: newcomer() }],
    ] as const) {
      const flow = await start(kind)
      await acme.sendWell(flow, { method: 'code', ...fields })
      for (const code of [...NO_TEXTS, 'code ']) {
        const { status, body } = await send(flow, { method: 'code', code })
        expect({ kind, status }).toEqual({ kind, status: 422 })
        expect(saidIn(body).join()).toContain('code:40')
      }
    }
  })
})

test.each<[number | string, Json[]]>([
  ['traits.email:4000002', [undefined, null, {}, { email: null }, { email: '' }]],
  ['traits.email:4000040', [{ email: 5 }, { email: [] }, { email: { a: 1 } }, { email: 'a@b@c' }]],
  ['traits.email:4000040', [{ email: `${'x'.repeat(300)}@example.com` }, { email: 'x' }]],
  ['traits.email:4000040', [{ email: 'a\u0000b@example.com' }, { email: 'a\u200bb@example.com' }]],
  ['traits.email:4000040', [{ email: 'a@example.com\r\nBcc: b@example.com' }]],
  [4000026, [[], ['a@example.com'], 'a@example.com', 5, true]],
  [4000001, [{ email: 'new@example.com', name: 'x' }]],
  [4000001, ['x', [], null, BIG].map((data) => ({ email: 'new@example.com', custom_data: data }))],
])('Traits are refused with %s: %#', async (id, refused) => {
  const before = count(app, 'gate_identities')
  for (const traits of refused)
    for (const method of ['password', 'code']) {
      const fields = { method, traits, password: PASSWORD }
      const { status, body } = await send(await start('registration'), fields)
      expect(status).toBe(422)
      expect(saidIn(body), JSON.stringify(traits)?.slice(0, 60)).toEqual([id])
    }
  expect(count(app, 'gate_identities')).toBe(before)
})

test('What was entered is shown again but for the password, cut, and then forgotten', async () => {
  const password = '1short'
  const flow = await start('registration')
  const form = { method: 'password', password, traits: { email: 'not one' } }
  const { body } = await send(flow, form)
  expect(node(body, 'traits.email').attributes.value).toBe('not one')
  expect(JSON.stringify(body)).not.toContain(password)
  expect((await app.raw(pathOf(flow.ui.action))).body).toEqual(flow)

  const identifier = `<b>${'x'.repeat(1000)}`
  const { body: long } = await send(await start('login'), {
    method: 'password',
    identifier,
    password,
  })
  expect(node(long, 'identifier').attributes.value).toBe(identifier.slice(0, 320))
})

describe('Names that objects inherit', () => {
  const HOSTILE = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']

  test('bring no fields along', async () => {
    const flow = await start('login')
    const token = `"csrf_token":"${csrfOf(flow)}"`
    const fields = JSON.stringify(login(flow))
    for (const name of HOSTILE) {
      const smuggled = await sendText(flow, `{"${name}":${fields}}`)
      expect(smuggled, name).toMatchObject({ status: 403 })
      const half = await sendText(flow, `{${token},"${name}":${fields}}`)
      const inDots = {
        csrf_token: csrfOf(flow),
        [`${name}.method`]: 'password',
        [`${name}.polluted`]: 'yes',
        [`traits.${name}`]: 'x',
        [name]: 'x',
        [`${name}.prototype.polluted`]: 'yes',
      }
      for (const { status, body } of [half, await sendText(flow, inForm(inDots), FORM)]) {
        expect(status).toBe(422)
        expect(saidIn(body)).toEqual([4010002])
      }
    }
    expect(({} as Json).polluted).toBeUndefined()
    expect((Object as Json).polluted).toBeUndefined()
  })

  test('are no traits and no custom data', async () => {
    const flow = await start('registration')
    const before = count(app, 'gate_identities')
    const fields = `"csrf_token":"${csrfOf(flow)}","method":"password","password":"${PASSWORD}"`
    const inTraits = HOSTILE.flatMap((name) => [
      `{"${name}":{"email":"a@example.com"}}`,
      `{"email":"a@example.com","${name}":1}`,
    ])
    for (const traits of [
      ...inTraits,
      '{"email":"a@example.com","custom_data":{"__proto__":{"a":1}}}',
    ])
      expect((await sendText(flow, `{${fields},"traits":${traits}}`)).status, traits).toBe(422)
    expect(count(app, 'gate_identities')).toBe(before)
  })
})
