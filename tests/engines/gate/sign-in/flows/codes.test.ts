import { describe, expect, test } from 'bun:test'
import type { Answer } from '../../../../support/app.ts'
import { type Json, MINUTE, SECOND } from '../../fixture.ts'
import { rowsOf, tablesWith } from '../../identities/people.ts'
import { ADA, BOB } from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  CODE_MS,
  codeRows,
  complaintsIn,
  fatesOf,
  flowIn,
  LINK_MS,
  MAIL_GAP_MS,
  person,
  read,
  sessionsOf,
  type Tenant,
  unproven,
  useFlows,
  whose,
  wrongCode,
  wrongCodes,
} from './code-fixture.ts'
import { messageIds, node, nodeNames } from './fixture.ts'

type Prepare = (tenant: Tenant, address: string) => Promise<unknown>

interface Kind {
  kind: 'login' | 'registration' | 'recovery' | 'verification'
  asking: (address: string) => Json
  /** Creates the person who is to get the code. */
  prepare: Prepare
  wrong: number
  over: number
  sent: number
  /** Emails with a link are withheld silently when they come too soon: the latest link works. */
  hasLink: boolean
}

const nobody: Prepare = async () => undefined
const byEmail = (email: string) => ({ method: 'code', email })

// biome-ignore format: one row for each kind
const KINDS: Kind[] = [
  { kind: 'recovery', asking: byEmail, prepare: person, wrong: 4060006, over: 4060001, sent: 1060003, hasLink: true },
  { kind: 'verification', asking: byEmail, prepare: unproven, wrong: 4070006, over: 4070002, sent: 1080003, hasLink: true },
  { kind: 'login', asking: (identifier) => ({ method: 'code', identifier }), prepare: person, wrong: 4010008, over: 4010007, sent: 1010014, hasLink: false },
  { kind: 'registration', asking: (email) => ({ method: 'code', traits: { email } }), prepare: nobody, wrong: 4040003, over: 4040002, sent: 1040005, hasLink: false },
]
const [RECOVERY, VERIFICATION, LOGIN] = KINDS as [Kind, Kind, Kind, Kind]
const EACH = KINDS.map((kind) => [kind.kind, kind] as const)

const flows = await useFlows()
const newTenant = () => flows.newTenant({ passwordless_enabled: true })

const bring = (tenant: Tenant, flow: Json, code: unknown): Promise<Answer> =>
  tenant.send(flow, { method: 'code', code })

const ask = async (tenant: Tenant, { kind, asking }: Kind, email = ADA, headers = {}) =>
  tenant.send(await tenant.start(kind), asking(email), headers)

/** A flow whose code was mailed. */
async function waiting(tenant: Tenant, kind: Kind, email = ADA) {
  await kind.prepare(tenant, email)
  const flow = flowIn(await ask(tenant, kind, email), 200, 'sent_email')
  return { flow, code: tenant.codeFor(email) }
}

/** Asks the same flow for another code. */
const resend = (tenant: Tenant, flow: Json, { asking, hasLink }: Kind, email = ADA) =>
  tenant.send(flow, hasLink ? asking(email) : { method: 'code', resend: 'code' })

const triesOf = ({ app }: Tenant, { id }: Json): number =>
  rowsOf(app, 'gate_flows').find((row) => row.id === id)?.tries

const idsIn = ({ status, body }: Answer) => [status, ...complaintsIn(body)]
const SPENT = [422, 'code:4900001']

