import { describe, expect, test } from 'bun:test'
import type { Answer } from '../../../../support/app.ts'
import { IDENTITIES, type Json, MINUTE, SECOND, tablesWith } from '../../fixture.ts'
import { ADA, BOB } from './acts.ts'
import { newBrowser } from './browser.ts'
import { flowIn, idsIn } from './checked.ts'
import {
  CODE_MS,
  FLOW_MS,
  LINK_MS,
  MAIL_GAP_MS,
  person,
  type Tenant,
  unproven,
  useFlows,
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
/** Two kinds that differ in how another code is asked for, and in what happens too soon. */
const WITH_LINK_AND_WITHOUT = EACH.slice(1, 3)
const SPENT = [422, 'code:4900001']

const flows = await useFlows()
const newTenant = (name?: string) => flows.newTenant({ passwordless_enabled: true }, name)

const bring = (tenant: Tenant, flow: Json, code: unknown): Promise<Answer> =>
  tenant.send(flow, { method: 'code', code })

const ask = async (tenant: Tenant, { kind, asking }: Kind, email = ADA, headers = {}) =>
  tenant.send(await tenant.start(kind), asking(email), headers)

async function waiting(tenant: Tenant, kind: Kind, email = ADA) {
  await kind.prepare(tenant, email)
  const flow = flowIn(await ask(tenant, kind, email), 200, 'sent_email')
  return { flow, code: tenant.codeFor(email) }
}

const resend = (tenant: Tenant, flow: Json, { asking, hasLink }: Kind, email = ADA) =>
  tenant.send(flow, hasLink ? asking(email) : { method: 'code', resend: 'code' })

// All kinds check and send their codes in one place; only one story is told of each.
test.each(EACH)(
  'A code for a %s works for 15 minutes after four wrong ones, once',
  async (_, kind) => {
    const acme = await newTenant()
    const wrong = [422, `code:${kind.wrong}`]
    const [early, late] = [await waiting(acme, kind), await waiting(acme, kind, BOB)]
    for (const typed of wrongCodes(early.code, 4)) {
      const answer = await bring(acme, early.flow, typed)
      expect(idsIn(answer)).toEqual(wrong)
      expect(node(answer.body, 'code').attributes.value).toBe('')
    }
    acme.clock.jump(CODE_MS - 1)
    const answers = await Promise.all([1, 2, 3].map(() => bring(acme, early.flow, early.code)))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(idsIn)).toEqual([1, 2].map(() => [422, kind.over]))
    expect(acme.codeRows(early.flow)).toEqual([])
    acme.clock.jump(1)
    expect(idsIn(await bring(acme, late.flow, late.code))).toEqual(wrong)

    // Another code replaces it.
    const again = flowIn(await resend(acme, late.flow, kind, BOB), 200, 'sent_email')
    expect([messageIds(again), nodeNames(again)]).toEqual([[kind.sent], nodeNames(late.flow)])
    const second = acme.codeFor(BOB)
    acme.clock.jump(MAIL_GAP_MS)
    await resend(acme, late.flow, kind, BOB)
    expect(idsIn(await bring(acme, late.flow, second))).toEqual(wrong)
    expect((await bring(acme, late.flow, acme.codeFor(BOB))).status).toBe(200)
  },
)

describe.each(WITH_LINK_AND_WITHOUT)('A code for a %s', (_, kind) => {
  test('is refused after five wrong ones, also when it is a new one', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    for (const wrong of wrongCodes(code)) await bring(acme, flow, wrong)
    expect(idsIn(await bring(acme, flow, code))).toEqual(SPENT)
    acme.clock.jump(MAIL_GAP_MS)
    flowIn(await resend(acme, flow, kind), 200, 'sent_email')
    expect(idsIn(await bring(acme, flow, acme.codeFor(ADA)))).toEqual(SPENT)
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
    if (kind.hasLink) expect(mail?.body?.text).toContain('30 minutes')
  })
})

const WRONG = [422, `code:${LOGIN.wrong}`]

