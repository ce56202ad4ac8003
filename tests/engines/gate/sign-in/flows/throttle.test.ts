import { describe, expect, test } from 'bun:test'
import { testConfig } from '../../../../support/config.ts'
import type { Json } from '../../fixture.ts'
import { HOUR, MINUTE, SECOND } from '../../identities/people.ts'
import { ADA, BOB, enrolled, halfway, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { PEER, pretendPeers, saidIn } from './checked.ts'
import { person, read, type Tenant, useFlows } from './code-fixture.ts'
import { PASSWORD } from './fixture.ts'
import { countVerifications } from './held-passwords.ts'

const PER_PERSON = 4
const PER_ADDRESS = 8

const flows = await useFlows({
  flags: {
    'limits-sign-ins-per-identifier-per-minute': `${PER_PERSON}`,
    'limits-sign-ins-per-minute': `${PER_ADDRESS}`,
    'server-trusted-proxies': '10.0.0.0/8',
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

/** A sign-in in a flow of its own. */
async function tryIn(acme: Tenant, password: string, by: By = {}) {
  const { identifier = ADA, from, ...headers } = by
  const fields = { method: 'password', identifier, password }
  const peer: Record<string, string> = from === undefined ? {} : { [PEER]: from }
  return acme.send(await acme.start('login'), fields, { ...peer, ...headers })
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

const statuses = (good: number, refused: number) => [
  ...Array(good).fill(422),
  ...Array(refused).fill(429),
]

describe('tries for one person', () => {
  test('are limited: the next is refused before the password is verified', async () => {
    const { acme, from } = await withAda()
    await wrongly(acme, PER_PERSON, { from })
    using verified = countVerifications(PASSWORD)
    const answer = await tryIn(acme, PASSWORD, { from })
    expect([answer.status, answer.body.state]).toEqual([429, 'choose_method'])
    expect(answer.headers.get('retry-after')).toBe('15')
    const text = expect.stringContaining('15 seconds')
    const message = { id: 4900002, text, type: 'error', context: { seconds: 15 } }
    expect(answer.body.ui.messages).toEqual([message])
    expect(await statusOf(acme, 'wrong', { from })).toBe(429)
    expect(verified.hashes()).toEqual([])
  })

  test('are allowed again evenly, by the monotonic clock', async () => {
    const { acme, from } = await withAda()
    await wrongly(acme, PER_PERSON, { from })
    clock.jump(HOUR)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
    await clock.advance(15 * SECOND - 1)
    const answer = await tryIn(acme, PASSWORD, { from })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
    await clock.advance(1)
    await wrongly(acme, 1, { from })
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
    await clock.advance(15 * SECOND)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
    await clock.advance(MINUTE)
    await wrongly(acme, PER_PERSON, { from })
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
  })

  test('are free if they are right', async () => {
    const { acme, from } = await withAda()
    for (let n = 0; n < 2 * PER_PERSON; n++)
      expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
    await wrongly(acme, PER_PERSON - 1, { from })
    expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
    await wrongly(acme, 1, { from })
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
  })

  test('are counted together in all spellings, from all networks, and in all flows', async () => {
    const { acme, from, elsewhere } = await withAda()
    await wrongly(acme, 1, { identifier: ` ${ADA.toUpperCase()}`, from })
    await wrongly(acme, 1, { identifier: 'Ada@Example.COM', from: elsewhere })
    const flow = await acme.start('login')
    const fields = { method: 'password', identifier: ADA, password: 'wrong' }
    const right = { ...fields, password: PASSWORD }
    for (let tries = 0; tries < 2; tries++)
      expect((await acme.send(flow, fields, { [PEER]: from })).status).toBe(422)
    expect((await acme.send(flow, right, { [PEER]: from })).status).toBe(429)
    expect(await statusOf(acme, PASSWORD, { from: '192.0.0.4' })).toBe(429)
    await clock.advance(MINUTE)
    expect((await acme.send(flow, right, { [PEER]: from })).status).toBe(200)
  })

  test('are counted together if they arrive at once', async () => {
    const { acme, from } = await withAda()
    const tries = Array.from({ length: 15 }, () => statusOf(acme, 'wrong', { from }))
    expect((await Promise.all(tries)).sort()).toEqual(statuses(PER_PERSON, 15 - PER_PERSON))
  })

  test('are counted for each person and tenant, known or not', async () => {
    const { acme } = await withAda()
    const { acme: other } = await withAda()
    for (const party of [acme, other]) await person(party, BOB)
    for (const [at, identifier] of [BOB, unknown(1), 'nobody', 'x'.repeat(4000)].entries()) {
      const by = { identifier, from: `192.1.${at}.1` }
      await wrongly(acme, PER_PERSON, by)
      expect(await statusOf(acme, PASSWORD, by)).toBe(429)
    }
    const from = '192.1.9.1'
    expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
    await wrongly(other, PER_PERSON - 1, { identifier: BOB, from })
    expect(await statusOf(other, PASSWORD, { identifier: BOB, from })).toBe(200)
  })

  test('are not counted for settings, whatever address is typed', async () => {
    const { acme } = await withAda()
    const { session_token, session } = await acme.signIn(ADA)
    const { id } = session.identity
    for (const [at, purpose] of ['password', 'addresses'].entries())
      await wrongly(acme, PER_PERSON, { identifier: `${purpose} of ${id}`, from: `192.2.${at}.1` })
    for (const fields of [
      { method: 'profile', traits: { email: BOB } },
      { method: 'password', password: 'an entirely different one' },
    ])
      expect((await acme.change(session_token, fields)).status).toBe(200)
  })

  test('are not counted while a field is missing', async () => {
    const { acme, from } = await withAda()
    await wrongly(acme, PER_PERSON - 1, { from })
    for (const fields of [
      { method: 'password', identifier: ADA },
      { method: 'password', identifier: ADA, password: 5 },
      { method: 'nonsense', identifier: ADA, password: 'x' },
    ])
      expect((await acme.send(await acme.start('login'), fields)).status).toBe(422)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
  })

  test('are counted for a signed-in person who signs in again', async () => {
    const { acme, from } = await withAda()
    const { session_token } = await acme.signIn(ADA)
    const flow = await acme.start('login', withToken(session_token), '?refresh=true')
    const send = (password: string) => acme.send(flow, { password }, { [PEER]: from })
    for (let tries = 0; tries < PER_PERSON; tries++) expect((await send('wrong')).status).toBe(422)
    expect((await send(PASSWORD)).status).toBe(429)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
  })
})

describe('failures from one address', () => {
  test('are limited for all people together', async () => {
    const { acme, from, elsewhere } = await withAda()
    await failFrom(acme, from)
    const answer = await tryIn(acme, PASSWORD, { from })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '8'])
    expect(saidIn(answer.body)).toEqual([4900002])
    expect(await statusOf(acme, PASSWORD, { from: elsewhere })).toBe(200)
    await clock.advance(7.5 * SECOND - 1)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
    await clock.advance(1)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(200)
  })

  test('are counted together if they arrive at once, and no more are verified', async () => {
    const { acme, from } = await withAda()
    const password = 'wrong at the same time'
    using verified = countVerifications(password)
    const tries = Array.from({ length: 20 }, (_, at) =>
      statusOf(acme, password, { identifier: unknown(at), from }),
    )
    expect((await Promise.all(tries)).sort()).toEqual(statuses(PER_ADDRESS, 20 - PER_ADDRESS))
    expect(verified.hashes()).toHaveLength(PER_ADDRESS)
  })

  test('are no right sign-ins, also at once: they give back what they took', async () => {
    const { acme, from } = await withAda()
    for (let rounds = 0; rounds < 3; rounds++) {
      const tries = Array.from({ length: PER_PERSON }, () => statusOf(acme, PASSWORD, { from }))
      expect(await Promise.all(tries)).toEqual(Array(PER_PERSON).fill(200))
    }
    await failFrom(acme, from)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
  })

  test('are no tries that the limit of the person refuses, and the other way round', async () => {
    const { acme, from, elsewhere } = await withAda()
    await wrongly(acme, PER_PERSON, { from })
    for (let tries = 0; tries < 5; tries++)
      expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
    await failFrom(acme, from, PER_ADDRESS - PER_PERSON)
    for (let tries = 0; tries < 5; tries++)
      expect(await statusOf(acme, 'wrong', { from, identifier: BOB })).toBe(429)
    await wrongly(acme, PER_PERSON, { from: elsewhere, identifier: BOB })
  })

  /** Sends a form to each of the flows at once. */
  const atOnce = async (acme: Tenant, sent: Json[], fields: Json, from: string) => {
    const answers = sent.map((flow) => acme.send(flow, fields, { [PEER]: from }))
    return (await Promise.all(answers)).map(({ status }) => status).sort()
  }

  test('are emailed codes at once', async () => {
    const { acme, from } = await withAda()
    const byServer = async (email: string) => {
      const { id: flow } = await acme.start('recovery')
      return (await acme.submit('recovery', { flow, email })).body as Json
    }
    const right = await byServer(ADA)
    const others: Json[] = []
    for (let at = 0; at < 20; at++) others.push(await byServer(unknown(at)))
    expect(await atOnce(acme, [right], { code: acme.codeFor(ADA) }, from)).toEqual([200])
    const wrong = await atOnce(acme, others, { code: 'wrong' }, from)
    expect(wrong).toEqual(statuses(PER_ADDRESS, 20 - PER_ADDRESS))
  })

  test('are second factors at once', async () => {
    const { acme, from } = await withAda()
    await acme.security({ mfa_enabled: true })
    await clock.advance(MINUTE)
    await enrolled(acme, BOB)
    const halves: Json[] = []
    for (let n = 0; n < PER_ADDRESS + 1; n++) halves.push((await halfway(acme, BOB)).flow)
    const wrong = { method: 'lookup_secret', lookup_secret: 'zzzz-zzzz' }
    expect(await atOnce(acme, halves, wrong, from)).toEqual(statuses(PER_ADDRESS, 1))
  })

  const by = (forwarded: string, from = '10.0.0.1') => ({ from, 'x-forwarded-for': forwarded })

  test.each<[string, failed: By[], refused: By, other: By]>([
    [
      'the network of an IPv6 address',
      [{ from: '2001:db8:0:1::1' }, { from: '2001:db8:0:1:ffff::2' }],
      { from: '2001:0db8:0:1:9::3' },
      { from: '2001:db8:0:2::1' },
    ],
    [
      'an IPv4 address in any notation',
      [{ from: '198.18.2.1' }, { from: '::ffff:198.18.2.1' }],
      { from: '::ffff:c612:201' },
      { from: '198.18.2.2' },
    ],
    [
      'the address that a trusted proxy forwards',
      [by('1.1.1.1, 203.0.113.5'), by('2.2.2.2, 203.0.113.5')],
      by('3.3.3.3, 203.0.113.5'),
      by('203.0.113.6'),
    ],
    [
      'the peer that is no trusted proxy',
      [by('4.4.4.4', '198.51.100.1'), by('5.5.5.5', '198.51.100.1')],
      by('6.6.6.6', '198.51.100.1'),
      by('6.6.6.6', '198.51.100.2'),
    ],
    ['requests without an address', [{}, {}], {}, { from: '198.18.3.1' }],
  ])('are counted for %s', async (_, failed, refused, other) => {
    const { acme } = await withAda()
    await clock.advance(MINUTE)
    for (let at = 0; at < PER_ADDRESS; at++)
      await wrongly(acme, 1, { identifier: unknown(at), ...failed[at % failed.length] })
    expect(await statusOf(acme, PASSWORD, refused)).toBe(429)
    expect(await statusOf(acme, PASSWORD, other)).toBe(200)
    await clock.advance(MINUTE)
  })

  test('are not counted for a server with the key of the tenant', async () => {
    const { acme, from } = await withAda()
    const server = { from, authorization: `Bearer ${acme.key}` }
    for (let at = 0; at <= PER_ADDRESS; at++)
      await wrongly(acme, 1, { identifier: unknown(at), ...server })
    expect(await statusOf(acme, PASSWORD, server)).toBe(200)
    await wrongly(acme, PER_PERSON, server)
    expect(await statusOf(acme, PASSWORD, server)).toBe(429)
  })
})

describe('requests that cost something', () => {
  const FORMS: [string, (email: string) => Json][] = [
    ['registration', (email) => ({ method: 'password', traits: { email }, password: PASSWORD })],
    ['registration', (email) => ({ method: 'code', traits: { email } })],
    ['login', (identifier) => ({ method: 'code', identifier })],
    ['recovery', (email) => ({ method: 'code', email })],
    ['verification', (email) => ({ method: 'code', email })],
  ]
  const COUNTED = FORMS.map(([kind, form]) => [kind, form('').method, form] as const)

  test.each(COUNTED)('are limited by address, known or not: %s by %s', async (kind, _, form) => {
    const { acme, from, elsewhere } = await withAda()
    await acme.security({ passwordless_enabled: true })
    if (kind !== 'registration') await person(acme, unknown(0))
    let people = 0
    const ask = async (peer: string, headers = {}) => {
      const fields = form(unknown(people++))
      return acme.send(await acme.start(kind), fields, { [PEER]: peer, ...headers })
    }
    for (let n = 0; n < PER_ADDRESS; n++) expect((await ask(from)).status).toBe(200)
    const answer = await ask(from)
    expect([answer.status, saidIn(answer.body)]).toEqual([429, [4900002]])
    expect(answer.headers.get('retry-after')).toBe('8')
    const { body } = await acme.api.get(`/v1/gate/identities?email=${unknown(people - 1)}`)
    expect([body.data, acme.mailsTo(unknown(people - 1))]).toEqual([[], []])
    expect((await ask(elsewhere)).status).toBe(200)
    expect((await ask(from, { authorization: `Bearer ${acme.key}` })).status).toBe(200)
    await clock.advance(7.5 * SECOND)
    expect((await ask(from)).status).toBe(200)
  })

  test('are counted together with failures', async () => {
    const { acme, from } = await withAda()
    await failFrom(acme, from, PER_ADDRESS - 1)
    const recovery = await acme.start('recovery')
    expect((await acme.send(recovery, { email: ADA }, { [PEER]: from })).status).toBe(200)
    expect(await statusOf(acme, PASSWORD, { from })).toBe(429)
  })

  test('are counted once the form is valid; reading a flow is free', async () => {
    const { acme, from } = await withAda()
    await failFrom(acme, from, PER_ADDRESS - 1)
    const flow = await acme.start('registration')
    for (let n = 0; n < 20; n++) expect((await read(acme, flow)).status).toBe(200)
    const good = { method: 'password', traits: { email: BOB }, password: PASSWORD }
    for (const [fields, status] of [
      [{}, 422],
      [{ ...good, traits: { email: 'x' } }, 422],
      [{ ...good, password: 'short' }, 422],
      [good, 200],
    ] as const)
      expect((await acme.send(flow, fields, { [PEER]: from })).status).toBe(status)
  })
})

describe('changes of settings', () => {
  /** Rows written since the database was opened. */
  const writes = () =>
    flows.app.db.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n

  async function signedIn() {
    const { acme } = await withAda()
    await clock.advance(MINUTE)
    const { session_token: token } = await acme.signIn(ADA)
    return { acme, token: token as string }
  }

  test('are limited by address: steps of one flow', async () => {
    const { acme, token } = await signedIn()
    await acme.security({ mfa_enabled: true })
    await acme.enrol(token)
    await clock.advance(MINUTE)
    const flow = await acme.settings(token)
    const step = () => acme.send(flow, { lookup_secret_regenerate: 'true' })
    for (let n = 0; n < PER_ADDRESS; n++) expect((await step()).status).toBe(200)
    const before = writes()
    const { status, body } = await step()
    expect([status, saidIn(body), writes()]).toEqual([429, [4900002], before])
    await clock.advance(MINUTE)
    expect((await step()).status).toBe(200)
  })

  test('are limited by address: pages, each of which starts a flow', async () => {
    const { acme, token } = await signedIn()
    const browser = newBrowser(flows.app)
    let page = await browser.visit((await acme.settings(token)).hosted_url)
    await clock.advance(MINUTE)
    for (let n = 0; n < PER_ADDRESS; n++)
      page = await browser.follow(await browser.press(page, ['method', 'profile']))
    const before = writes()
    const refused = await browser.press(page, ['method', 'profile'])
    expect([refused.status, writes()]).toEqual([429, before])
  })

  test('are not limited for a server with a key', async () => {
    const { acme, token } = await signedIn()
    for (let n = 0; n <= PER_ADDRESS; n++) {
      const { id: flow } = await acme.settings(token)
      const fields = { flow, method: 'profile', traits: { email: ADA, custom_data: { n } } }
      expect((await acme.submit('settings', fields, withToken(token))).status).toBe(200)
    }
  })
})

test('the limits are 10 tries a minute for a person, and 60 for an address', () => {
  const { limits } = testConfig()
  expect(limits).toMatchObject({ signInsPerIdentifierPerMinute: 10, signInsPerMinute: 60 })
})
