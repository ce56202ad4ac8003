import { beforeAll, expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, type Json, plain } from '../../fixture.ts'
import { ADA, withToken } from './acts.ts'
import { idsIn } from './checked.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import { csrfOf, messageIds, node, PASSWORD, pathOf } from './fixture.ts'

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'

const { app, newTenant } = await useFlows()
let acme: Tenant
let token: string
beforeAll(async () => {
  acme = await newTenant({ passwordless_enabled: true, mfa_enabled: true })
  token = (await acme.register(ADA)).session_token
})

const start = (kind: string) => acme.start(kind, withToken(token))
const send = (flow: Json, fields: Json) => acme.send(flow, fields, withToken(token))

function sendText({ ui }: Json, body: BodyInit | null, type = JSON_TYPE, coding?: string) {
  const headers = { 'content-type': type, ...(coding && { 'content-encoding': coding }) }
  return app.raw(pathOf(ui.action), { method: 'POST', body, headers })
}

const login = (flow: Json) => ({
  csrf_token: csrfOf(flow),
  method: 'password',
  identifier: ADA,
  password: PASSWORD,
})
const inForm = (fields: Record<string, string> | string[][]) =>
  new URLSearchParams(fields).toString()

let newcomers = 0
const newcomer = () => `newcomer-${newcomers++}@example.com`

test('A body of another type, encoding or size is refused; an empty one has no token', async () => {
  const flow = await start('login')
  for (const [type, body, status, words] of [
    [`${FORM}x`, 'a=b', 415, 'Content-Type: must be application/json'],
    [FORM, Buffer.from('a=\u00e4', 'latin1'), 400, 'body: must be UTF-8'],
    [FORM, 'x'.repeat(1_048_577), 413, 'body: must be at most 1048576 bytes'],
  ] as const)
    expect(await sendText(flow, body, type)).toMatchObject(plain(status, words))
  for (const [coding, type] of [
    ['gzip', JSON_TYPE],
    ['identity, gzip', FORM],
  ]) {
    const answer = await sendText(flow, Bun.gzipSync('{}'), type, coding)
    expect(answer).toMatchObject(plain(415, `Content-Encoding: must not be set, unlike ${coding}`))
  }
  const unsafe = { status: 403, body: { id: 'security_csrf_violation' } }
  for (const text of [null, '', 'null', '{}'])
    expect(await sendText(flow, text)).toMatchObject(unsafe)
})

test('A body may have unknown fields, and has the last of two of one name', async () => {
  const flow = await start('login')
  const text = JSON.stringify({ ...login(flow), transient_payload: { a: 1 }, constructor: 1 })
  const wrongLast = text.replace(/}$/, ',"password":"wrong"}')
  expect(await sendText(flow, wrongLast)).toMatchObject({ status: 422 })
  const wrongFirst = text.replace('{', '{"password":"wrong",')
  expect(await sendText(flow, wrongFirst)).toMatchObject({ status: 200 })
})

test('A form may have any case and charset of its type', async () => {
  for (const type of [`${FORM}; charset=UTF-8`, FORM.toUpperCase()]) {
    const email = newcomer()
    const password = 'pässwörd + 100% 🐎'
    await acme.register(email, password)
    const flow = await start('login')
    const text = inForm({ ...login(flow), identifier: ` ${email} `, password })
    expect(await sendText(flow, text, type)).toMatchObject({ status: 200 })
  }
})

test('A form has traits by names with one dot, and the last of two of one name', async () => {
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
  const sendWith = (...more: [string, string][]) =>
    sendText(flow, inForm([...fields, ...more]), FORM)
  for (const odd of ['custom_data.a', 'a', '', 'email.x', '.x'])
    expect(await sendWith([`traits.${odd}`, 'x']), odd).toMatchObject({ status: 422 })
  for (const odd of ['', '.', '.a', 'a.b.c.d', 'traits[email]', 'x'.repeat(5000)])
    expect(await sendWith(['password', 'x'], [odd, 'x']), odd).toMatchObject({ status: 422 })
  expect((await sendWith()).body.identity.traits).toMatchObject({ email })
})

const NO_TEXTS = [0, true, ['x'], { a: 'x' }, 'x'.repeat(4097)]

