import { beforeEach, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import type { Json } from '../../fixture.ts'
import { ADA, BOB, withToken } from './acts.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import { bootFlows, node, PASSWORD } from './fixture.ts'

const GERMAN = { 'accept-language': 'de-AT, de;q=0.9, en;q=0.5' }
const ENGLISH = { 'accept-language': 'en-GB, en' }
const FRENCH = { 'accept-language': 'fr' }
const WRONG = { method: 'password', identifier: ADA, password: 'wrong' }

const { newTenant } = await useFlows()
let acme: Tenant
let token: string
beforeEach(async () => {
  acme = await newTenant({ passwordless_enabled: true, mfa_enabled: true })
  token = (await acme.register(ADA)).session_token
  acme.clock.jump(60_000)
})

const start = (kind: string, headers: Record<string, string> = {}) =>
  acme.start(kind, { ...withToken(token), ...headers })

const read = async ({ ui }: Json, headers: Record<string, string> = {}): Promise<Json> =>
  (await acme.read(ui.action, { ...withToken(token), ...headers })).body

const passwordLabel = (flow: Json): string => node(flow, 'password').meta.label.text

test('Flows have all texts in both languages', async () => {
  const texts = ({ ui }: Json): string[] =>
    ui.nodes.flatMap(({ meta }: Json) => meta.label.text || [])
  for (const kind of FLOW_KINDS) {
    const flow = await start(kind)
    const [english, german] = [await read(flow, ENGLISH), await read(flow, GERMAN)]
    for (const [at, text] of texts(german).entries())
      expect(text).not.toBe(texts(english)[at] ?? '')
    const spoken = new Set([...texts(english), ...texts(german)])
    const withoutTexts = ({ ui }: Json) =>
      JSON.stringify(ui, (name, value) =>
        spoken.has(value) || name === 'title' || name === 'value' ? '' : value,
      )
    expect(withoutTexts(german)).toBe(withoutTexts(english))
  }
})

test('A flow is shown in the language of its reader, or in its own', async () => {
  for (const [headers, label] of [
    [{}, 'Password'],
    [FRENCH, 'Password'],
    [{ 'accept-language': '*' }, 'Password'],
    [GERMAN, 'Passwort'],
    [{ 'accept-language': 'fr, de;q=0.1' }, 'Passwort'],
  ] as [Record<string, string>, string][]) {
    const flow = await start('login', headers)
    expect(passwordLabel(flow)).toBe(label)
    expect(passwordLabel(await read(flow, FRENCH))).toBe(label)
    expect(passwordLabel(await read(flow, GERMAN))).toBe('Passwort')
    expect(passwordLabel(await read(flow, ENGLISH))).toBe('Password')
  }
})

test('A flow continues in the language in which a form was sent, until it is complete', async () => {
  const flow = await start('login')
  const { body } = await acme.send(flow, WRONG, GERMAN)
  expect(body.ui.messages[0]).toMatchObject({ id: 4000006 })
  expect(body.ui.messages[0].text).toContain('Passwort')
  expect(passwordLabel(body)).toBe('Passwort')
  expect(passwordLabel(await read(flow))).toBe('Passwort')
  expect(passwordLabel((await acme.send(flow, WRONG)).body)).toBe('Passwort')

  await acme.sendWell(flow, { ...WRONG, password: PASSWORD })
  await acme.send(flow, WRONG, ENGLISH)
  expect((await acme.send(flow, WRONG)).body.ui.messages[0].text).toContain('Anmeldung')
})

test('Errors of fields and waits are in that language, too', async () => {
  const flow = await start('registration', GERMAN)
  const form = { method: 'password', traits: { email: BOB }, password: 'kurz' }
  const { body: short } = await acme.send(flow, form)
  expect(node(short, 'password').messages[0].text).toContain('8 Zeichen')
  const { body: missing } = await acme.send(flow, { method: 'password', traits: {} })
  expect(node(missing, 'traits.email').messages[0].text).toContain('E-Mail-Adresse')

  await using own = await bootFlows({ flags: { 'limits-sign-ins-per-identifier-per-minute': '1' } })
  const limited = await own.start('login')
  await own.send(limited, WRONG)
  const { body } = await own.send(limited, WRONG, GERMAN)
  expect(body.ui.messages).toMatchObject([{ id: 4900002, context: { seconds: 60 } }])
  expect(body.ui.messages[0].text).toContain('in 1 Minute erneut')
})

test.each<[string, Json, Record<string, string>, Record<string, string>, string]>([
  ['login', { identifier: ADA }, {}, {}, '15 minutes'],
  ['login', { identifier: ADA }, {}, GERMAN, '15 Minuten'],
  ['login', { identifier: ADA }, GERMAN, {}, '15 Minuten'],
  ['login', { identifier: ADA }, GERMAN, ENGLISH, '15 minutes'],
  ['recovery', { email: ADA }, GERMAN, {}, '15 Minuten'],
  ['verification', { email: ADA }, GERMAN, {}, '15 Minuten'],
  ['registration', { traits: { email: ADA } }, GERMAN, {}, '15 Minuten'],
])('The mail of a %s %j in %j and %j: %s', async (kind, fields, startedIn, sentIn, words) => {
  if (kind === 'registration') acme = await newTenant({ passwordless_enabled: true })
  const flow = await acme.start(kind, startedIn)
  await acme.sendWell(flow, { method: 'code', ...fields }, sentIn)
  expect(acme.sentTo(ADA)[0]?.body?.text).toContain(words)
})

test.each<[Record<string, string>, string]>([
  [GERMAN, 'Bestätige deine'],
  [ENGLISH, 'Verify your'],
])('The mail to a new user, who signed up with %j, begins with %s', async (headers, words) => {
  const form = { method: 'password', traits: { email: BOB }, password: PASSWORD }
  await acme.sendWell(await start('registration', headers), form)
  expect(acme.sentTo(BOB)[0]?.subject).toStartWith(words)
})
