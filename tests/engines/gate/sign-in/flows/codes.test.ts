import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../../../../support/app.ts'
import { type Json, MINUTE, SECOND } from '../../fixture.ts'
import { rowsOf, tablesWith } from '../../identities/people.ts'
import { newBrowser } from './browser.ts'
import {
  bootCrowd,
  CODE_MS,
  complaintsIn,
  fatesOf,
  flowIn,
  LINK_MS,
  MAIL_GAP_MS,
  person,
  read,
  unproven,
  whose,
  wrongCode,
  wrongCodes,
} from './code-fixture.ts'
import { bootFlows, type FlowFixture, flowParty, messageIds, node, nodeNames } from './fixture.ts'

/** A flow that goes by a mailed code: what asks for one, and what is said of it. */
interface Kind {
  kind: 'login' | 'registration' | 'recovery' | 'verification'
  asking: (address: string) => Json
  /** Makes whoever has the address, where somebody must. */
  prepare: (fixture: Pick<FlowFixture, 'api'>, address: string) => Promise<unknown>
  resend: (address: string) => Json
  wrong: number
  over: number
  sent: number
  /** Whether its mails have a link: then nobody is put off, as the latest one works. */
  hasLink: boolean
}

const KINDS: Kind[] = [
  {
    kind: 'recovery',
    asking: (email) => ({ method: 'code', email }),
    prepare: (fixture, address) => person(fixture, address),
    resend: (email) => ({ method: 'code', email }),
    wrong: 4060006,
    over: 4060001,
    sent: 1060003,
    hasLink: true,
  },
  {
    kind: 'verification',
    asking: (email) => ({ method: 'code', email }),
    prepare: (fixture, address) => unproven(fixture, address),
    resend: (email) => ({ method: 'code', email }),
    wrong: 4070006,
    over: 4070002,
    sent: 1080003,
    hasLink: true,
  },
  {
    kind: 'login',
    asking: (identifier) => ({ method: 'code', identifier }),
    prepare: (fixture, address) => person(fixture, address),
    resend: () => ({ method: 'code', resend: 'code' }),
    wrong: 4010008,
    over: 4010007,
    sent: 1010014,
    hasLink: false,
  },
  {
    kind: 'registration',
    asking: (email) => ({ method: 'code', traits: { email } }),
    prepare: async () => undefined,
    resend: () => ({ method: 'code', resend: 'code' }),
    wrong: 4040003,
    over: 4040002,
    sent: 1040005,
    hasLink: false,
  },
]
const EACH = KINDS.map((kind) => [kind.kind, kind] as const)

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootCrowd()
  await fixture.security({ passwordless_enabled: true })
})
afterAll(() => fixture.app.stop())

let people = 0
const newAddress = () => `types-${people++}@example.com`

const bring = (flow: Json, code: unknown): Promise<Answer> =>
  fixture.send(flow, { method: 'code', code })

/** A flow to whose address a code went out. */
async function waiting({ kind, asking, prepare }: Kind, email = newAddress()) {
  await prepare(fixture, email)
  const flow = await fixture.start(kind)
  const sent = flowIn(await fixture.send(flow, asking(email)), 200, 'sent_email')
  return { email, flow: sent, code: fixture.codeFor(email) }
}

const triesOf = ({ id }: Json): number =>
  rowsOf(fixture.app, 'gate_flows').find((row) => row.id === id)?.tries

