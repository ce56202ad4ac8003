import { beforeEach, expect, test } from 'bun:test'
import { FLOW_KINDS, type FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { count, HOUR, type Json } from '../../fixture.ts'
import { ADA, BOB, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { useFlows } from './code-fixture.ts'
import { bootFlows, csrfOf, type Flows, PASSWORD, pathOf } from './fixture.ts'

const error = 'csrf_token: is missing, or belongs to another flow'
const REFUSED = { status: 403, body: { error, id: 'security_csrf_violation' } }

const { app, newTenant } = await useFlows()
let acme: Flows
let token: string
beforeEach(async () => {
  acme = await newTenant()
  token = (await acme.register(ADA)).session_token
})

const start = (kind: string) => acme.start(kind, withToken(token))

/** Sends these fields and no others. */
const send = (flow: Json, fields: Json, headers: Record<string, string> = {}) =>
  app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...withToken(token), ...headers },
    body: JSON.stringify(fields),
  })

/** A form that would succeed with its token. */
const FIELDS: Record<FlowKind, Json> = {
  login: { method: 'password', identifier: ADA, password: PASSWORD },
  registration: { method: 'password', traits: { email: BOB }, password: PASSWORD },
  recovery: { method: 'code', email: ADA },
  verification: { method: 'code', email: ADA },
  settings: { method: 'password', password: 'another good one 7' },
}

const TABLES = ['gate_identities', 'gate_sessions', 'gate_codes', 'mails', 'gate_flows']
const rows = () => TABLES.map((table) => count(app, table))

test.each(FLOW_KINDS)('A %s form does nothing without the token of its flow', async (kind) => {
  const flow = await start(kind)
  const others = []
  for (const other of FLOW_KINDS) others.push(csrfOf(await start(other)))
  const good = csrfOf(flow)
  const near = [good.slice(1), `${good}0`, ` ${good}`, good.toUpperCase(), '0'.repeat(64)]
  const before = rows()
  for (const csrf_token of [undefined, null, '', 0, true, {}, [good], ...near, flow.id, ...others])
    expect(await send(flow, { ...FIELDS[kind], csrf_token })).toMatchObject(REFUSED)
  for (const fields of [{}, { method: 'nonsense' }, { traits: 5 }, { method: ['password'] }])
    expect(await send(flow, fields)).toMatchObject(REFUSED)
  expect(rows()).toEqual(before)

  const failed = await send(flow, { csrf_token: good, method: 'nonsense' })
  expect([failed.status, csrfOf(failed.body)]).toEqual([422, good])
  const { body } = await acme.read(flow.ui.action, withToken(token))
  expect(csrfOf(body)).toBe(good)
  expect(await send(flow, { ...FIELDS[kind], csrf_token: good })).toMatchObject({ status: 200 })
})

test('A token counts in the body only, of several in a form the last one', async () => {
  const flow = await start('login')
  const good = csrfOf(flow)
  const elsewhere = { 'x-csrf-token': good, cookie: `csrf_token=${good}` }
  expect(await send(flow, FIELDS.login, elsewhere)).toMatchObject(REFUSED)
  const inQuery = { ui: { action: `${flow.ui.action}&csrf_token=${good}` } }
  expect(await send(inQuery, FIELDS.login)).toMatchObject(REFUSED)
  const sendForm = (tokens: string[]) => {
    const fields = tokens.map((one): [string, string] => ['csrf_token', one])
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = `${new URLSearchParams([...fields, ...Object.entries<string>(FIELDS.login)])}`
    return app.raw(pathOf(flow.ui.action), { method: 'POST', headers, body })
  }
  for (const tokens of [[], [''], ['x'], [good, 'x'], [good, '']])
    expect(await sendForm(tokens)).toMatchObject(REFUSED)
  expect(await sendForm(['x', good])).toMatchObject({ status: 200 })
})

test('A wrong token is no attempt at the password; it differs between installations', async () => {
  const limit = { 'limits-sign-ins-per-identifier-per-minute': '1' }
  await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '2', ...limit } })
  await own.register(ADA)
  const theirs = await own.start('login')
  for (let n = 0; n < 3; n++)
    expect(await own.send(theirs, { ...FIELDS.login, csrf_token: 'x' })).toMatchObject(REFUSED)
  expect(await own.send(theirs, FIELDS.login)).toMatchObject({ status: 200 })

  const flow = await start('login')
  const { id } = await own.start('login')
  own.app.db.client.run('update gate_flows set id = ? where id = ?', [flow.id, id])
  const { body } = await own.read(flow.ui.action)
  expect(body.id).toBe(flow.id)
  expect(csrfOf(body)).not.toBe(csrfOf(flow))
})

test('The token of a page works in its browser, and for no program', async () => {
  const flow = await start('login')
  const [browser, other] = [newBrowser(app), newBrowser(app)]
  const page = await browser.visit(flow.ui.action)
  await other.visit(flow.ui.action)
  const csrf_token = page.forms[0]?.hidden.csrf_token as string
  expect(csrf_token).toMatch(/^[0-9a-f]{64}$/)
  const post = (by: typeof browser, given: string) =>
    by.post(flow.ui.action, { csrf_token: given, ...FIELDS.login })
  for (const stranger of [newBrowser(app), other])
    expect(await post(stranger, csrf_token)).toMatchObject({ status: 403, forms: [] })
  for (const wrong of ['', 'x', csrfOf(flow)])
    expect(await post(browser, wrong)).toMatchObject({ status: 403, forms: [] })
  expect(await send(flow, { ...FIELDS.login, csrf_token })).toMatchObject(REFUSED)
  expect((await post(browser, csrf_token)).status).toBe(303)
})

test('A token is needed to learn that a flow is over or expired', async () => {
  const flow = await start('login')
  await acme.sendWell(flow, FIELDS.login)
  expect(await acme.send(flow, { csrf_token: 'x' })).toMatchObject(REFUSED)
  acme.clock.jump(HOUR)
  expect(await acme.send(flow, { csrf_token: 'x' })).toMatchObject(REFUSED)
  expect(await acme.send(flow, {})).toMatchObject({ status: 410 })
})