/** A form, and the field of it that is wrong. */
test.each<[kind: FlowKind, field: string, others: () => Json]>([
  ['login', 'identifier', () => ({ method: 'password', password: PASSWORD })],
  ['login', 'password', () => ({ method: 'password', identifier: ADA })],
  ['registration', 'password', () => ({ method: 'password', traits: { email: newcomer() } })],
  ['recovery', 'email', () => ({ method: 'code' })],
  ['verification', 'email', () => ({ method: 'code' })],
  ['settings', 'password', () => ({ method: 'password' })],
  ['settings', 'totp_code', () => ({ method: 'totp' })],
])('A field of a %s must be a text: %s', async (kind, field, others) => {
  const flow = await start(kind)
  const wrong = NO_TEXTS.map((value) => [value, 4000026])
  const missing = [undefined, null, ''].map((value) => [value, 4000002])
  for (const [value, id] of [...wrong, ...missing]) {
    const answer = await send(flow, { ...others(), [field]: value })
    expect(idsIn(answer), `${value}`.slice(0, 50)).toEqual([422, `${field}:${id}`])
  }
})

test('A field that names a method or a provider must be a known one', async () => {
  for (const kind of FLOW_KINDS) {
    const flow = await start(kind)
    for (const name of ['Password', ' password', '__proto__', 'constructor', '', null, 5, ['x']]) {
      const answers = [await send(flow, { method: name, x: 1 })]
      if (kind === 'login' || kind === 'registration')
        answers.push(await send(flow, { method: 'oidc', provider: name }))
      for (const { status, body } of answers) {
        expect(status, `${kind} ${name}`).toBe(422)
        expect(messageIds(body)).toHaveLength(1)
      }
    }
  }
})

const SOME = { email: 'new@example.com' }

test('Traits are refused if they are no valid address and small custom data', async () => {
  const before = count(app, 'gate_identities')
  const flow = await start('registration')
  const hostile = ['a\u0000b@example.com', 'a\u200bb@example.com', 'a@b.com\r\nBcc: b@c.com']
  const wrong = [5, { a: 1 }, 'a@b@c', `${'x'.repeat(300)}@example.com`, ...hostile]
  const big = { a: 'x'.repeat(70_000) }
  for (const [id, refused] of [
    ['traits.email:4000002', [undefined, null, {}, { email: null }, { email: '' }]],
    ['traits.email:4000040', wrong.map((email) => ({ email }))],
    [4000026, [[], 'a@example.com', 5]],
    [4000001, [{ ...SOME, name: 'x' }]],
    [4000001, ['x', [], null, big].map((custom_data) => ({ ...SOME, custom_data }))],
  ] as const)
    for (const traits of refused)
      for (const method of ['password', 'code']) {
        const answer = await send(flow, { method, traits, password: PASSWORD })
        expect(idsIn(answer), JSON.stringify(traits)?.slice(0, 60)).toEqual([422, id])
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
  expect((await acme.readFlow(flow)).body).toEqual(flow)
  const identifier = `<b>${'x'.repeat(1000)}`
  const long = await send(await start('login'), { method: 'password', identifier, password })
  expect(node(long.body, 'identifier').attributes.value).toBe(identifier.slice(0, 320))
})

const HOSTILE = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']

test('Names that objects inherit bring no fields along, and are no traits and no custom data', async () => {
  const flow = await start('login')
  const token = `"csrf_token":"${csrfOf(flow)}"`
  const fields = JSON.stringify(login(flow))
  const signUp = await start('registration')
  const form = `"csrf_token":"${csrfOf(signUp)}","method":"password","password":"${PASSWORD}"`
  const some = '"email":"a@example.com"'
  const before = count(app, 'gate_identities')
  for (const name of HOSTILE) {
    const smuggled = await sendText(flow, `{"${name}":${fields}}`)
    expect(smuggled, name).toMatchObject({ status: 403 })
    const half = await sendText(flow, `{${token},"${name}":${fields}}`)
    const dotted = [`${name}.method`, `${name}.prototype.polluted`, `traits.${name}`, name]
    const inDots = dotted.map((each): [string, string] => [each, 'password'])
    const body = inForm([['csrf_token', csrfOf(flow)], ...inDots])
    for (const answer of [half, await sendText(flow, body, FORM)])
      expect(idsIn(answer)).toEqual([422, 4010002])
    const own = `{${some},"custom_data":{"__proto__":{"a":1}}}`
    for (const traits of [`{"${name}":{${some}}}`, `{${some},"${name}":1}`, own])
      expect((await sendText(signUp, `{${form},"traits":${traits}}`)).status, traits).toBe(422)
  }
  expect(({} as Json).polluted).toBeUndefined()
  expect((Object as Json).polluted).toBeUndefined()
  expect(count(app, 'gate_identities')).toBe(before)
})
