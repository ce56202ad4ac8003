import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, type Json } from '../../fixture.ts'
import { HOUR } from '../../identities/people.ts'
import { bootChecked, type Checked } from './checked.ts'
import { csrfOf, PASSWORD, pathOf } from './fixture.ts'

const REFUSED = {
  status: 403,
  body: {
    error: 'csrf_token: is missing, or belongs to another flow',
    id: 'security_csrf_violation',
  },
}

let fixture: Checked
let token: string
beforeAll(async () => {
  fixture = await bootChecked()
  token = (await fixture.register('somebody@example.com')).session_token
})
afterAll(() => fixture[Symbol.asyncDispose]())

const start = (kind: string) => fixture.start(kind, { 'x-session-token': token })

/** As a front end sends it, but for the token. */
const send = (flow: Json, fields: Json, headers: Record<string, string> = {}) =>
  fixture.app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-token': token, ...headers },
    body: JSON.stringify(fields),
  })

/** What each kind would do, were it not for the token. */
const FIELDS: Record<FlowKind, Json> = {
  login: { method: 'password', identifier: 'somebody@example.com', password: PASSWORD },
  registration: {
    method: 'password',
    traits: { email: 'newcomer@example.com' },
    password: PASSWORD,
  },
  recovery: { method: 'code', email: 'somebody@example.com' },
  verification: { method: 'code', email: 'somebody@example.com' },
  settings: { method: 'password', password: 'another good one 7' },
}

const TABLES = ['gate_identities', 'gate_sessions', 'gate_codes', 'mails', 'gate_flows']
const rows = () => TABLES.map((table) => count(fixture.app, table))

describe.each(FLOW_KINDS)('a form of a flow of %s', (kind) => {
  test('counts for nothing without the token of the flow', async () => {
    const [flow, another] = [await start(kind), await start(kind)]
    const good = csrfOf(flow)
    const before = rows()
    for (const csrf_token of [
      undefined,
      null,
      '',
      ' ',
      0,
      true,
      {},
      [],
      [good],
      { value: good },
      good.slice(1),
      `${good}0`,
      ` ${good}`,
      good.toUpperCase(),
      '0'.repeat(64),
      csrfOf(another),
      flow.id,
    ])
      expect(await send(flow, { ...FIELDS[kind], csrf_token }), `${csrf_token}`).toMatchObject(
        REFUSED,
      )
    expect(rows()).toEqual(before)
    expect(
      (await fixture.app.raw(pathOf(flow.ui.action), { headers: { 'x-session-token': token } }))
        .body,
    ).toEqual(flow)
  })

  test('counts for nothing with that of a flow of another kind', async () => {
    const flow = await start(kind)
    const before = count(fixture.app, 'gate_sessions')
    for (const other of FLOW_KINDS.filter((one) => one !== kind)) {
      const csrf_token = csrfOf(await start(other))
      expect(await send(flow, { ...FIELDS[kind], csrf_token }), other).toMatchObject(REFUSED)
    }
    expect(count(fixture.app, 'gate_sessions')).toBe(before)
  })

  test('is refused in the same words whatever else is wrong with it', async () => {
    const flow = await start(kind)
    for (const fields of [{}, { method: 'nonsense' }, { traits: 5 }, { method: ['password'] }])
      expect(await send(flow, fields)).toMatchObject(REFUSED)
  })

  test('has the token of its first look for as long as it lives', async () => {
    const flow = await start(kind)
    const headers = { 'x-session-token': token, 'accept-language': 'de' }
    const { body } = await fixture.app.raw(pathOf(flow.ui.action), { headers })
    expect(csrfOf(body)).toBe(csrfOf(flow))
    const failed = await send(flow, { csrf_token: csrfOf(flow), method: 'nonsense' })
    expect(failed).toMatchObject({ status: 422 })
    expect(csrfOf(failed.body)).toBe(csrfOf(flow))
  })
})

