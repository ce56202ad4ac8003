import { beforeEach, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import type { Json } from '../../fixture.ts'
import { ADA, BOB, withToken } from './acts.ts'
import { bootFlows, type Flows, node, PASSWORD, useFlows } from './fixture.ts'

const GERMAN = { 'accept-language': 'de-AT, de;q=0.9, en;q=0.5' }
const ENGLISH = { 'accept-language': 'en-GB, en' }
const FRENCH = { 'accept-language': 'fr' }
const WRONG = { method: 'password', identifier: ADA, password: 'wrong' }

const { newTenant } = await useFlows()
let acme: Flows
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

describe('A flow', () => {
  test.each(FLOW_KINDS)(
    'of kind %s has all texts in either language, and the same nodes',
    async (kind) => {
      const flow = await start(kind)
      const [english, german] = [await read(flow, ENGLISH), await read(flow, GERMAN)]
      const texts = ({ ui }: Json) =>
        ui.nodes.flatMap(({ meta }: Json) => meta.label.text || []) as string[]
      for (const [at, text] of texts(german).entries())
        expect(text).not.toBe(texts(english)[at] ?? '')
      const spoken = new Set([...texts(english), ...texts(german)])
      const withoutTexts = ({ ui }: Json) =>
        JSON.stringify(ui, (name, value) =>
          spoken.has(value) || name === 'title' || name === 'value' ? '' : value,
        )
      expect(withoutTexts(german)).toBe(withoutTexts(english))
    },
  )

  test.each<[Record<string, string>, string]>([
    [{}, 'Password'],
    [ENGLISH, 'Password'],
    [FRENCH, 'Password'],
    [{ 'accept-language': '*' }, 'Password'],
    [GERMAN, 'Passwort'],
    [{ 'accept-language': 'fr, de;q=0.1' }, 'Passwort'],
  ])('started with %j says %s', async (headers, label) => {
    expect(passwordLabel(await start('login', headers))).toBe(label)
  })

  test('is shown in the language of the reader, or in its own', async () => {
    const flow = await start('login')
    expect(passwordLabel(await read(flow, GERMAN))).toBe('Passwort')
    expect(passwordLabel(await read(flow))).toBe('Password')
    const german = await start('login', GERMAN)
    expect(passwordLabel(await read(german, ENGLISH))).toBe('Password')
    expect(passwordLabel(await read(german, FRENCH))).toBe('Passwort')
  })

  test('continues in the language in which a form was sent', async () => {
    const flow = await start('login')
    const { body } = await acme.send(flow, WRONG, GERMAN)
    expect(body.ui.messages[0]).toMatchObject({ id: 4000006 })
    expect(body.ui.messages[0].text).toContain('Passwort')
    expect(passwordLabel(body)).toBe('Passwort')
    expect(passwordLabel(await read(flow))).toBe('Passwort')
    expect(passwordLabel((await acme.send(flow, WRONG)).body)).toBe('Passwort')
  })

  test('has errors of fields in that language', async () => {
    const flow = await start('registration', GERMAN)
    const form = { method: 'password', traits: { email: BOB }, password: 'kurz' }
    const { body: short } = await acme.send(flow, form)
    expect(node(short, 'password').messages[0].text).toContain('8 Zeichen')
    const { body: missing } = await acme.send(flow, { method: 'password', traits: {} })
    expect(node(missing, 'traits.email').messages[0].text).toContain('E-Mail-Adresse')
  })

  test('says in that language how long to wait', async () => {
    const flags = { 'limits-sign-ins-per-identifier-per-minute': '1' }
    await using own = await bootFlows({ flags })
    const flow = await own.start('login')
    await own.send(flow, WRONG)
    const { body } = await own.send(flow, WRONG, GERMAN)
    expect(body.ui.messages).toMatchObject([{ id: 4900002, context: { seconds: 60 } }])
    expect(body.ui.messages[0].text).toContain('in 1 Minute erneut')
  })
})

describe('A mail', () => {
  test.each<[Record<string, string>, Record<string, string>, string]>([
    [{}, {}, '15 minutes'],
    [{}, GERMAN, '15 Minuten'],
    [GERMAN, {}, '15 Minuten'],
    [GERMAN, ENGLISH, '15 minutes'],
  ])('of a flow started with %j and sent with %j says %s', async (startedIn, sentIn, words) => {
    const flow = await start('login', startedIn)
    await acme.sendWell(flow, { method: 'code', identifier: ADA }, sentIn)
    expect(acme.sentTo(ADA)[0]?.body?.text).toContain(words)
  })

  test.each([
    ['recovery', { email: ADA }, ADA],
    ['verification', { email: ADA }, ADA],
    ['registration', { traits: { email: BOB } }, BOB],
  ])('with a code of a %s is in German as well', async (kind, fields, email) => {
    await acme.sendWell(await start(kind, GERMAN), { method: 'code', ...fields })
    expect(acme.sentTo(email)[0]?.body?.text).toContain('Minuten')
  })

  test.each<[Record<string, string>, string]>([
    [GERMAN, 'Bestätige deine'],
    [ENGLISH, 'Verify your'],
  ])('to a new user, who signed up with %j, begins with %s', async (headers, words) => {
    const form = { method: 'password', traits: { email: BOB }, password: PASSWORD }
    await acme.sendWell(await start('registration', headers), form)
    expect(acme.sentTo(BOB)[0]?.subject).toStartWith(words)
  })
})