describe.each(EACH)('a code for a %s', (_, kind) => {
  const WRONG = [422, `code:${kind.wrong}`]

  test('is good after four wrong ones, and once', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    expect(code).toMatch(/^\d{6}$/)
    for (const wrong of wrongCodes(code, 4)) {
      const answer = await bring(acme, flow, wrong)
      expect(idsIn(answer)).toEqual(WRONG)
      expect(node(answer.body, 'code').attributes.value).toBe('')
    }
    expect(triesOf(acme, flow)).toBe(4)

    expect((await bring(acme, flow, code)).status).toBe(200)
    expect(codeRows(acme, flow)).toEqual([])
    expect(idsIn(await bring(acme, flow, code))).toEqual([422, kind.over])
  })

  test('is refused after five wrong ones, also when it is a new one', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    for (const wrong of wrongCodes(code, 3)) await bring(acme, flow, wrong)
    acme.clock.jump(MAIL_GAP_MS)
    flowIn(await resend(acme, flow, kind), 200, 'sent_email')
    const second = acme.codeFor(ADA)
    for (const wrong of wrongCodes(second, 2))
      expect(idsIn(await bring(acme, flow, wrong))).toEqual(WRONG)

    expect(idsIn(await bring(acme, flow, second))).toEqual(SPENT)
    expect(idsIn(await bring(acme, flow, wrongCode(second)))).toEqual(SPENT)
    acme.clock.jump(MAIL_GAP_MS)
    await resend(acme, flow, kind)
    expect(idsIn(await bring(acme, flow, acme.codeFor(ADA)))).toEqual(SPENT)
  })

  test('expires after 15 minutes; a new one is good in the same flow', async () => {
    const acme = await newTenant()
    const early = await waiting(acme, kind)
    const late = await waiting(acme, kind, BOB)
    acme.clock.jump(CODE_MS - 1)
    expect((await bring(acme, early.flow, early.code)).status).toBe(200)
    acme.clock.jump(1)

    expect(idsIn(await bring(acme, late.flow, late.code))).toEqual(WRONG)
    flowIn(await resend(acme, late.flow, kind, BOB), 200, 'sent_email')
    expect((await bring(acme, late.flow, acme.codeFor(BOB))).status).toBe(200)
  })

  test('expires with its flow, and the email says so', async () => {
    const acme = await newTenant()
    await kind.prepare(acme, ADA)
    const flow = await acme.start(kind.kind)
    acme.clock.jump(50 * MINUTE)
    await acme.send(flow, kind.asking(ADA))

    const [mail] = acme.sentTo(ADA)
    const expiresAt = kind.hasLink ? acme.clock.now() + LINK_MS : Date.parse(flow.expires_at)
    expect(mail?.expiresAt).toBe(expiresAt)
    expect(mail?.body?.text).toContain('in 10 minutes')
    acme.clock.jump(10 * MINUTE)
    expect((await bring(acme, flow, acme.codeFor(ADA))).status).toBe(410)
  })

  test('stays good while the next one would come too soon, and is replaced by it then', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    const soon = await resend(acme, flow, kind)
    expect([soon.status, soon.body.state]).toEqual([kind.hasLink ? 200 : 429, 'sent_email'])
    expect(acme.mailsTo(ADA)).toHaveLength(1)
    const other = await waiting(acme, kind, BOB)
    await resend(acme, other.flow, kind, BOB)
    expect((await bring(acme, other.flow, other.code)).status).toBe(200)
    acme.clock.jump(MAIL_GAP_MS)

    const again = flowIn(await resend(acme, flow, kind), 200, 'sent_email')
    expect(messageIds(again)).toEqual([kind.sent])
    expect(nodeNames(again)).toEqual(nodeNames(flow))
    expect(idsIn(await bring(acme, flow, code))).toEqual(WRONG)
    expect((await bring(acme, flow, acme.codeFor(ADA))).status).toBe(200)
  })

  test('is good in its own flow alone', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    const globex = await newTenant()
    const theirs = await waiting(globex, kind)
    expect(idsIn(await bring(globex, theirs.flow, code))).toEqual(WRONG)
    for (const other of KINDS.filter((each) => each !== kind)) {
      const elsewhere = await waiting(acme, other, `${other.kind}@example.com`)
      expect(complaintsIn((await bring(acme, elsewhere.flow, code)).body)).toEqual([
        `code:${other.wrong}`,
      ])
      const action = flow.ui.action.replace(`/${kind.kind}?`, `/${other.kind}?`)
      const crossed = await bring(acme, { ui: { ...flow.ui, action } }, code)
      expect(crossed.status).toBe(404)
    }
    acme.clock.jump(MAIL_GAP_MS)
    const second = flowIn(await ask(acme, kind), 200, 'sent_email')
    expect(idsIn(await bring(acme, flow, acme.codeFor(ADA)))).toEqual(WRONG)
    expect(idsIn(await bring(acme, second, code))).toEqual(WRONG)

    expect((await bring(acme, second, acme.codeFor(ADA))).status).toBe(200)
    expect((await bring(globex, theirs.flow, theirs.code)).status).toBe(200)
  })

  test('is good for one of three requests at once', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    const answers = await Promise.all([1, 2, 3].map(() => bring(acme, flow, code)))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(idsIn)).toEqual([1, 2].map(() => [422, kind.over]))
  })
})

