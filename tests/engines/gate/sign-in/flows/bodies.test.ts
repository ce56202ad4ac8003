import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, type Json, plain } from '../../fixture.ts'
import { bootChecked, type Checked, saidIn } from './checked.ts'
import { csrfOf, node, PASSWORD, pathOf } from './fixture.ts'

const FORM = 'application/x-www-form-urlencoded'

let fixture: Checked
let token: string
beforeAll(async () => {
  fixture = await bootChecked()
  await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
  token = (await fixture.register('somebody@example.com')).session_token
})
afterAll(() => fixture[Symbol.asyncDispose]())

const start = (kind: string) => fixture.start(kind, { 'x-session-token': token })

const sendText = (
  { ui }: Json,
  body: BodyInit | null,
  type: string | null = 'application/json',
  headers: Record<string, string> = {},
) => {
  const request = new Request('http://localhost/', { method: 'POST', body })
  const given: Record<string, string> = type === null ? {} : { 'content-type': type }
  return fixture.app.raw(pathOf(ui.action), {
    method: 'POST',
    body: request.body === null ? undefined : body,
    headers: { 'x-session-token': token, ...given, ...headers },
  })
}

const send = (flow: Json, fields: Json) => fixture.send(flow, fields, { 'x-session-token': token })

const login = (flow: Json) => ({
  csrf_token: csrfOf(flow),
  method: 'password',
  identifier: 'somebody@example.com',
  password: PASSWORD,
})

const inForm = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

let newcomers = 0
const newcomer = () => `newcomer-${newcomers++}@example.com`

describe('a body of JSON', () => {
  test.each([
    ['{', 'body: must be JSON'],
    ['{"a":1,}', 'body: must be JSON'],
    ['{"a":NaN}', 'body: must be JSON'],
    ["{'a':1}", 'body: must be JSON'],
    ['{}{}', 'body: must be JSON'],
    ['a=b', 'body: must be JSON'],
    ['[]', 'body: must be a JSON object'],
    ['[{}]', 'body: must be a JSON object'],
    ['"x"', 'body: must be a JSON object'],
    ['5', 'body: must be a JSON object'],
    ['true', 'body: must be a JSON object'],
    ['false', 'body: must be a JSON object'],
    ['{"password":"\\ud800"}', 'surrogate'],
    ['{"traits":{"\\udfff":1}}', 'surrogate'],
    [
      `{"traits":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`,
      'body: must not be nested deeper than 64 levels',
    ],
  ])('that is no object, or cannot be read: %s', async (text, words) => {
    const flow = await start('login')
    expect(await sendText(flow, text)).toMatchObject(plain(400, words))
  })

  test('that is not UTF-8 is refused', async () => {
    const flow = await start('login')
    const bytes = Buffer.from(
      JSON.stringify({ ...login(flow), password: 'p\u00e4ssword' }),
      'latin1',
    )
    expect(await sendText(flow, bytes)).toMatchObject(plain(400, 'body: must be UTF-8'))
  })

  test.each([null, '', 'null', '{}'])('with nothing in it has no token: %s', async (text) => {
    const answer = await sendText(await start('login'), text)
    expect(answer).toMatchObject({ status: 403, body: { id: 'security_csrf_violation' } })
  })

  test.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.example+json',
  ])('is known by its type: %s', async (type) => {
    const flow = await start('login')
    expect(await sendText(flow, JSON.stringify(login(flow)), type)).toMatchObject({ status: 200 })
  })

  test('counts for the last of two fields of one name', async () => {
    const flow = await start('login')
    const text = JSON.stringify(login(flow))
    const wrongLast = text.replace(/}$/, ',"password":"wrong"}')
    expect(await sendText(flow, wrongLast)).toMatchObject({ status: 422 })
    const wrongFirst = text.replace('{', '{"password":"wrong",')
    expect(await sendText(flow, wrongFirst)).toMatchObject({ status: 200 })
  })

  test('may have a byte order mark, and blanks around it', async () => {
    const flow = await start('login')
    const text = `\ufeff \n${JSON.stringify(login(flow))}\n `
    expect(await sendText(flow, text)).toMatchObject({ status: 200 })
  })

  test('may have fields that nobody asks for', async () => {
    const flow = await start('login')
    const more = { ...login(flow), transient_payload: { a: 1 }, x: null, constructor: 1 }
    expect(await sendText(flow, JSON.stringify(more))).toMatchObject({ status: 200 })
  })
})

