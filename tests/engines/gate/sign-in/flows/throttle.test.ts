import { describe, expect, test } from 'bun:test'
import { testConfig } from '../../../../support/config.ts'
import { type Json, MINUTE, SECOND } from '../../fixture.ts'
import { ADA, BOB, enrolled, halfway, withToken } from './acts.ts'
import { PEER, pretendPeers } from './checked.ts'
import { person, read, type Tenant, useFlows } from './code-fixture.ts'
import { messageIds, PASSWORD } from './fixture.ts'
import { countVerifications } from './held-passwords.ts'

const PER_PERSON = 2
const PER_ADDRESS = 4

const flows = await useFlows({
  flags: {
    'limits-sign-ins-per-identifier-per-minute': `${PER_PERSON}`,
    'limits-sign-ins-per-minute': `${PER_ADDRESS}`,
  },
})
pretendPeers(flows.app)
const { clock } = flows

let networks = 0

/** A tenant with a person, and two addresses that no other test uses. */
async function withAda() {
  const acme = await flows.newTenant()
  await person(acme, ADA)
  networks++
  return { acme, from: `192.0.${networks}.1`, elsewhere: `192.0.${networks}.2` }
}

type By = Record<string, string>

const peer = (from?: string): By => (from === undefined ? {} : { [PEER]: from })

async function tryIn(acme: Tenant, password: string, by: By = {}) {
  const { identifier = ADA, from, ...headers } = by
  const fields = { method: 'password', identifier, password }
  return acme.send(await acme.start('login'), fields, { ...peer(from), ...headers })
}

const statusOf = async (...of: Parameters<typeof tryIn>) => (await tryIn(...of)).status

async function wrongly(acme: Tenant, times: number, by: By = {}) {
  for (let tries = 0; tries < times; tries++) expect(await statusOf(acme, 'wrong', by)).toBe(422)
}

const unknown = (at: number) => `nobody-${at}@example.com`

/** Wrong passwords of this many people, one after the other. */
async function failFrom(acme: Tenant, from: string, times = PER_ADDRESS) {
  for (let at = 0; at < times; at++) await wrongly(acme, 1, { identifier: unknown(at), from })
}

/** Of tries at once, as many as the limit are made, and the others refused. */
async function expectAdmitted(limit: number, tries: Promise<number>[]) {
  const refused = Array(tries.length - limit).fill(429)
  expect((await Promise.all(tries)).sort()).toEqual([...Array(limit).fill(422), ...refused])
}

describe('Tries for one person', () => {
  test('are limited: the next is refused before the password is verified', async () => {
    const { acme, from } = await withAda()
    await wrongly(acme, PER_PERSON, { from })
    using verified = countVerifications(PASSWORD)
    const { status, headers, body } = await tryIn(acme, PASSWORD, { from })
    expect([status, body.state, headers.get('retry-after')]).toEqual([429, 'choose_method', '30'])
    const message = { id: 4900002, type: 'error', context: { seconds: 30 } }
    expect(body.ui.messages).toMatchObject([message])
    expect(verified.hashes()).toEqual([])
  })

  test('are counted together at once, in all spellings, from all networks and in all flows', async () => {
    const { acme, from, elsewhere } = await withAda()
    const tries = Array.from({ length: 6 }, () => statusOf(acme, 'wrong', { from }))
    await expectAdmitted(PER_PERSON, tries)
    await clock.advance(MINUTE)
    await wrongly(acme, 1, { identifier: ` ${ADA.toUpperCase()}`, from: elsewhere })
    const flow = await acme.start('login')
    const send = async (password: string) =>
      (await acme.send(flow, { method: 'password', identifier: ADA, password }, peer(from))).status
    expect([await send('wrong'), await send(PASSWORD)]).toEqual([422, 429])
    expect(await statusOf(acme, PASSWORD, { from: '192.0.0.4' })).toBe(429)
    await clock.advance(MINUTE)
    expect(await send(PASSWORD)).toBe(200)
  })

  test('are counted for each person and tenant, known or not, and for settings apart', async () => {
    const { acme } = await withAda()
    const { acme: other } = await withAda()
    for (const party of [acme, other]) await person(party, BOB)
    const { session_token, session } = await acme.signIn(ADA)
    const apart = ['password', 'addresses'].map((purpose) => `${purpose} of ${session.identity.id}`)
    for (const [at, identifier] of [BOB, unknown(1), 'x'.repeat(4000), ...apart].entries()) {
      const by = { identifier, from: `192.1.${at}.1` }
      await wrongly(acme, PER_PERSON, by)
      expect(await statusOf(acme, PASSWORD, by)).toBe(429)
    }
    const from = '192.1.9.1'
    expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
    expect(await statusOf(other, PASSWORD, { identifier: BOB, from })).toBe(200)
    for (const fields of [
      { method: 'profile', traits: { email: 'new@example.com' } },
      { method: 'password', password: 'an entirely different one' },
    ])
      expect((await acme.change(session_token, fields)).status).toBe(200)
  })

  test('are not counted while a field is missing, but when signing in again', async () => {
    const { acme, from } = await withAda()
    const { session_token } = await acme.signIn(ADA)
    for (const fields of [{ identifier: ADA }, { identifier: ADA, password: 5 }])
      expect((await acme.send(await acme.start('login'), fields, peer(from))).status).toBe(422)
    const flow = await acme.start('login', withToken(session_token), '?refresh=true')
    const send = async (password: string) =>
      (await acme.send(flow, { password }, peer(from))).status
    for (let tries = 0; tries < PER_PERSON; tries++) expect(await send('wrong')).toBe(422)
    expect(await send(PASSWORD)).toBe(429)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
  })
})