test('a token may come in a form, where the last of several counts', async () => {
  const flow = await start('login')
  const good = csrfOf(flow)
  const sendForm = (tokens: string[]) =>
    fixture.app.raw(pathOf(flow.ui.action), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams([
        ...tokens.map((one) => ['csrf_token', one]),
        ...Object.entries(FIELDS.login),
      ] as [string, string][]).toString(),
    })
  for (const tokens of [[], [''], ['x'], [good, 'x'], [good, '']])
    expect(await sendForm(tokens)).toMatchObject(REFUSED)
  expect(await sendForm(['x', good])).toMatchObject({ status: 200 })
})

test('a token is taken from nowhere but the body', async () => {
  const flow = await start('login')
  const good = csrfOf(flow)
  const elsewhere = { 'x-csrf-token': good, cookie: `csrf_token=${good}` }
  expect(await send(flow, FIELDS.login, elsewhere)).toMatchObject(REFUSED)
  const inQuery = await fixture.app.app.handle(
    new Request(`${flow.ui.action}&csrf_token=${good}`, { method: 'POST' }),
  )
  expect(inQuery.status).not.toBe(200)
})

test('a wrong token is no guess at a password, and uses up nothing', async () => {
  await using own = await bootChecked({
    flags: { 'limits-sign-ins-per-minute': '2', 'limits-sign-ins-per-identifier-per-minute': '1' },
  })
  await own.register('one@example.com')
  const flow = await own.start('login')
  const login = { ...FIELDS.login, identifier: 'one@example.com' }
  for (let tries = 0; tries < 5; tries++)
    expect(await own.send(flow, { ...login, csrf_token: 'x' })).toMatchObject(REFUSED)
  expect(await own.send(flow, login)).toMatchObject({ status: 200 })
})

test('the token of a page is good in its browser alone, and for no program', async () => {
  await using own = await bootChecked()
  await own.register('one@example.com')
  const flow = await own.start('login')
  const page = await own.open(flow.ui.action)
  const [, ofPage = ''] = /name="csrf_token" value="([0-9a-f]{64})"/.exec(page.body) ?? []
  const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  expect(ofPage).toHaveLength(64)
  expect(ofPage).not.toBe(csrfOf(flow))

  const login = { method: 'password', identifier: 'one@example.com', password: PASSWORD }
  const post = (csrf_token: string, headers: Record<string, string> = {}) =>
    own.post(flow.ui.action, { csrf_token, ...login }, headers)
  const other = (await own.open(flow.ui.action)).headers.getSetCookie()[0]?.split(';')[0] ?? ''
  expect((await post(ofPage)).status).toBe(403)
  expect((await post(ofPage, { cookie: other })).status).toBe(403)
  expect((await post(csrfOf(flow), { cookie })).status).toBe(403)
  expect(await own.send(flow, { ...login, csrf_token: ofPage })).toMatchObject(REFUSED)
  expect((await post(ofPage, { cookie })).status).toBe(303)
})

test('a flow that is over or expired says so to those alone who have its token', async () => {
  await using own = await bootChecked()
  await own.register('one@example.com')
  const flow = await own.start('login')
  await own.sendWell(flow, { ...FIELDS.login, identifier: 'one@example.com' })
  expect(await own.send(flow, { csrf_token: 'x' })).toMatchObject(REFUSED)
  own.clock.jump(HOUR)
  expect(await own.send(flow, { csrf_token: 'x' })).toMatchObject(REFUSED)
  expect(await own.send(flow, {})).toMatchObject({ status: 410 })
})

test('the tokens of one flow in two installations differ', async () => {
  await using own = await bootChecked()
  const flow = await start('login')
  const theirs = await own.start('login')
  own.app.db.client.run('update gate_flows set id = ? where id = ?', [flow.id, theirs.id])
  const moved = await own.app.raw(pathOf(flow.ui.action))
  expect(moved).toMatchObject({ status: 200 })
  expect(csrfOf(moved.body)).not.toBe(csrfOf(flow))
})