describe('a form', () => {
  test.each([FORM, `${FORM}; charset=UTF-8`, FORM.toUpperCase()])(
    'is known by its type: %s',
    async (type) => {
      const flow = await start('login')
      expect(await sendText(flow, inForm(login(flow)), type)).toMatchObject({ status: 200 })
    },
  )

  test('has traits by names with a dot', async () => {
    const flow = await start('registration')
    const email = newcomer()
    const fields = { csrf_token: csrfOf(flow), 'traits.email': email, password: PASSWORD }
    const answer = await sendText(flow, inForm({ method: 'password', ...fields }), FORM)
    expect(answer).toMatchObject({ status: 200, body: { identity: { traits: { email } } } })
  })

  test('counts for the last of two fields of one name, also within another', async () => {
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

  test('has blanks as plus signs, and any letters in escapes', async () => {
    const email = newcomer()
    const password = 'pässwörd + 100% 🐎'
    await fixture.register(email, password)
    const flow = await start('login')
    const text = inForm({ ...login(flow), identifier: ` ${email} `, password })
    expect(text).toContain('p%C3%A4ssw%C3%B6rd+%2B+100%25')
    expect(await sendText(flow, text, FORM)).toMatchObject({ status: 200 })
  })

  test('of names deep within one another makes nothing of them', async () => {
    const flow = await start('registration')
    const email = newcomer()
    const fields = {
      csrf_token: csrfOf(flow),
      method: 'password',
      password: PASSWORD,
      'traits.email': email,
    }
    for (const odd of [
      'traits.custom_data.a',
      'traits.a',
      'traits.',
      'traits.email.x',
      'traits..x',
    ])
      expect(await sendText(flow, inForm({ ...fields, [odd]: 'x' }), FORM), odd).toMatchObject({
        status: 422,
      })
    for (const odd of ['', '.', '.a', 'a.', 'a.b.c.d', '...', 'traits[email]', 'x'.repeat(5000)])
      expect(
        (await sendText(flow, inForm({ ...fields, password: 'x', [odd]: 'x' }), FORM)).status,
      ).toBe(422)
    expect(await sendText(flow, inForm(fields), FORM)).toMatchObject({ status: 200 })
  })

  test('that is not UTF-8 is refused', async () => {
    const flow = await start('login')
    const bytes = Buffer.from(`${inForm(login(flow))}&x=\u00e4`, 'latin1')
    expect(await sendText(flow, bytes, FORM)).toMatchObject(plain(400, 'body: must be UTF-8'))
  })

  test('is no form of another kind', async () => {
    const flow = await start('login')
    const data = new FormData()
    for (const [name, value] of Object.entries(login(flow))) data.append(name, value)
    const request = new Request(flow.ui.action, { method: 'POST', body: data })
    expect((await fixture.app.app.handle(request)).status).toBe(415)
  })
})

describe('of what kind a body is', () => {
  test.each([
    'text/plain',
    'text/json',
    'application/jsonx',
    `${FORM}x`,
    'multipart/form-data',
    null,
  ])('is said: %s', async (type) => {
    const flow = await start('login')
    const answer = await sendText(flow, new TextEncoder().encode(JSON.stringify(login(flow))), type)
    expect(answer).toMatchObject(plain(415, 'Content-Type: must be application/json'))
  })

  test.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x'])(
    'is not in code: %s',
    async (coding) => {
      const flow = await start('login')
      const zipped = Bun.gzipSync(JSON.stringify(login(flow)))
      for (const type of ['application/json', FORM])
        expect(await sendText(flow, zipped, type, { 'content-encoding': coding })).toMatchObject(
          plain(415, `Content-Encoding: must not be set, unlike ${coding}`),
        )
    },
  )

  test.each(['application/json', FORM, 'text/plain'])(
    'is not looked at beyond a megabyte: %s',
    async (type) => {
      const answer = await sendText(await start('login'), 'x'.repeat(1_048_577), type)
      expect(answer).toMatchObject(plain(413, 'body: must be at most 1048576 bytes'))
    },
  )
})

/** What JSON can have in the place of a text. */
const NO_TEXTS = [0, 1, 1.5, true, [], ['x'], {}, { a: 'x' }, 'x'.repeat(4097)]
const NOTHING = [undefined, null, '']

const named = (value: Json): string => (JSON.stringify(value) ?? 'nothing').slice(0, 60)

const eachOf = (...values: Json[]): [name: string, value: Json][] =>
  values.map((value) => [named(value), value])

describe('a field of a type that it cannot have', () => {
  const emailOf = () => ({ email: newcomer() })
  /** What is good otherwise, and the field that is looked at. */
  const CASES: [kind: FlowKind, field: string, others: () => Json][] = [
    ['login', 'identifier', () => ({ method: 'password', password: PASSWORD })],
    ['login', 'password', () => ({ method: 'password', identifier: 'somebody@example.com' })],
    ['registration', 'password', () => ({ method: 'password', traits: emailOf() })],
    ['recovery', 'email', () => ({ method: 'code' })],
    ['verification', 'email', () => ({ method: 'code' })],
    ['settings', 'password', () => ({ method: 'password' })],
    ['settings', 'totp_code', () => ({ method: 'totp' })],
  ]

  test.each(CASES)('is marked as such: %s, %s', async (kind, field, others) => {
    const flow = await start(kind)
    for (const value of NO_TEXTS) {
      const { status, body } = await send(flow, { ...others(), [field]: value })
      expect(status).toBe(422)
      expect(saidIn(body), JSON.stringify(value).slice(0, 50)).toEqual([`${field}:4000026`])
    }
  })

  test.each(CASES)('is asked for where there is none: %s, %s', async (kind, field, others) => {
    const flow = await start(kind)
    for (const value of NOTHING) {
      const { status, body } = await send(flow, { ...others(), [field]: value })
      expect(status).toBe(422)
      expect(saidIn(body), `${value}`).toEqual([`${field}:4000002`])
    }
  })

  test.each(eachOf(...NO_TEXTS, null, '', 'Password', ' password', 'nonsense', '__proto__'))(
    'is no method: %s',
    async (_, method) => {
      for (const kind of FLOW_KINDS) {
        const flow = await start(kind)
        const { status, body } = await send(flow, { method, x: 1 })
        expect({ kind, status }).toEqual({ kind, status: 422 })
        expect(saidIn(body).length).toBe(1)
      }
    },
  )

  const NO_TRAITS: [traits: Json, id: Json][] = [
    [undefined, 'traits.email:4000002'],
    [null, 'traits.email:4000002'],
    [{}, 'traits.email:4000002'],
    [{ email: null }, 'traits.email:4000002'],
    [{ email: '' }, 'traits.email:4000002'],
    [{ email: 5 }, 'traits.email:4000040'],
    [{ email: [] }, 'traits.email:4000040'],
    [{ email: { a: 1 } }, 'traits.email:4000040'],
    [{ email: 'x' }, 'traits.email:4000040'],
    [{ email: 'a@b@c' }, 'traits.email:4000040'],
    [{ email: `${'x'.repeat(300)}@example.com` }, 'traits.email:4000040'],
    [{ email: `${'x'.repeat(9000)}@example.com` }, 'traits.email:4000040'],
    [{ email: 'a\u0000b@example.com' }, 'traits.email:4000040'],
    [{ email: 'a\u200bb@example.com' }, 'traits.email:4000040'],
    [{ email: 'a@example.com\r\nBcc: b@example.com' }, 'traits.email:4000040'],
    [[], 4000026],
    [['a@example.com'], 4000026],
    ['a@example.com', 4000026],
    [5, 4000026],
    [true, 4000026],
    [{ email: 'new@example.com', name: 'x' }, 4000001],
    [{ email: 'new@example.com', custom_data: 'x' }, 4000001],
    [{ email: 'new@example.com', custom_data: [] }, 4000001],
    [{ email: 'new@example.com', custom_data: null }, 4000001],
    [{ email: 'new@example.com', custom_data: { a: 'x'.repeat(70_000) } }, 4000001],
  ]

  test.each(NO_TRAITS.map(([traits, id]) => [named(traits), traits, id] as const))(
    'is no trait: %s',
    async (_, traits, id) => {
      const before = count(fixture.app, 'gate_identities')
      for (const method of ['password', 'code']) {
        const flow = await start('registration')
        const { status, body } = await send(flow, { method, traits, password: PASSWORD })
        expect(status).toBe(422)
        expect(saidIn(body)).toEqual([id])
      }
      expect(count(fixture.app, 'gate_identities')).toBe(before)
    },
  )

  test.each(eachOf(...NO_TEXTS, 'code '))('is no code: %s', async (_, code) => {
    for (const [kind, fields] of [
      ['login', { identifier: newcomer() }],
      ['registration', { traits: emailOf() }],
      ['recovery', emailOf()],
      ['verification', emailOf()],
    ] as const) {
      const flow = await start(kind)
      const sent = await send(flow, { method: 'code', ...fields })
      expect(sent).toMatchObject({ status: 200 })
      const { status, body } = await send(flow, { method: 'code', code })
      expect({ kind, status }).toEqual({ kind, status: 422 })
      expect(saidIn(body).join()).toContain('code:40')
    }
  })

  test.each(eachOf(...NO_TEXTS, ...NOTHING, 'github', 'nonsense', '__proto__', 'constructor'))(
    'is no provider: %s',
    async (_, provider) => {
      for (const kind of ['login', 'registration']) {
        const { status, body } = await send(await start(kind), { method: 'oidc', provider })
        expect(status).toBe(422)
        expect(saidIn(body).length).toBe(1)
      }
    },
  )
})

describe('what was typed', () => {
  test('is shown again where it is no secret, cut at a length that no address has', async () => {
    const flow = await start('login')
    const identifier = `<b>${'x'.repeat(1000)}`
    const { body } = await send(flow, {
      method: 'password',
      identifier,
      password: 'secret words 1',
    })
    expect(node(body, 'identifier').attributes.value).toBe(identifier.slice(0, 320))
    expect(JSON.stringify(body)).not.toContain('secret words 1')
  })

  test('is shown again of a sign-up, and never the password', async () => {
    const flow = await start('registration')
    const fields = { method: 'password', password: '1short', traits: { email: 'not one' } }
    const { body } = await send(flow, fields)
    expect(node(body, 'traits.email').attributes.value).toBe('not one')
    expect(JSON.stringify(body)).not.toContain('1short')
  })

  test('is forgotten with the answer', async () => {
    const flow = await start('registration')
    await send(flow, { method: 'password', password: 'x', traits: { email: 'not one' } })
    expect((await fixture.app.raw(pathOf(flow.ui.action))).body).toEqual(flow)
  })
})

describe('names that objects have by themselves', () => {
  const HOSTILE = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']

  test('bring no fields along', async () => {
    const flow = await start('login')
    const fields = JSON.stringify(login(flow))
    for (const name of HOSTILE) {
      const smuggled = await sendText(flow, `{"${name}":${fields}}`)
      expect(smuggled, name).toMatchObject({ status: 403 })
      const half = await sendText(flow, `{"csrf_token":"${csrfOf(flow)}","${name}":${fields}}`)
      expect(half.status).toBe(422)
      expect(saidIn(half.body)).toEqual([4010002])
    }
  })

  test('are no traits', async () => {
    const flow = await start('registration')
    const before = count(fixture.app, 'gate_identities')
    for (const name of HOSTILE)
      for (const traits of [
        `{"${name}":{"email":"a@example.com"}}`,
        `{"email":"a@example.com","${name}":1}`,
      ]) {
        const fields = `"csrf_token":"${csrfOf(flow)}","method":"password","password":"${PASSWORD}"`
        const { status } = await sendText(flow, `{${fields},"traits":${traits}}`)
        expect({ name, traits, status }).toEqual({ name, traits, status: 422 })
      }
    expect(count(fixture.app, 'gate_identities')).toBe(before)
  })

  test('are nothing in a form either, and change nothing for others', async () => {
    const flow = await start('login')
    for (const name of HOSTILE) {
      const fields = {
        csrf_token: csrfOf(flow),
        [`${name}.method`]: 'password',
        [`${name}.polluted`]: 'yes',
        [`traits.${name}`]: 'x',
        [name]: 'x',
        [`${name}.prototype.polluted`]: 'yes',
      }
      const { status, body } = await sendText(flow, inForm(fields), FORM)
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4010002])
    }
    expect(({} as Json).polluted).toBeUndefined()
    expect((Object as Json).polluted).toBeUndefined()
  })

  test('are kept as they are where they are somebody’s own data, or refused', async () => {
    const flow = await start('registration')
    const fields = `"csrf_token":"${csrfOf(flow)}","method":"password","password":"${PASSWORD}"`
    const email = newcomer()
    const text = `{${fields},"traits":{"email":"${email}","custom_data":{"__proto__":{"a":1}}}}`
    const { status, body } = await sendText(flow, text)
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([4000001])
  })
})