test('A code works in its own flow alone', async () => {
  const [acme, globex] = [await newTenant(), await newTenant()]
  const sent = async (tenant: Tenant, kind: Kind) => {
    const { flow, code } = await waiting(tenant, kind, `${kind.kind}@example.com`)
    return { code, wrong: kind.wrong, send: (typed: string) => bring(tenant, flow, typed) }
  }
  const all = [await sent(globex, LOGIN)]
  for (const kind of KINDS) all.push(await sent(acme, kind))
  for (const { send, wrong, code } of all)
    for (const other of all.filter((one) => one.code !== code))
      expect(idsIn(await send(other.code))).toEqual([422, `code:${wrong}`])
  for (const { send, code } of all) expect((await send(code)).status).toBe(200)
})

test('A code is compared with five of ten that arrive at once', async () => {
  const acme = await newTenant()
  const { flow, code } = await waiting(acme, LOGIN)
  const wrongs = wrongCodes(code, 9)
  const typed = [...wrongs.slice(0, 5), code, ...wrongs.slice(5)]
  const answers = await Promise.all(typed.map((each) => bring(acme, flow, each)))
  expect(answers.map(idsIn)).toEqual([...Array(5).fill(WRONG), ...Array(5).fill(SPENT)])
})

const wide = (code: string) =>
  [...code].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('')

test('A code may be typed with blanks, and in no other way', async () => {
  const acme = await newTenant()
  const { flow, code } = await waiting(acme, LOGIN)
  const spelled = [`${code.slice(0, 3)}-${code.slice(3)}`, `${code}\u0000`, wide(code)]
  for (const typed of [...spelled, code.slice(0, 5)])
    expect(idsIn(await bring(acme, flow, typed))).toEqual(WRONG)
  expect((await bring(acme, flow, `\u00a0${code.slice(0, 3)} ${code.slice(3)}\n`)).status).toBe(200)
})

test('A code is a short text; anything else is not counted as a try', async () => {
  const acme = await newTenant()
  const { flow, code } = await waiting(acme, LOGIN)
  for (const typed of [Number(code), [code], { code }, true, 'x'.repeat(4097)])
    expect(idsIn(await bring(acme, flow, typed))).toEqual([422, 'code:4000026'])
  expect((await bring(acme, flow, '\ud800')).status).toBe(400)
  expect(idsIn(await bring(acme, flow, ''))).toEqual([422, 'code:4000002'])
  await acme.send(flow, { csrf_token: 'wrong', method: 'code', code })
  expect((await bring(acme, flow, code)).status).toBe(200)
})

test('A code is stored as a keyed hash that is bound to its flow', async () => {
  const acme = await newTenant()
  const { flow, code } = await waiting(acme, LOGIN)
  const other = await waiting(acme, LOGIN, BOB)
  const [row] = acme.codeRows(flow)
  expect(row.hash).toMatch(/^[0-9a-f]{64}$/)
  for (const text of [code, `${flow.id} ${code}`])
    expect(row.hash).not.toBe(new Bun.CryptoHasher('sha256').update(text).digest('hex'))
  expect(tablesWith(acme.app, `    ${code}`)).toEqual({})
  expect(acme.sentTo(ADA)[0]?.subject).not.toContain(code)
  const put = acme.app.db.client.query('update gate_codes set hash = ? where flow_id = ?')
  put.run(row.hash, other.flow.id)
  expect(idsIn(await bring(acme, other.flow, code))).toEqual(WRONG)
})

test('A code has the lifetime of the configuration, and the email says so', async () => {
  const own = await useFlows({ flags: { 'gate-code-lifetime': '2m' } })
  const acme = await own.newTenant()
  const { flow, code } = await waiting(acme, RECOVERY)
  expect(acme.sentTo(ADA)[0]?.body?.text).toContain('in 2 minutes')
  own.clock.jump(2 * MINUTE)
  expect((await bring(acme, flow, code)).status).toBe(422)
})