describe('Failures from one address', () => {
  test('are limited for all people together', async () => {
    const { acme, from, elsewhere } = await withAda()
    await failFrom(acme, from)
    const { status, headers, body } = await tryIn(acme, PASSWORD, { from })
    expect([status, headers.get('retry-after'), ...messageIds(body)]).toEqual([429, '15', 4900002])
    expect(await statusOf(acme, PASSWORD, { from: elsewhere })).toBe(200)
    await clock.advance(15 * SECOND - 1)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
    await clock.advance(1)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
  })

  test('are counted together at once, and no more are verified', async () => {
    const { acme, from } = await withAda()
    const password = 'wrong at the same time'
    using verified = countVerifications(password)
    const tries = Array.from({ length: 10 }, (_, at) =>
      statusOf(acme, password, { identifier: unknown(at), from }),
    )
    await expectAdmitted(PER_ADDRESS, tries)
    expect(verified.hashes()).toHaveLength(PER_ADDRESS)
  })

  test('are no right sign-ins, nor those that the limit of the person refuses', async () => {
    const { acme, from } = await withAda()
    for (let rounds = 0; rounds < 3; rounds++) {
      const tries = Array.from({ length: PER_PERSON }, () => statusOf(acme, PASSWORD, { from }))
      expect(await Promise.all(tries)).toEqual(Array(PER_PERSON).fill(200))
    }
    await wrongly(acme, PER_PERSON, { from })
    for (let tries = 0; tries < 3; tries++)
      expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
    await failFrom(acme, from, PER_ADDRESS - PER_PERSON)
    expect(await statusOf(acme, 'wrong', { from, identifier: BOB })).toBe(429)
  })

  test('are wrong codes and second factors, also at once', async () => {
    const { acme, from, elsewhere } = await withAda()
    const send = async (flow: Json, fields: Json, by: string) =>
      (await acme.send(flow, fields, peer(by))).status
    await acme.security({ mfa_enabled: true })
    await enrolled(acme, BOB)
    await clock.advance(MINUTE)
    const [sent, halves]: [Json[], Json[]] = [[], []]
    for (let at = 0; at <= PER_ADDRESS; at++) {
      const { id: flow } = await acme.start('recovery')
      sent.push((await acme.submit('recovery', { flow, email: unknown(at) })).body)
      halves.push((await halfway(acme, BOB)).flow)
    }
    const codes = sent.map((flow) => send(flow, { code: 'wrong' }, from))
    await expectAdmitted(PER_ADDRESS, codes)
    const wrong = { method: 'lookup_secret', lookup_secret: 'zzzz-zzzz' }
    const factors = halves.map((flow) => send(flow, wrong, elsewhere))
    await expectAdmitted(PER_ADDRESS, factors)
  })

  test('are not counted for a server with the key of the tenant, but those for a person', async () => {
    const { acme, from } = await withAda()
    const server = { from, authorization: `Bearer ${acme.key}` }
    for (let at = 0; at <= PER_ADDRESS; at++)
      await wrongly(acme, 1, { identifier: unknown(at), ...server })
    await wrongly(acme, PER_PERSON, server)
    expect(await statusOf(acme, PASSWORD, server)).toBe(429)
  })
})