describe.each(EACH)('a code for a %s', (_, kind) => {
  const idsIn = (answer: Answer) => {
    expect(answer.status).toBe(422)
    return complaintsIn(answer.body)
  }
  const WRONG = [`code:${kind.wrong}`]
  const SPENT = ['code:4900001']

  test('has six digits', async () => {
    const { code } = await waiting(kind)
    expect(code).toMatch(/^\d{6}$/)
  })

  test('lets somebody go on who types it', async () => {
    const { flow, code } = await waiting(kind)
    expect((await bring(flow, code)).status).toBe(200)
  })

  test('is not looked at after five wrong ones, though it is right', async () => {
    const { flow, code } = await waiting(kind)
    for (const wrong of wrongCodes(code)) expect(idsIn(await bring(flow, wrong))).toEqual(WRONG)

    expect(idsIn(await bring(flow, code))).toEqual(SPENT)
    expect(idsIn(await bring(flow, code))).toEqual(SPENT)
    expect(idsIn(await bring(flow, wrongCode(code)))).toEqual(SPENT)
  })

  test('is looked at as the fifth', async () => {
    const { flow, code } = await waiting(kind)
    for (const wrong of wrongCodes(code, 4)) await bring(flow, wrong)

    expect((await bring(flow, code)).status).toBe(200)
  })

  test('counts across resends: a new one saves nobody who guesses', async () => {
    const { email, flow, code } = await waiting(kind)
    for (const wrong of wrongCodes(code, 3)) await bring(flow, wrong)
    fixture.clock.jump(MAIL_GAP_MS)
    flowIn(await fixture.send(flow, kind.resend(email)), 200, 'sent_email')
    for (const wrong of wrongCodes(fixture.codeFor(email), 2))
      expect(idsIn(await bring(flow, wrong))).toEqual(WRONG)

    expect(idsIn(await bring(flow, fixture.codeFor(email)))).toEqual(SPENT)
    fixture.clock.jump(MAIL_GAP_MS)
    await fixture.send(flow, kind.resend(email))
    expect(idsIn(await bring(flow, fixture.codeFor(email)))).toEqual(SPENT)
  })

  test('counts what is tried at the same time: of ten, five are looked at', async () => {
    const { flow, code } = await waiting(kind)
    const wrongs = wrongCodes(code, 9)

    const answers = await Promise.all(
      [...wrongs.slice(0, 5), code, ...wrongs.slice(5)].map((typed) => bring(flow, typed)),
    )

    expect(answers.map(idsIn)).toEqual([
      ...Array.from({ length: 5 }, () => WRONG),
      ...Array.from({ length: 5 }, () => SPENT),
    ])
  })

  test('counts a try that leads nowhere: it is kept with the flow', async () => {
    const { flow, code } = await waiting(kind)
    expect(triesOf(flow)).toBe(0)

    await bring(flow, wrongCode(code))
    expect(triesOf(flow)).toBe(1)

    // What never gets so far as a code is no try.
    await fixture.send(flow, { method: 'code', code: '' })
    await fixture.send(flow, { method: 'code', code: 7 })
    await fixture.send(flow, { csrf_token: 'wrong', method: 'code', code })
    expect(triesOf(flow)).toBe(1)
  })

  test('is good until a quarter of an hour is over, and not a moment longer', async () => {
    const [early, late] = [await waiting(kind), await waiting(kind)]

    fixture.clock.jump(CODE_MS - 1)
    expect((await bring(early.flow, early.code)).status).toBe(200)
    fixture.clock.jump(1)

    expect(idsIn(await bring(late.flow, late.code))).toEqual(WRONG)
    // The flow goes on: a new one is good.
    flowIn(await fixture.send(late.flow, kind.resend(late.email)), 200, 'sent_email')
    expect((await bring(late.flow, fixture.codeFor(late.email))).status).toBe(200)
  })

  test('is good for no longer than its flow, and the mail says so', async () => {
    const email = newAddress()
    await kind.prepare(fixture, email)
    const flow = await fixture.start(kind.kind)
    fixture.clock.jump(50 * MINUTE)
    await fixture.send(flow, kind.asking(email))

    const [mail] = fixture.sentTo(email)
    const link = fixture.clock.now() + LINK_MS
    expect(mail?.expiresAt).toBe(kind.hasLink ? link : Date.parse(flow.expires_at))
    expect(mail?.body?.text).toContain('in 10 minutes')
    fixture.clock.jump(10 * MINUTE)
    expect((await bring(flow, fixture.codeFor(email))).status).toBe(410)
  })

  test('dies when another one is sent', async () => {
    const { email, flow, code } = await waiting(kind)
    fixture.clock.jump(MAIL_GAP_MS)

    const again = await fixture.send(flow, kind.resend(email))

    const shown = flowIn(again, 200, 'sent_email')
    expect(messageIds(shown)).toEqual([kind.sent])
    expect(nodeNames(shown)).toEqual(nodeNames(flow))
    const second = fixture.codeFor(email)
    if (second !== code) expect(idsIn(await bring(flow, code))).toEqual(WRONG)
    expect((await bring(flow, second)).status).toBe(200)
  })

  test('stays good when another one could not be sent so soon', async () => {
    const { email, flow, code } = await waiting(kind)

    const { status, body } = await fixture.send(flow, kind.resend(email))

    expect([status, body.state]).toEqual([kind.hasLink ? 200 : 429, 'sent_email'])
    expect(fixture.mailsTo(email)).toHaveLength(1)
    expect((await bring(flow, code)).status).toBe(200)
  })

  test.each([
    (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
    (code: string) => `  ${code}\t\n`,
    (code: string) => [...code].join(' '),
    (code: string) => `${code.slice(0, 3)}\u00a0${code.slice(3)}`,
  ])('may be typed with blanks (%#)', async (spelled) => {
    const { flow, code } = await waiting(kind)
    expect((await bring(flow, spelled(code))).status).toBe(200)
  })

  test.each([
    (code: string) => `${code}0`,
    (code: string) => `0${code}`,
    (code: string) => code.slice(0, 5),
    (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`,
    (code: string) => `${code}\u0000`,
    (code: string) => [...code].map((digit) => String.fromCodePoint(0xff10 + +digit)).join(''),
    (code: string) => `%${code}`,
    () => '      ',
    () => 'x'.repeat(4096),
  ])('is no other than it is (%#)', async (spelled) => {
    const { flow, code } = await waiting(kind)
    expect(idsIn(await bring(flow, spelled(code)))).toEqual(WRONG)
  })

  test.each([
    (code: string) => Number(code),
    (code: string) => [code],
    (code: string) => ({ code }),
    () => true,
    () => 'x'.repeat(4097),
  ])('is a text, and a short one (%#)', async (spelled) => {
    const { flow, code } = await waiting(kind)

    const answer = await bring(flow, spelled(code))

    expect(idsIn(answer)).toEqual(['code:4000026'])
    expect((await bring(flow, code)).status).toBe(200)
  })

  test('is text that can be written: half a character is refused before it counts', async () => {
    const { flow, code } = await waiting(kind)

    expect((await bring(flow, '\ud800')).status).toBe(400)

    expect(triesOf(flow)).toBe(0)
    expect((await bring(flow, code)).status).toBe(200)
  })

  test('is good in its own flow alone, not in one of the same kind for the same address', async () => {
    const first = await waiting(kind)
    fixture.clock.jump(MAIL_GAP_MS)
    const flow = await fixture.start(kind.kind)
    const second = flowIn(await fixture.send(flow, kind.asking(first.email)), 200, 'sent_email')
    const secondCode = fixture.codeFor(first.email)
    if (secondCode === first.code) return

    expect(idsIn(await bring(first.flow, secondCode))).toEqual(WRONG)
    expect(idsIn(await bring(second, first.code))).toEqual(WRONG)
    expect((await bring(second, secondCode)).status).toBe(200)
  })

  const others = EACH.filter(([name]) => name !== kind.kind)

  test.each(others)('is good for its own kind alone, not for a %s', async (_, other) => {
    const { flow, code } = await waiting(kind)
    const elsewhere = await waiting(other)

    const action = flow.ui.action.replace(`/${kind.kind}?`, `/${other.kind}?`)
    expect((await bring({ ui: { ...flow.ui, action } }, code)).status).toBe(404)
    if (elsewhere.code !== code)
      expect(messageIds((await bring(elsewhere.flow, code)).body)).toContain(`code:${other.wrong}`)

    expect((await bring(flow, code)).status).toBe(200)
  })

  test('is nothing to another tenant with the same address', async () => {
    const party = await flowParty(fixture.app)
    await party.security({ passwordless_enabled: true })
    const { email, flow, code } = await waiting(kind)
    await kind.prepare(party, email)
    const theirs = await party.start(kind.kind)
    const sent = flowIn(await party.send(theirs, kind.asking(email)), 200, 'sent_email')

    if (party.codeFor(email) !== code)
      expect(idsIn(await party.send(sent, { code }))).toEqual(WRONG)
    expect((await party.send(sent, { code: party.codeFor(email) })).status).toBe(200)
    expect((await bring(flow, code)).status).toBe(200)
  })

  test('is good once: of two who bring it at once, one gets on', async () => {
    const { flow, code } = await waiting(kind)

    const answers = await Promise.all([bring(flow, code), bring(flow, code), bring(flow, code)])

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422])
    for (const answer of answers)
      if (answer.status === 422) expect(messageIds(answer.body)).toContain(kind.over)
    const again = await bring(flow, code)
    expect(messageIds(again.body)).toContain(kind.over)
  })

  test('is gone from the database once it is used', async () => {
    const { flow, code } = await waiting(kind)
    const rows = () =>
      rowsOf(fixture.app, 'gate_codes').filter(({ flow_id }) => flow_id === flow.id)
    expect(rows()).toHaveLength(1)

    await bring(flow, code)

    expect(rows()).toEqual([])
  })

  test('is kept where nobody can read it', async () => {
    const { flow, code } = await waiting(kind)
    const row = rowsOf(fixture.app, 'gate_codes').find(({ flow_id }) => flow_id === flow.id)

    expect(row.hash).toMatch(/^[0-9a-f]{64}$/)
    for (const text of [code, `${flow.id} ${code}`, `${flow.id}${code}`])
      expect(row.hash).not.toBe(new Bun.CryptoHasher('sha256').update(text).digest('hex'))
    expect(tablesWith(fixture.app, `    ${code}`)).toEqual({})
    const cells = Object.values(row).filter((cell) => `${cell}` === code)
    expect(cells).toEqual([])
    const shown = await read(fixture, flow)
    expect(JSON.stringify(shown.body)).not.toContain(`"${code}"`)
  })

  test('is bound to its flow where it is kept: in the place of another it is good for nothing', async () => {
    const [one, other] = [await waiting(kind), await waiting(kind)]
    const hashOf = ({ id }: Json) =>
      rowsOf(fixture.app, 'gate_codes').find(({ flow_id }) => flow_id === id).hash
    const put = fixture.app.db.client.query('update gate_codes set hash = ? where flow_id = ?')
    put.run(hashOf(one.flow), other.flow.id)
    expect(hashOf(other.flow)).toBe(hashOf(one.flow))

    expect(idsIn(await bring(other.flow, one.code))).toEqual(WRONG)
    expect((await bring(one.flow, one.code)).status).toBe(200)
  })

  test('is typed anew after it was wrong: nobody finds it in the form', async () => {
    const { flow, code } = await waiting(kind)
    const answer = await bring(flow, wrongCode(code))
    expect(node(answer.body, 'code').attributes.value).toBe('')
  })
})

describe('of two ways to bring a code at once', () => {
  test.each(['recovery', 'verification'] as const)('one leads on: %s', async (name) => {
    const kind = KINDS.find(({ kind }) => kind === name) as Kind
    const { flow, code } = await waiting(kind)

    const browser = newBrowser(fixture.app)
    const page = await browser.visit(flow.ui.action)

    const answers = await Promise.all([
      bring(flow, code),
      fixture.submit(name, { flow: flow.id, code }),
      browser.press(page, ['method', 'code'], { code }),
      bring(flow, code),
    ])

    const good = answers.filter(({ status }) => status === 200 || status === 303)
    expect(good).toHaveLength(1)
    for (const { status } of answers) expect([200, 303, 422]).toContain(status)
  })

  test('for a recovery, there is one session afterwards', async () => {
    const kind = KINDS[0] as Kind
    const { flow, code, email } = await waiting(kind)

    await Promise.all(Array.from({ length: 4 }, () => bring(flow, code)))

    const found = await fixture.api.get(`/v1/gate/identities?email=${email}`)
    const [{ id }] = found.body.data
    expect((await fixture.api.get(`/v1/gate/identities/${id}/sessions`)).body).toHaveLength(1)
  })
})

describe('codes of several kinds for one person', () => {
  /** For each kind a flow that waits, half a minute apart. */
  async function severalFor(email: string, kinds: ('login' | 'recovery' | 'verification')[]) {
    const waits: Record<string, { flow: Json; code: string }> = {}
    for (const name of kinds) {
      const { asking } = KINDS.find(({ kind }) => kind === name) as Kind
      const flow = await fixture.start(name)
      const sent = flowIn(await fixture.send(flow, asking(email)), 200, 'sent_email')
      waits[name] = { flow: sent, code: fixture.codeFor(email) }
      fixture.clock.jump(MAIL_GAP_MS)
    }
    return waits as Record<(typeof kinds)[number], { flow: Json; code: string }>
  }

  test('stand beside each other while the address is proven', async () => {
    const email = newAddress()
    await person(fixture, email)
    const { login, recovery } = await severalFor(email, ['login', 'recovery'])

    const signedIn = await bring(login.flow, login.code)
    expect(signedIn.status).toBe(200)
    const recovered = await bring(recovery.flow, recovery.code)

    expect(recovered.status).toBe(200)
    expect(await whose(fixture, signedIn.body.session_token)).toBe(401)
  })

  test('die of a recovery', async () => {
    const email = newAddress()
    await person(fixture, email)
    const { login, recovery } = await severalFor(email, ['login', 'recovery'])
    await bring(recovery.flow, recovery.code)

    expect((await bring(login.flow, login.code)).status).toBe(422)
  })

  test.each<['login' | 'recovery', 'login' | 'recovery']>([
    ['login', 'recovery'],
    ['recovery', 'login'],
  ])('prove the address once: a %s leaves nothing for a %s', async (first, second) => {
    const email = newAddress()
    await unproven(fixture, email)
    const waits = await severalFor(email, ['login', 'recovery'])

    const answers = await Promise.all(
      [first, second].map((name) => bring(waits[name].flow, waits[name].code)),
    )

    expect(answers.map(({ status }) => status)).toEqual([200, 422])
  })

  test('live on when another mail is to prove the address: nobody keeps others out by asking for it', async () => {
    const email = newAddress()
    await unproven(fixture, email)
    const waits = await severalFor(email, ['recovery', 'verification'])

    expect((await bring(waits.recovery.flow, waits.recovery.code)).status).toBe(200)
    // The address is proven by that, and the account begun anew.
    expect((await bring(waits.verification.flow, waits.verification.code)).status).toBe(422)
  })
})

describe('how often an address is written to', () => {
  const ask = async ({ kind, asking }: Kind, email: string, headers = {}): Promise<Answer> =>
    fixture.send(await fixture.start(kind), asking(email), headers)

  test.each(EACH)('for a %s: once in half a minute', async (_, kind) => {
    const email = newAddress()
    await kind.prepare(fixture, email)
    expect((await ask(kind, email)).status).toBe(200)
    fixture.clock.jump(10 * SECOND)

    const soon = await ask(kind, email)

    if (kind.hasLink) {
      expect(messageIds(flowIn(soon, 200, 'sent_email'))).toEqual([kind.sent])
    } else {
      const message = { id: 4900002, type: 'error', context: { seconds: 20 } }
      const body = { state: 'choose_method', ui: { messages: [message] } }
      expect(soon).toMatchObject({ status: 429, body })
      expect(soon.headers.get('retry-after')).toBe('20')
    }
    expect(fixture.mailsTo(email)).toHaveLength(1)
    fixture.clock.jump(20 * SECOND - 1)
    await ask(kind, email)
    expect(fixture.mailsTo(email)).toHaveLength(1)
    fixture.clock.jump(1)
    expect((await ask(kind, email)).status).toBe(200)
    expect(fixture.mailsTo(email)).toHaveLength(2)
  })

  test.each(EACH)(
    'for a %s: five times by one client, then once in 12 minutes',
    async (_, kind) => {
      const email = newAddress()
      await kind.prepare(fixture, email)
      for (let n = 0; n < 5; n++) {
        expect((await ask(kind, email)).status).toBe(200)
        fixture.clock.jump(MINUTE)
      }

      const much = await ask(kind, email)

      expect(much.status).toBe(kind.hasLink ? 200 : 429)
      expect(much.headers.get('retry-after')).toBe(kind.hasLink ? null : `${12 * 60}`)
      expect(fixture.mailsTo(email)).toHaveLength(5)
      await fixture.clock.advance(12 * MINUTE - 1)
      await ask(kind, email)
      expect(fixture.mailsTo(email)).toHaveLength(5)
      await fixture.clock.advance(1)
      expect((await ask(kind, email)).status).toBe(200)
      expect(fixture.mailsTo(email)).toHaveLength(6)
    },
  )

  /** Somebody at every turn from somewhere else, as a tenant's server asks for everybody. */
  const askAround = async ({ kind, asking }: Kind, email: string): Promise<Answer> =>
    fixture.send(await fixture.start(kind), asking(email), {
      authorization: `Bearer ${fixture.key}`,
    })

  test.each(EACH)('for a %s: eight in an hour by all, then one in 7.5 minutes', async (_, kind) => {
    const email = newAddress()
    await kind.prepare(fixture, email)
    for (let n = 0; n < 8; n++) {
      expect((await askAround(kind, email)).status).toBe(200)
      fixture.clock.jump(SECOND * 30)
    }

    const much = await askAround(kind, email)

    expect(much.status).toBe(kind.hasLink ? 200 : 429)
    expect(fixture.mailsTo(email)).toHaveLength(8)
    for (let n = 0; n < 8; n++) {
      fixture.clock.jump(7.5 * MINUTE - SECOND * 30)
      await askAround(kind, email)
      fixture.clock.jump(SECOND * 30)
      await askAround(kind, email)
    }
    expect(fixture.mailsTo(email)).toHaveLength(16)
  })

  test('is the same for people there are not', async () => {
    const [recovery, verification, login] = KINDS as [Kind, Kind, Kind, Kind]
    for (const kind of [recovery, verification, login]) {
      const [known, unknown] = [newAddress(), newAddress()]
      await kind.prepare(fixture, known)
      const stories = []
      for (const email of [known, unknown]) {
        const story: unknown[] = []
        const start = fixture.clock.now()
        for (const at of [0, 29_999, 30_000, 60_000, 90_000, 120_000, 150_000, 3_599_999]) {
          fixture.clock.jump(start + at - fixture.clock.now())
          const { status, headers, body } = await ask(kind, email)
          story.push([at, status, headers.get('retry-after'), messageIds(body)])
        }
        stories.push([...story, fixture.mailsTo(email).length])
      }
      expect(stories[0]).toEqual(stories[1])
      const off = kind.hasLink ? 200 : 429
      expect((stories[0] as Json[]).slice(0, -1).map(([, status]) => status)).toEqual([
        200,
        off,
        ...[200, 200, 200, 200],
        off,
        off,
      ])
    }
  })

  test('is counted for each kind by itself, known or not', async () => {
    for (const prepare of [person, unproven, async () => undefined]) {
      const email = newAddress()
      await prepare(fixture, email)
      const asks = KINDS.filter(({ kind }) => kind !== 'registration')
      for (const kind of asks) expect((await ask(kind, email)).status).toBe(200)
      for (const kind of asks)
        expect((await ask(kind, email)).status).toBe(kind.hasLink ? 200 : 429)
      expect(fixture.mailsTo(email)).toHaveLength(3)
    }
  })

  test('is ten times in an hour at most, of all kinds but ways in: the rest is withheld, and nobody hears', async () => {
    const [recovery, , login] = KINDS as [Kind, Kind, Kind, Kind]
    const stories: unknown[] = []
    for (const prepare of [person, async () => undefined]) {
      const email = newAddress()
      await prepare(fixture, email)
      const story: unknown[] = []
      for (let n = 0; n < 5; n++) {
        for (const kind of [recovery, login]) story.push((await ask(kind, email)).status)
        fixture.clock.jump(MINUTE)
      }
      const flow = await fixture.start('verification')
      const { status, body } = await fixture.send(flow, { email })
      stories.push([...story, status, messageIds(body)])
      expect(fatesOf(fixture, email)).toHaveLength(11)
      expect(fatesOf(fixture, email)[0]).toStartWith('withheld: ')
    }

    expect(stories[0]).toEqual(stories[1])
    expect(stories[0]).toEqual([...Array.from({ length: 11 }, () => 200), [1080003]])
  })

  test('leaves a code that was withheld for that reason good for nothing', async () => {
    const [recovery, , login] = KINDS as [Kind, Kind, Kind, Kind]
    const email = newAddress()
    await unproven(fixture, email)
    for (let n = 0; n < 5; n++) {
      for (const kind of [recovery, login]) await ask(kind, email)
      fixture.clock.jump(MINUTE)
    }
    const flow = await fixture.start('verification')
    await fixture.send(flow, { email })

    expect(fixture.mailsTo(email)[0]).toMatchObject({
      kind: 'verification',
      state: 'failed',
      lastError: 'withheld: too many emails to this address',
      body: null,
    })
    const row = rowsOf(fixture.app, 'gate_codes').find(({ flow_id }) => flow_id === flow.id)
    expect(row).toMatchObject({ identity_id: null, generation: null })
  })

  test('is counted for each tenant by itself', async () => {
    const party = await flowParty(fixture.app)
    const email = newAddress()
    await ask(KINDS[0] as Kind, email)

    const theirs = await party.send(await party.start('recovery'), { email })

    expect(theirs.status).toBe(200)
    expect([fixture.mailsTo(email).length, party.mailsTo(email).length]).toEqual([1, 1])
  })

  test('is counted by the address, however it is spelled', async () => {
    const email = newAddress()
    await ask(KINDS[0] as Kind, email)

    for (const spelled of [email.toUpperCase(), ` ${email}`, `${email}\n`])
      await ask(KINDS[0] as Kind, spelled)

    expect(fixture.mailsTo(email)).toHaveLength(1)
  })

  test('holds for those who ask at the same time', async () => {
    for (const prepare of [(email: string) => person(fixture, email), async () => undefined]) {
      const email = newAddress()
      await prepare(email)

      const answers = await Promise.all(
        Array.from({ length: 6 }, () => ask(KINDS[2] as Kind, email)),
      )

      expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429, 429, 429, 429])
      expect(fixture.mailsTo(email)).toHaveLength(1)
    }
  })

  test('is said in the language of whoever asks, in the words of that language', async () => {
    const email = newAddress()
    await person(fixture, email)
    const german = { 'accept-language': 'de-CH' }
    await ask(KINDS[2] as Kind, email, german)

    const { body } = await ask(KINDS[2] as Kind, email, german)

    expect(body.ui.messages[0].text).toBe('Zu viele Versuche. Versuche es in 30 Sekunden erneut.')
    expect(node(body, 'identifier').meta.label.text).toBe('E-Mail-Adresse')
    expect(node(body, 'identifier').attributes.value).toBe(email)
  })

  test('is said on pages as well', async () => {
    const email = newAddress()
    await ask(KINDS[2] as Kind, email)
    const flow = await fixture.start('login')
    const browser = newBrowser(fixture.app)

    const asking = await browser.visit(flow.ui.action)
    const page = await browser.press(asking, ['method', 'code'], { identifier: email })

    expect([page.status, page.headers.get('retry-after')]).toEqual([429, '30'])
    expect(page.text).toContain('30 seconds')
  })

  test('and from one client: sixty asks in a minute, for whomever', async () => {
    await using own = await bootFlows()
    const statuses: number[] = []
    for (let n = 0; n < 61; n++) {
      const flow = await own.start('recovery')
      statuses.push((await own.send(flow, { email: `many-${n}@example.com` })).status)
    }

    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429])
    expect(own.mailsTo('many-60@example.com')).toEqual([])
    await own.clock.advance(SECOND)
    const flow = await own.start('recovery')
    expect((await own.send(flow, { email: 'late@example.com' })).status).toBe(200)
  })
})

describe('one client', () => {
  test.each(EACH)('guesses so often in a minute, in however many flows: %s', async (_, kind) => {
    await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '6' } })
    await own.security({ passwordless_enabled: true })
    const flows: { flow: Json; code: string }[] = []
    for (let n = 0; n < 2; n++) {
      const email = newAddress()
      await kind.prepare(own, email)
      const flow = await own.start(kind.kind)
      // One of six each.
      flowIn(await own.send(flow, kind.asking(email)), 200, 'sent_email')
      flows.push({ flow, code: own.codeFor(email) })
    }
    const [first, second] = flows as [(typeof flows)[0], (typeof flows)[0]]
    for (const { flow, code } of [first, second, first, second])
      expect((await own.send(flow, { code: wrongCode(code) })).status).toBe(422)

    const late = await own.send(first.flow, { code: first.code })

    expect(late).toMatchObject({ status: 429, body: { state: 'sent_email' } })
    expect(late.headers.get('retry-after')).toBe('10')
    const { tries } = rowsOf(own.app, 'gate_flows').find(({ id }) => id === first.flow.id)
    expect(tries).toBe(2)
    await own.clock.advance(10 * SECOND)
    expect((await own.send(first.flow, { code: first.code })).status).toBe(200)
    // A right one costs nothing.
    expect((await own.send(second.flow, { code: second.code })).status).toBe(200)
  })

  test('is not the server of a tenant, behind which there are many', async () => {
    await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '1' } })
    for (let n = 0; n < 5; n++) {
      const email = newAddress()
      await person(own, email)
      const { id: flow } = await own.start('recovery')
      expect((await own.submit('recovery', { flow, email })).status).toBe(200)
      const code = own.codeFor(email)
      expect((await own.submit('recovery', { flow, code: wrongCode(code) })).status).toBe(422)
      expect((await own.submit('recovery', { flow, code })).status).toBe(200)
    }
  })
})

describe('a mail that is withheld', () => {
  test('stands in the outbox with its reason, over at once, and without what it said', async () => {
    const email = newAddress()
    const flow = await fixture.start('login')
    await fixture.send(flow, { method: 'code', identifier: email })

    expect(fixture.mailsTo(email)).toMatchObject([
      {
        kind: 'login',
        state: 'failed',
        tries: 0,
        lastError: 'withheld: no account that can sign in has this address',
        createdAt: fixture.clock.now(),
        endedAt: fixture.clock.now(),
        body: null,
      },
    ])
  })

  test('is never sent, even if somebody comes to have the address', async () => {
    const email = newAddress()
    const flow = await fixture.start('recovery')
    await fixture.send(flow, { email })
    await person(fixture, email)

    expect(fatesOf(fixture, email)).toEqual([
      'withheld: no account that can sign in has this address',
    ])
    fixture.clock.jump(MAIL_GAP_MS)
    await fixture.send(flow, { email })
    expect(fixture.sentTo(email)).toHaveLength(1)
    flowIn(await bring(flow, fixture.codeFor(email)), 200, 'passed_challenge')
  })
})

test('a code lives as long as is configured, and the mail says so', async () => {
  await using own = await bootFlows({ flags: { 'gate-code-lifetime': '2m' } })
  const email = newAddress()
  await person(own, email)
  const flow = await own.start('recovery')
  await own.send(flow, { email })
  const code = own.codeFor(email)
  expect(own.sentTo(email)[0]?.body?.text).toContain('in 2 minutes')

  own.clock.jump(2 * MINUTE)

  expect((await own.send(flow, { code })).status).toBe(422)
})