test.each<[string, Prepare, [Kind, Kind], { atOnce?: boolean }]>([
  ['end with a recovery', person, [RECOVERY, LOGIN], {}],
  ['verify an address once', unproven, [LOGIN, RECOVERY], { atOnce: true }],
  ['verify it once', unproven, [RECOVERY, LOGIN], { atOnce: true }],
  ['survive an email to verify it', unproven, [RECOVERY, VERIFICATION], {}],
])('Codes of two kinds %s: %#', async (_, prepare, kinds, { atOnce = false }) => {
  const acme = await newTenant()
  await prepare(acme, ADA)
  const sends: (() => Promise<Answer>)[] = []
  for (const kind of kinds) {
    const flow = flowIn(await ask(acme, kind), 200, 'sent_email')
    const code = acme.codeFor(ADA)
    sends.push(() => bring(acme, flow, code))
    acme.clock.jump(MAIL_GAP_MS)
  }
  const answers: Answer[] = atOnce ? await Promise.all(sends.map((send) => send())) : []
  if (!atOnce) for (const send of sends) answers.push(await send())
  expect(answers.map(({ status }) => status)).toEqual([200, 422])
})

describe.each(EACH.slice(0, 2))('A %s flow', (name, kind) => {
  test('refuses other forms', async () => {
    const acme = await newTenant()
    const missing = kind === RECOVERY ? 4010005 : 4010006
    for (const [fields, id] of [
      [{}, missing],
      [{ method: 'password', password: 'x' }, missing],
      [{ email: 'ada at example' }, 'email:4000040'],
      [{ code: '123456' }, kind.wrong],
    ] as const)
      expect(idsIn(await acme.send(await acme.start(name), fields))).toEqual([422, id])
  })

  test('emails a link to another flow of its kind, which changes nothing when it is opened', async () => {
    const acme = await newTenant()
    const { flow, code } = await waiting(acme, kind)
    const { href, searchParams } = new URL(acme.linkFor(ADA))
    const secret = searchParams.get('code') ?? ''
    expect(searchParams.get('flow')).not.toBe(flow.id)
    expect(secret).toMatch(/^\w{43}$/)
    // More often than a flow has tries.
    for (let n = 0; n < 6; n++) {
      const page = await newBrowser(acme.app).visit(href)
      expect(page.forms).toMatchObject([{ hidden: { code: secret }, fields: {} }])
      expect((await acme.readFlow(flow, `&code=${wrongCode(code)}`)).status).toBe(200)
    }
    const action = href.replace(/&code=.*/, '')
    const { body } = await acme.readFlow({ ui: { action } }, `&code=${secret}`)
    expect(nodeNames(body)[0]).toBe(`code:code=${secret}`)
    expect(messageIds(body)).toEqual([kind === RECOVERY ? 1900010 : 1900011])
    flowIn(await bring(acme, flow, code), 200, 'passed_challenge')

    acme.clock.jump(FLOW_MS)
    const { status, headers } = await acme.open(href)
    const next = headers.get('location') as string
    expect([status, next.includes('code=')]).toEqual([303, false])
    expect((await acme.open(next)).body).toContain('name="email"')
  })
})

type Act = (acme: Tenant, person: Json) => Promise<unknown>

const deactivate: Act = (acme, person) => acme.setState(person, 'inactive')
const signOut: Act = ({ api }, { id }) => api.delete(`${IDENTITIES}/${id}/sessions`)
const move: Act = async (acme, person) => {
  for (const value of [BOB, ADA])
    await acme.patch(person, [{ op: 'replace', path: '/traits/email', value }])
}

test.each<[string, string, Kind, Act]>([
  ['login', 'is inactive', LOGIN, deactivate],
  ['login', 'had another address', LOGIN, move],
  ['recovery', 'is signed out', RECOVERY, signOut],
  ['verification', 'is inactive', VERIFICATION, deactivate],
])('A code for a %s is refused once the person %s', async (_, __, kind, act) => {
  const acme = await newTenant()
  const person = (await kind.prepare(acme, ADA)) as Json
  const flow = flowIn(await ask(acme, kind), 200, 'sent_email')
  const code = acme.codeFor(ADA)
  await act(acme, person)
  // Also when the person is back.
  for (let tries = 0; tries < 2; tries++) {
    const answer = await bring(acme, flow, code)
    expect(idsIn(answer)).toEqual([422, `code:${kind.wrong}`])
    await acme.setState(person, 'active')
  }
  expect(await acme.sessionsOf(person)).toEqual([])
  if (kind === VERIFICATION) expect((await acme.addressOf(person)).verified).toBe(false)
})