describe('Requests that cost something', () => {
  test.each<[string, (email: string) => Json]>([
    ['registration', (email) => ({ method: 'password', traits: { email }, password: PASSWORD })],
    ['registration', (email) => ({ method: 'code', traits: { email } })],
    ['login', (identifier) => ({ method: 'code', identifier })],
    ['recovery', (email) => ({ method: 'code', email })],
    ['verification', (email) => ({ method: 'code', email })],
  ])('are limited by address, known or not: %s (%#)', async (kind, form) => {
    const { acme, from, elsewhere } = await withAda()
    await acme.security({ passwordless_enabled: true })
    if (kind !== 'registration') await person(acme, unknown(0))
    let people = 0
    const ask = async (by: string, headers = {}) =>
      acme.send(await acme.start(kind), form(unknown(people++)), { ...peer(by), ...headers })
    for (let n = 0; n < PER_ADDRESS; n++) expect((await ask(from)).status).toBe(200)
    const { status, headers, body } = await ask(from)
    expect([status, headers.get('retry-after'), ...messageIds(body)]).toEqual([429, '15', 4900002])
    const found = await acme.api.get(`/v1/gate/identities?email=${unknown(people - 1)}`)
    expect([found.body.data, acme.mailsTo(unknown(people - 1))]).toEqual([[], []])
    expect((await ask(elsewhere)).status).toBe(200)
    expect((await ask(from, { authorization: `Bearer ${acme.key}` })).status).toBe(200)
    await clock.advance(15 * SECOND)
    expect((await ask(from)).status).toBe(200)
  })

  test('are counted once the form is valid; reading a flow is free', async () => {
    const { acme, from, elsewhere } = await withAda()
    await failFrom(acme, from, PER_ADDRESS - 1)
    const flow = await acme.start('registration')
    for (let n = 0; n < 5; n++) expect((await read(acme, flow)).status).toBe(200)
    const send = async (to: Json, fields: Json, by = from) =>
      (await acme.send(to, fields, peer(by))).status
    const good = { method: 'password', traits: { email: BOB }, password: PASSWORD }
    for (const wrong of [{}, { ...good, traits: { email: 'x' } }, { ...good, password: 'short' }])
      expect(await send(flow, wrong)).toBe(422)
    expect(await send(flow, good)).toBe(200)
    // Choices of how to confirm an address cost something, too.
    const choice = await acme.start('verification')
    const choose = () => send(choice, { confirm_by: 'sign_in' }, elsewhere)
    for (let n = 0; n < PER_ADDRESS; n++) expect(await choose()).toBe(422)
    expect(await choose()).toBe(429)
  })
})

test('Changes of settings are limited by address, and not for a server with a key', async () => {
  /** Rows written since the database was opened. */
  const writes = () =>
    flows.app.db.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n
  const { acme } = await withAda()
  await clock.advance(MINUTE)
  await acme.security({ mfa_enabled: true })
  const { session_token: token } = await acme.signIn(ADA)
  const flow = await acme.settings(token)
  // A form in the language of its flow costs nothing more.
  const english = { 'accept-language': 'en' }
  const step = () => acme.send(flow, { lookup_secret_regenerate: 'true' }, english)
  for (let n = 0; n < PER_ADDRESS; n++) expect((await step()).status).toBe(200)
  const before = writes()
  const { status, body } = await step()
  expect([status, messageIds(body), writes()]).toEqual([429, [4900002], before])
  const same = { method: 'profile', traits: { email: ADA } }
  expect((await acme.change(token, same)).status).toBe(429)
  const byServer = await acme.submit('settings', { flow: flow.id, ...same }, withToken(token))
  expect(byServer.status).toBe(200)
})

test('The limits are 10 tries a minute for a person, and 60 for an address', () => {
  const { limits } = testConfig()
  expect(limits).toMatchObject({ signInsPerIdentifierPerMinute: 10, signInsPerMinute: 60 })
})