describe('a code', () => {
  // All kinds of flows check their codes in one place.
  const kind = LOGIN
  const WRONG = [422, `code:${kind.wrong}`]

  test('is compared with five of ten that arrive at once', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    const wrongs = wrongCodes(code, 9)
    const typed = [...wrongs.slice(0, 5), code, ...wrongs.slice(5)]
    const answers = await Promise.all(typed.map((each) => bring(acme, flow, each)))
    expect(answers.map(idsIn)).toEqual([...Array(5).fill(WRONG), ...Array(5).fill(SPENT)])
  })

  test('may be typed with blanks, and in no other way', async () => {
    const acme = await newTenant()
    const blanks = [
      (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
      (code: string) => `  ${code}\t\n`,
      (code: string) => `${code.slice(0, 3)}\u00a0${code.slice(3)}`,
    ]
    for (const [at, spell] of blanks.entries()) {
      const { flow, code } = await waiting(acme, kind, `blank-${at}@example.com`)
      expect([at, (await bring(acme, flow, spell(code))).status]).toEqual([at, 200])
    }

    const others = [
      (code: string) => `${code}0`,
      (code: string) => `0${code}`,
      (code: string) => code.slice(0, 5),
      (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`,
      (code: string) => `${code}\u0000`,
      (code: string) =>
        [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join(''),
      (code: string) => `%${code}`,
      () => '      ',
      () => 'x'.repeat(4096),
    ]
    for (const [at, spell] of others.entries()) {
      const { flow, code } = await waiting(acme, kind, `other-${at}@example.com`)
      expect([at, idsIn(await bring(acme, flow, spell(code)))]).toEqual([at, WRONG])
    }
  })

  test('is a short text; anything else is not counted as a try', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    for (const typed of [Number(code), [code], { code }, true, 'x'.repeat(4097)])
      expect(idsIn(await bring(acme, flow, typed))).toEqual([422, 'code:4000026'])
    expect((await bring(acme, flow, '\ud800')).status).toBe(400)
    expect(idsIn(await bring(acme, flow, ''))).toEqual([422, 'code:4000002'])
    await acme.send(flow, { csrf_token: 'wrong', method: 'code', code })
    expect(triesOf(acme, flow)).toBe(0)
    expect((await bring(acme, flow, code)).status).toBe(200)
  })

  test('is stored as a keyed hash that is bound to its flow', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    const other = await waiting(acme, kind, BOB)
    const [row] = codeRows(acme, flow)
    expect(row.hash).toMatch(/^[0-9a-f]{64}$/)
    for (const text of [code, `${flow.id} ${code}`, `${flow.id}${code}`])
      expect(row.hash).not.toBe(new Bun.CryptoHasher('sha256').update(text).digest('hex'))
    expect(Object.values(row).map(String)).not.toContain(code)
    expect(tablesWith(acme.app, `    ${code}`)).toEqual({})
    expect(JSON.stringify((await read(acme, flow)).body)).not.toContain(`"${code}"`)
    expect(acme.sentTo(ADA)[0]?.subject).not.toContain(code)

    const put = acme.app.db.client.query('update gate_codes set hash = ? where flow_id = ?')
    put.run(row.hash, other.flow.id)
    expect(idsIn(await bring(acme, other.flow, code))).toEqual(WRONG)
  })
})

test.each([
  ['recovery', RECOVERY],
  ['verification', VERIFICATION],
] as const)(
  'a code for a %s that arrives in several ways at once is good once',
  async (name, kind) => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    const browser = newBrowser(acme.app)
    const page = await browser.visit(flow.ui.action)

    const answers = await Promise.all([
      bring(acme, flow, code),
      acme.submit(name, { flow: flow.id, code }),
      browser.press(page, ['method', 'code'], { code }),
      bring(acme, flow, code),
    ])

    const statuses = answers.map(({ status }) => (status === 303 ? 200 : status))
    expect(statuses.sort()).toEqual([200, 422, 422, 422])
  },
)

test('a recovery code that arrives four times at once opens one session', async () => {
  const acme = await newTenant()
  const { id } = await person(acme, ADA)
  const flow = flowIn(await ask(acme, RECOVERY), 200, 'sent_email')
  await Promise.all(Array.from({ length: 4 }, () => bring(acme, flow, acme.codeFor(ADA))))
  expect(await sessionsOf(acme, { id })).toHaveLength(1)
})

describe('codes of several kinds for one person', () => {
  /** A flow of each kind that waits for its code. */
  async function several(acme: Tenant, prepare: Prepare, kinds: [Kind, Kind]) {
    await prepare(acme, ADA)
    const waits: { flow: Json; code: string }[] = []
    for (const kind of kinds) {
      const flow = flowIn(await ask(acme, kind), 200, 'sent_email')
      waits.push({ flow, code: acme.codeFor(ADA) })
      acme.clock.jump(MAIL_GAP_MS)
    }
    const [first, second] = waits as [(typeof waits)[0], (typeof waits)[0]]
    return [() => bring(acme, first.flow, first.code), () => bring(acme, second.flow, second.code)]
  }

  test('are independent while the address is verified', async () => {
    const acme = await newTenant()
    const [login, recovery] = await several(acme, person, [LOGIN, RECOVERY])
    const signedIn = await login?.()
    expect(signedIn?.status).toBe(200)
    expect((await recovery?.())?.status).toBe(200)
    expect(await whose(acme, signedIn?.body.session_token)).toBe(401)
  })

  test('end with a recovery', async () => {
    const acme = await newTenant()
    const [recovery, login] = await several(acme, person, [RECOVERY, LOGIN])
    await recovery?.()
    expect((await login?.())?.status).toBe(422)
  })

  test.each([
    ['login', 'recovery', [LOGIN, RECOVERY]],
    ['recovery', 'login', [RECOVERY, LOGIN]],
  ] as [string, string, [Kind, Kind]][])(
    'verify an address once: a %s ends a %s at the same time',
    async (_first, _second, kinds) => {
      const acme = await newTenant()
      const sends = await several(acme, unproven, kinds)
      const answers = await Promise.all(sends.map((send) => send()))
      expect(answers.map(({ status }) => status)).toEqual([200, 422])
    },
  )

  test('survive an email that asks to verify the address', async () => {
    const acme = await newTenant()
    const [recovery, verification] = await several(acme, unproven, [RECOVERY, VERIFICATION])
    expect((await recovery?.())?.status).toBe(200)
    // The recovery verified the address and started the account anew.
    expect((await verification?.())?.status).toBe(422)
  })
})

describe('emails to an address', () => {
  test.each(EACH)('are sent every 30 seconds at most: %s', async (_, kind) => {
    const acme = await newTenant()
    await kind.prepare(acme, ADA)
    expect((await ask(acme, kind)).status).toBe(200)
    acme.clock.jump(10 * SECOND)

    const soon = await ask(acme, kind)
    if (kind.hasLink) {
      expect(messageIds(flowIn(soon, 200, 'sent_email'))).toEqual([kind.sent])
    } else {
      const message = { id: 4900002, type: 'error', context: { seconds: 20 } }
      const body = { state: 'choose_method', ui: { messages: [message] } }
      expect(soon).toMatchObject({ status: 429, body })
      expect(soon.headers.get('retry-after')).toBe('20')
    }
    acme.clock.jump(20 * SECOND - 1)
    await ask(acme, kind)
    expect(acme.mailsTo(ADA)).toHaveLength(1)
    acme.clock.jump(1)
    expect((await ask(acme, kind)).status).toBe(200)
    expect(acme.mailsTo(ADA)).toHaveLength(2)
  })

  test.each(EACH.slice(1, 3))(
    'are five for one client, then one in 12 minutes: %s',
    async (_, kind) => {
      const acme = await newTenant()
      await kind.prepare(acme, ADA)
      for (let n = 0; n < 5; n++) {
        expect((await ask(acme, kind)).status).toBe(200)
        acme.clock.jump(MINUTE)
      }

      const much = await ask(acme, kind)
      expect(much.status).toBe(kind.hasLink ? 200 : 429)
      expect(much.headers.get('retry-after')).toBe(kind.hasLink ? null : `${12 * 60}`)
      await acme.clock.advance(12 * MINUTE - 1)
      await ask(acme, kind)
      expect(acme.mailsTo(ADA)).toHaveLength(5)
      await acme.clock.advance(1)
      expect((await ask(acme, kind)).status).toBe(200)
      expect(acme.mailsTo(ADA)).toHaveLength(6)
    },
  )

  test.each(EACH.slice(1, 3))(
    'are eight in an hour for all clients, then one in 7.5 minutes: %s',
    async (_, kind) => {
      const acme = await newTenant()
      await kind.prepare(acme, ADA)
      // With the tenant's key, a request is of no single client.
      const server = { authorization: `Bearer ${acme.key}` }
      for (let n = 0; n < 8; n++) {
        expect((await ask(acme, kind, ADA, server)).status).toBe(200)
        acme.clock.jump(MAIL_GAP_MS)
      }
      expect((await ask(acme, kind, ADA, server)).status).toBe(kind.hasLink ? 200 : 429)
      expect(acme.mailsTo(ADA)).toHaveLength(8)
      for (let n = 0; n < 8; n++) {
        acme.clock.jump(7.5 * MINUTE - MAIL_GAP_MS)
        await ask(acme, kind, ADA, server)
        acme.clock.jump(MAIL_GAP_MS)
        await ask(acme, kind, ADA, server)
      }
      expect(acme.mailsTo(ADA)).toHaveLength(16)
    },
  )

  test.each(EACH.slice(0, 3))('are limited alike for unknown people: %s', async (_, kind) => {
    const stories: Json[] = []
    for (const prepare of [kind.prepare, nobody]) {
      const acme = await newTenant()
      await prepare(acme, ADA)
      const story: Json[] = []
      const start = acme.clock.now()
      for (const at of [0, 29_999, 30_000, 60_000, 90_000, 120_000, 150_000, 3_599_999]) {
        acme.clock.jump(start + at - acme.clock.now())
        const { status, headers, body } = await ask(acme, kind)
        story.push([status, headers.get('retry-after'), messageIds(body)])
      }
      stories.push([...story, acme.mailsTo(ADA).length])
    }
    const off = kind.hasLink ? 200 : 429
    const statuses = stories[0].slice(0, -1).map(([status]: Json) => status)
    expect(statuses).toEqual([200, off, 200, 200, 200, 200, off, off])
    expect(stories[0]).toEqual(stories[1])
  })

  test.each([
    ['a person', person],
    ['an unverified person', unproven],
    ['nobody', nobody],
  ] as [string, Prepare][])('are limited for each kind on its own: %s', async (_, prepare) => {
    const acme = await newTenant()
    await prepare(acme, ADA)
    const kinds = [RECOVERY, VERIFICATION, LOGIN]
    for (const kind of kinds) expect((await ask(acme, kind)).status).toBe(200)
    for (const kind of kinds) expect((await ask(acme, kind)).status).toBe(kind.hasLink ? 200 : 429)
    expect(acme.mailsTo(ADA)).toHaveLength(3)
  })

  test('are ten in an hour of all kinds; others than for recovery and login are withheld silently', async () => {
    const acme = await newTenant()
    for (const [email, prepare] of [
      [ADA, unproven],
      [BOB, nobody],
    ] as const) {
      await prepare(acme, email)
      for (let n = 0; n < 5; n++) {
        for (const kind of [RECOVERY, LOGIN])
          expect((await ask(acme, kind, email)).status).toBe(200)
        acme.clock.jump(MINUTE)
      }
      const flow = flowIn(await ask(acme, VERIFICATION, email), 200, 'sent_email')
      expect(messageIds(flow)).toEqual([1080003])
      expect(fatesOf(acme, email)).toHaveLength(11)
      expect(fatesOf(acme, email)[0]).toStartWith('withheld: ')
      expect(codeRows(acme, flow)).toMatchObject([{ identity_id: null, generation: null }])
    }
    const [last] = acme.mailsTo(ADA)
    const lastError = 'withheld: too many emails to this address'
    expect(last).toMatchObject({ kind: 'verification', state: 'failed', lastError, body: null })
  })

  test('are counted for each tenant, and for an address in any spelling', async () => {
    const acme = await newTenant()
    const globex = await newTenant()
    await ask(acme, RECOVERY)
    for (const spelled of [ADA.toUpperCase(), ` ${ADA}`, `${ADA}\n`])
      await ask(acme, RECOVERY, spelled)
    await ask(globex, RECOVERY)
    expect([acme.mailsTo(ADA).length, globex.mailsTo(ADA).length]).toEqual([1, 1])
  })

  test('are limited for requests at the same time', async () => {
    for (const prepare of [person, nobody]) {
      const acme = await newTenant()
      await prepare(acme, ADA)
      const answers = await Promise.all(Array.from({ length: 6 }, () => ask(acme, LOGIN)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429, 429, 429, 429])
      expect(acme.mailsTo(ADA)).toHaveLength(1)
    }
  })

  test('say in the language of the client when to try again', async () => {
    const acme = await newTenant()
    const german = { 'accept-language': 'de-CH' }
    await ask(acme, LOGIN, ADA, german)
    const { body } = await ask(acme, LOGIN, ADA, german)
    expect(body.ui.messages[0].text).toBe('Zu viele Versuche. Versuche es in 30 Sekunden erneut.')
    expect(node(body, 'identifier').meta.label.text).toBe('E-Mail-Adresse')
    expect(node(body, 'identifier').attributes.value).toBe(ADA)
  })

  test('say on pages when to try again', async () => {
    const acme = await newTenant()
    await ask(acme, LOGIN)
    const browser = newBrowser(acme.app)
    const asking = await browser.visit((await acme.start('login')).ui.action)
    const page = await browser.press(asking, ['method', 'code'], { identifier: ADA })
    expect([page.status, page.headers.get('retry-after')]).toEqual([429, '30'])
    expect(page.text).toContain('30 seconds')
  })
})

describe('a withheld email', () => {
  const WITHHELD = 'withheld: no account that can sign in has this address'

  test('stands in the outbox with its reason, and without a body', async () => {
    const acme = await newTenant()
    await ask(acme, LOGIN)
    const now = acme.clock.now()
    const failed = { kind: 'login', state: 'failed', tries: 0, lastError: WITHHELD, body: null }
    expect(acme.mailsTo(ADA)).toMatchObject([{ ...failed, createdAt: now, endedAt: now }])
  })

  test('is not sent to someone who gets the address later; the next one is', async () => {
    const acme = await newTenant()
    const flow = flowIn(await ask(acme, RECOVERY), 200, 'sent_email')
    await person(acme, ADA)
    expect(fatesOf(acme, ADA)).toEqual([WITHHELD])
    acme.clock.jump(MAIL_GAP_MS)
    await resend(acme, flow, RECOVERY)
    expect(acme.sentTo(ADA)).toHaveLength(1)
    flowIn(await bring(acme, flow, acme.codeFor(ADA)), 200, 'passed_challenge')
  })
})

describe('the language of an email', () => {
  const SUBJECTS = [
    [RECOVERY, 'Stelle dein Konto bei Globex wieder her'],
    [VERIFICATION, 'Bestätige deine E-Mail-Adresse für Globex'],
  ] as const

  test.each(SUBJECTS)(
    'is that of the flow, or of the client that asks: %#',
    async (kind, subject) => {
      const globex = await flows.newTenant({ passwordless_enabled: true }, 'Globex')
      const german = { 'accept-language': 'de-AT, en;q=0.5' }
      await kind.prepare(globex, ADA)
      const sent = await ask(globex, kind, ADA, german)
      expect(sent.body.ui.messages[0].text).toContain('E-Mail-Adresse')
      const [mail] = globex.sentTo(ADA)
      expect(mail?.subject).toBe(subject)
      expect(mail?.body?.text).toContain('ist 15 Minuten gültig, der Link 30 Minuten')

      await kind.prepare(globex, BOB)
      await globex.send(await globex.start(kind.kind, german), kind.asking(BOB))
      expect(globex.sentTo(BOB)[0]?.subject).toBe(subject)
    },
  )
})

// Each of these counts the requests of one client, with a limit of its own.
describe('one client', () => {
  const limited = async (most: string, flags = {}) => {
    const app = await useFlows({ flags: { 'limits-sign-ins-per-minute': most, ...flags } })
    return app.newTenant({ passwordless_enabled: true })
  }

  test('guesses so often in a minute, in all its flows', async () => {
    const own = await limited('6')
    // Two of the six are spent on asking.
    const first = await waiting(own, LOGIN)
    const second = await waiting(own, LOGIN, BOB)
    for (const { flow, code } of [first, second, first, second])
      expect((await bring(own, flow, wrongCode(code))).status).toBe(422)

    const late = await bring(own, first.flow, first.code)
    expect(late).toMatchObject({ status: 429, body: { state: 'sent_email' } })
    expect(late.headers.get('retry-after')).toBe('10')
    expect(triesOf(own, first.flow)).toBe(2)
    await own.clock.advance(10 * SECOND)
    expect((await bring(own, first.flow, first.code)).status).toBe(200)
    // A right code costs nothing.
    expect((await bring(own, second.flow, second.code)).status).toBe(200)
  })

  test('is not the server of a tenant', async () => {
    const own = await limited('1')
    for (let n = 0; n < 5; n++) {
      const email = `many-${n}@example.com`
      await person(own, email)
      const { id: flow } = await own.start('recovery')
      expect((await own.submit('recovery', { flow, email })).status).toBe(200)
      const code = own.codeFor(email)
      expect((await own.submit('recovery', { flow, code: wrongCode(code) })).status).toBe(422)
      expect((await own.submit('recovery', { flow, code })).status).toBe(200)
    }
  })

  test('has a code for as long as is configured, and the email says so', async () => {
    const own = await limited('60', { 'gate-code-lifetime': '2m' })
    const { flow, code } = await waiting(own, RECOVERY)
    expect(own.sentTo(ADA)[0]?.body?.text).toContain('in 2 minutes')
    own.clock.jump(2 * MINUTE)
    expect((await bring(own, flow, code)).status).toBe(422)
  })
})