test('A code is refused once the person is deleted, also when the address has a new one', async () => {
  const acme = await newTenant()
  const { id } = await acme.person(ADA)
  const { flow, code } = await acme.waiting('login', ADA)
  await acme.api.delete(`${IDENTITIES}/${id}`)
  expect([acme.codeRows(flow), acme.sentTo(ADA)]).toEqual([[], []])
  await acme.person(ADA)
  expect((await bring(acme, flow, code)).status).toBe(404)
  expect((await bring(acme, await acme.start('login'), code)).status).toBe(422)
})

test.each(WITH_LINK_AND_WITHOUT)(
  'An address gets an email every 30 seconds: %s',
  async (_, kind) => {
    const acme = await newTenant()
    await kind.prepare(acme, ADA)
    expect((await ask(acme, kind)).status).toBe(200)
    acme.clock.jump(10 * SECOND)
    const soon = await ask(acme, kind)
    const expected = kind.hasLink ? [200, null, kind.sent] : [429, '20', 4900002]
    expect([soon.status, soon.headers.get('retry-after'), ...messageIds(soon.body)]).toEqual(
      expected,
    )
    acme.clock.jump(20 * SECOND - 1)
    await ask(acme, kind)
    expect(acme.mailsTo(ADA)).toHaveLength(1)
    acme.clock.jump(1)
    expect((await ask(acme, kind)).status).toBe(200)
    expect(acme.mailsTo(ADA)).toHaveLength(2)
  },
)

test('An address gets eight emails in an hour for a server, and one in 7.5 minutes then', async () => {
  const acme = await newTenant()
  await acme.person(ADA)
  const byServer = async () =>
    (await ask(acme, LOGIN, ADA, { authorization: `Bearer ${acme.key}` })).status
  for (let n = 0; n < 8; n++) {
    expect(await byServer()).toBe(200)
    acme.clock.jump(MAIL_GAP_MS)
  }
  expect(await byServer()).toBe(429)
  for (let n = 0; n < 2; n++) {
    acme.clock.jump(7.5 * MINUTE - MAIL_GAP_MS)
    expect(await byServer()).toBe(200)
    acme.clock.jump(MAIL_GAP_MS)
    expect(await byServer()).toBe(429)
  }
})

test('An address gets ten emails of all kinds', async () => {
  const acme = await newTenant()
  await acme.unproven(ADA)
  for (let n = 0; n < 5; n++) {
    for (const kind of [RECOVERY, LOGIN]) expect((await ask(acme, kind)).status).toBe(200)
    acme.clock.jump(MINUTE)
  }
  const flow = flowIn(await ask(acme, VERIFICATION), 200, 'sent_email')
  expect(messageIds(flow)).toEqual([1080003])
  expect(acme.mailsTo(ADA)).toHaveLength(11)
  expect(acme.fatesOf(ADA)[0]).toStartWith('withheld: too many emails to this address')
  expect(acme.codeRows(flow)).toMatchObject([{ identity_id: null, generation: null }])
})

test('Emails are counted for each tenant, for an address in any spelling, and at once', async () => {
  const [acme, globex] = [await newTenant(), await newTenant()]
  await person(acme, BOB)
  for (const email of [BOB, 'nobody@example.com']) {
    const spelled = [email, ` ${email.toUpperCase()}`, `${email}\n`]
    const answers = await Promise.all(spelled.map((one) => ask(acme, LOGIN, one)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429, 429])
    expect((await ask(globex, LOGIN, email)).status).toBe(200)
    expect([acme.mailsTo(email).length, globex.mailsTo(email).length]).toEqual([1, 1])
  }
})
