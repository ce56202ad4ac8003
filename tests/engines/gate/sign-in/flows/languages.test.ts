import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { FLOW_KINDS } from '../../../../../src/engines/gate/sign-in/model.ts'
import type { Json } from '../../fixture.ts'
import { bootChecked, type Checked } from './checked.ts'
import { node, PASSWORD, pathOf } from './fixture.ts'

const GERMAN = { 'accept-language': 'de-AT, de;q=0.9, en;q=0.5' }
const ENGLISH = { 'accept-language': 'en-GB, en' }
const FRENCH = { 'accept-language': 'fr' }

let fixture: Checked
let token: string
beforeAll(async () => {
  fixture = await bootChecked()
  await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
  token = (await fixture.register('somebody@example.com')).session_token
})
afterAll(() => fixture[Symbol.asyncDispose]())

let people = 0
const newEmail = () => `person-${people++}@example.com`

const start = (kind: string, headers: Record<string, string> = {}) =>
  fixture.start(kind, { 'x-session-token': token, ...headers })

const read = async ({ ui }: Json, headers: Record<string, string> = {}): Promise<Json> =>
  (await fixture.app.raw(pathOf(ui.action), { headers: { 'x-session-token': token, ...headers } }))
    .body

const passwordLabel = (flow: Json): string => node(flow, 'password').meta.label.text

/** Ids, types and contexts of all that is said, in its place: what does not depend on a language. */
const unspoken = ({ ui }: Json): Json =>
  JSON.parse(
    JSON.stringify(ui, (name, value) =>
      name === 'text' && typeof value === 'string' ? '' : value,
    ).replaceAll(/"title":"[^"]*"/g, '"title":""'),
  )

describe('a flow', () => {
  test.each(FLOW_KINDS)('speaks the language that it was started in: %s', async (kind) => {
    const english = await start(kind)
    const german = await start(kind, GERMAN)
    const texts = (flow: Json) =>
      flow.ui.nodes.flatMap(({ meta }: Json) => (meta.label.text ? [meta.label.text] : []))
    expect(texts(german)).toHaveLength(texts(english).length)
    for (const [at, text] of texts(german).entries())
      expect(text, 'spoken in both languages').not.toBe(texts(english)[at])
    expect(await read(german)).toEqual(german)
  })

  test('says the same in both', async () => {
    for (const kind of ['login', 'registration', 'recovery', 'verification']) {
      const flow = await start(kind)
      const spoken = await Promise.all([ENGLISH, GERMAN].map((headers) => read(flow, headers)))
      const [english, german] = spoken.map(unspoken)
      expect(german).toEqual(english)
    }
  })

  test.each([
    [{}, 'Password'],
    [ENGLISH, 'Password'],
    [FRENCH, 'Password'],
    [{ 'accept-language': '*' }, 'Password'],
    [GERMAN, 'Passwort'],
    [{ 'accept-language': 'fr, de;q=0.1' }, 'Passwort'],
  ] as [Record<string, string>, string][])(
    'is started in English unless %j',
    async (headers, label) => {
      expect(passwordLabel(await start('login', headers))).toBe(label)
    },
  )

  test('speaks to each reader in theirs, and stays as it is', async () => {
    const flow = await start('login')
    expect(passwordLabel(await read(flow, GERMAN))).toBe('Passwort')
    expect(passwordLabel(await read(flow))).toBe('Password')
    const german = await start('login', GERMAN)
    expect(passwordLabel(await read(german, ENGLISH))).toBe('Password')
    expect(passwordLabel(await read(german, FRENCH))).toBe('Passwort')
  })

  test('goes on in the language of whoever sends the form', async () => {
    const flow = await start('login')
    const login = { method: 'password', identifier: 'nobody@example.com', password: 'wrong' }
    const { body } = await fixture.send(flow, login, GERMAN)
    expect(body.ui.messages[0].id).toBe(4000006)
    expect(body.ui.messages[0].text).toContain('Passwort')
    expect(passwordLabel(body)).toBe('Passwort')
    expect(passwordLabel(await read(flow))).toBe('Passwort')
    const { body: again } = await fixture.send(flow, login)
    expect(passwordLabel(again)).toBe('Passwort')
  })

  test('complains beside fields in that language', async () => {
    const flow = await start('registration', GERMAN)
    const fields = { method: 'password', traits: { email: newEmail() }, password: 'kurz' }
    const { body } = await fixture.send(flow, fields)
    expect(node(body, 'password').messages[0].text).toContain('8 Zeichen')
    const missing = await fixture.send(flow, { method: 'password', traits: {} })
    expect(node(missing.body, 'traits.email').messages[0].text).toContain('E-Mail-Adresse')
  })
})

describe('a mail', () => {
  const codeSentIn = async (headers: Record<string, string>, startedIn = {}) => {
    const { traits } = await fixture.createIdentity({ traits: { email: newEmail() } })
    const flow = await start('login', startedIn)
    await fixture.sendWell(flow, { method: 'code', identifier: traits.email }, headers)
    return fixture.sentTo(traits.email)[0]
  }

  test('with a code for signing in is in the language of whoever asks for it', async () => {
    const english = await codeSentIn({})
    const german = await codeSentIn(GERMAN)
    expect(english?.body?.text).toContain('15 minutes')
    expect(german?.body?.text).toContain('15 Minuten')
    expect(german?.subject).not.toBe(english?.subject)
    expect((await codeSentIn({}, GERMAN))?.subject).toBe(german?.subject)
    expect((await codeSentIn(ENGLISH, GERMAN))?.subject).toBe(english?.subject)
  })

  test('to a newcomer is in the language in which they signed up', async () => {
    const subjects = []
    for (const headers of [GERMAN, ENGLISH]) {
      const email = newEmail()
      const flow = await start('registration', headers)
      await fixture.sendWell(flow, { method: 'password', traits: { email }, password: PASSWORD })
      subjects.push(fixture.sentTo(email)[0]?.subject)
    }
    expect(subjects[0]).toStartWith('Bestätige deine')
    expect(subjects[1]).toStartWith('Verify your')
  })

  test.each(['recovery', 'verification'])('with a code is in German as well: %s', async (kind) => {
    const { traits } = await fixture.createIdentity({ traits: { email: newEmail() } })
    const flow = await start(kind, GERMAN)
    await fixture.sendWell(flow, { method: 'code', email: traits.email })
    expect(fixture.sentTo(traits.email)[0]?.body?.text).toContain('15 Minuten')
  })

  test('for signing up by code is in German as well', async () => {
    const email = newEmail()
    await fixture.sendWell(await start('registration', GERMAN), {
      method: 'code',
      traits: { email },
    })
    expect(fixture.sentTo(email)[0]?.subject).toStartWith('Dein Bestätigungscode')
  })
})

test('a time to wait is told in the language of whoever waits', async () => {
  await using own = await bootChecked({
    flags: { 'limits-sign-ins-per-identifier-per-minute': '1' },
  })
  const login = { method: 'password', identifier: 'nobody@example.com', password: 'wrong' }
  const flow = await own.start('login')
  await own.send(flow, login)
  const { body } = await own.send(flow, login, GERMAN)
  expect(body.ui.messages).toMatchObject([{ id: 4900002, context: { seconds: 60 } }])
  expect(body.ui.messages[0].text).toContain('1 Minute')
  expect(body.ui.messages[0].text).not.toContain('try')
})
