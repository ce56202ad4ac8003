import { describe, expect, spyOn, test } from 'bun:test'
import type { Answer } from '../../../../support/app.ts'
import { count, HOUR, type Json, MINUTE } from '../../fixture.ts'
import { ADA, connect } from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  CODE_MS,
  MAIL_GAP_MS,
  person,
  type Tenant,
  unproven,
  useFlows,
  wrongCodes,
} from './code-fixture.ts'
import { countVerifications } from './held-passwords.ts'

// With the usual limit on tries for one person, which must be alike for all.
const flows = await useFlows({ flags: { 'limits-sign-ins-per-identifier-per-minute': '10' } })
const { clock, app } = flows
const newTenant = () => flows.newTenant({ passwordless_enabled: true, mfa_enabled: true })

const WRONG = 'wrong but long enough'

/** A bcrypt hash of another password, at a low cost. */
const IMPORTED = '$2b$04$abcdefghijklmnopqrstuuDwAcGdWJ0UvXNLyuWzMTbYTtZsmbQNi'

type Prepare = (acme: Tenant, email: string) => Promise<unknown>
const nobody: Prepare = async () => undefined

/** People that a stranger can't tell from unknown ones. */
const KNOWN: [string, Prepare][] = [
  ['a person', person],
  ['an unverified person', unproven],
  ['a person without a password', (acme, email) => person(acme, email, { password: null })],
  ['an inactive person', (acme, email) => person(acme, email, { state: 'inactive' })],
  ['an inactive, unverified person', (acme, email) => unproven(acme, email, { state: 'inactive' })],
  [
    'a person with an imported password',
    (acme, email) => {
      const credentials = { password: { config: { hashed_password: IMPORTED } } }
      return person(acme, email, { credentials })
    },
  ],
  [
    'a person with a connected account',
    async (acme, email) =>
      connect(acme, await person(acme, email, { password: null }), 'github', email),
  ],
  [
    'a person with a second factor',
    async (acme, email) => {
      await person(acme, email)
      await acme.enrol((await acme.signIn(email)).session_token)
    },
  ],
  [
    'a person with a waiting change of the address',
    async (acme, email) => {
      await person(acme, email)
      const { session_token: token } = await acme.signIn(email)
      const traits = { email: `new-${email}` }
      expect((await acme.change(token, { method: 'profile', traits })).status).toBe(200)
    },
  ],
]

/** An answer without what every flow and request has of its own. */
function bared({ status, headers, body }: Answer, flow: Json, email: string) {
  const bare = (text: string) =>
    text
      .replaceAll(flow.id, 'FLOW')
      .replaceAll(/flow=[0-9a-f-]{36}/g, 'flow=NEXT')
      .replaceAll(/\b[0-9a-f]{64}\b/g, 'TOKEN')
      .replaceAll(email, 'ADDRESS')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  const shown = [...headers].filter(([name]) => !['x-request-id', 'set-cookie'].includes(name))
  return {
    status,
    headers: shown.map(([name, value]): [string, string] => [name, bare(value)]),
    cookies: headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]*/, '=')),
    body: bare(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

/** What a stranger does with an address, and the answers. */
type Story = (acme: Tenant, email: string) => Promise<unknown[]>

/** Tells it of a person in a tenant of its own. */
async function hear(prepare: Prepare, story: Story) {
  const acme = await newTenant()
  await prepare(acme, ADA)
  // The emails about the preparation no longer count.
  await clock.advance(MINUTE)
  clock.jump(HOUR)
  return (await story(acme, ADA)) as Json[]
}

/** Each story of an unknown person, which is told once. */
const ofNobody: Record<string, Json[]> = {}

async function expectAlike(name: string, prepare: Prepare, story: Story) {
  ofNobody[name] ??= await hear(nobody, story)
  const known = await hear(prepare, story)
  expect(known).toEqual(ofNobody[name] as Json[])
  expect(known.length).toBeGreaterThan(0)
  return known
}

type Fields = (email: string) => Record<string, string>

const asPage =
  (kind: string, fields: Fields): Story =>
  async (acme, email) => {
    const flow = await acme.start(kind)
    const browser = newBrowser(app)
    const first = await browser.visit(flow.ui.action)
    const { method, ...typed } = fields(email)
    const sent = await browser.press(first, ['method', method as string], typed)
    const then = await browser.visit(flow.ui.action)
    return [first, sent, then].map((page) => bared({ ...page, body: page.html }, flow, email))
  }

const byPassword = (identifier: string) => ({ method: 'password', identifier, password: WRONG })

/** The forms that ask for a code. */
const ASKING: [string, Fields][] = [
  ['login', (identifier) => ({ method: 'code', identifier })],
  ['recovery', (email) => ({ method: 'code', email })],
  ['verification', (email) => ({ method: 'code', email })],
]

describe.each(KNOWN)('%s looks like an unknown one', (_, prepare) => {
  test('to wrong, short, long and repeated passwords', async () => {
    const odd = ['', 'x', 'x'.repeat(1024), 'x'.repeat(1025), '\u0000', 'ä'.repeat(700)]
    const passwords = [...odd, ...Array<string>(8).fill(WRONG)]
    const heard = await expectAlike('passwords', prepare, async (acme, email) => {
      const answers: unknown[] = []
      for (const password of passwords) {
        const flow = await acme.start('login')
        const fields = { ...byPassword(email), password }
        answers.push(bared(await acme.send(flow, fields), flow, email))
      }
      return answers
    })
    const statuses = heard.map(({ status }) => status)
    // An empty password is no try.
    expect(statuses).toEqual([...Array(11).fill(422), 429, 429, 429])
    expect(heard[10]?.body).toContain('4000006')
    expect(new Map(heard.at(-1).headers).get('retry-after')).toBe('6')
  })

  test.each(ASKING)('on a page that asks for a code: %s', async (kind, fields) => {
    const [, sent] = await expectAlike(`${kind} page`, prepare, asPage(kind, fields))
    expect(sent.status).toBe(303)
  })

  test.each(ASKING)('to repeated requests for a code: %s', async (kind, fields) => {
    const heard = await expectAlike(`${kind} again`, prepare, async (acme, email) => {
      const answers: unknown[] = []
      const flow = await acme.start(kind)
      for (const wait of [0, 1, MAIL_GAP_MS - 1, MINUTE, MINUTE, MINUTE, MINUTE]) {
        clock.jump(wait)
        answers.push(bared(await acme.send(flow, fields(email)), flow, email))
      }
      return answers
    })
    const off = kind === 'login' ? 429 : 200
    expect(heard.map(({ status }) => status)).toEqual([200, off, 200, 200, 200, 200, off])
    expect(heard[0]?.body).toContain('sent_email')
  })

  test.each(ASKING)('to wrong codes, and to what follows them: %s', async (kind, fields) => {
    const heard = await expectAlike(`${kind} codes`, prepare, async (acme, email) => {
      const flow = await acme.start(kind)
      const answers = [await acme.send(flow, fields(email))]
      const right = acme.mailsTo(email)[0]?.body ? acme.codeFor(email) : '314159'
      for (const code of wrongCodes(right, 6))
        answers.push(await acme.send(flow, { method: 'code', code }))
      answers.push(await acme.open(flow.ui.action))
      answers.push(await acme.open(flow.ui.action, { accept: 'application/json' }))
      clock.jump(CODE_MS)
      answers.push(await acme.send(flow, { method: 'code', code: right }))
      clock.jump(HOUR)
      answers.push(await acme.open(flow.ui.action))
      return answers.map((answer) => bared(answer, flow, email))
    })
    const statuses = heard.map(({ status }) => status)
    expect(statuses).toEqual([200, ...Array(6).fill(422), 200, 200, 422, 303])
  })
})

describe('the work behind an answer is alike', () => {
  /** Counts what an action does. */
  async function workOf(password: string, act: () => Promise<unknown>) {
    using verified = countVerifications(password)
    using made = spyOn(Bun.password, 'hash').mockClear()
    using commits = spyOn(app.db, 'commit').mockClear()
    const rows = () => (app.db.client.query('select total_changes() as n').get() as { n: number }).n
    const before = { mails: count(app, 'mails'), rows: rows() }
    await act()
    return {
      costs: verified.hashes().map((hash) => /^\$argon2id\$v=19\$[^$]+/.exec(hash)?.[0]),
      hashed: made.mock.calls.length,
      commits: commits.mock.calls.length,
      mails: count(app, 'mails') - before.mails,
      rows: rows() - before.rows,
    }
  }

  type Work = Awaited<ReturnType<typeof workOf>>

  async function worksOf(prepare: Prepare, kind: string, fields: (email: string) => Json) {
    const works: Work[] = []
    for (const make of [prepare, nobody]) {
      const acme = await newTenant()
      await make(acme, ADA)
      clock.jump(HOUR)
      const flow = await acme.start(kind)
      const form = fields(ADA)
      works.push(await workOf(form.password, () => acme.send(flow, form)))
    }
    return works as [Work, Work]
  }

  const ARGON2 = expect.stringMatching(/^\$argon2id\$v=19\$m=\d+,t=1,p=1$/)

  test.each(KNOWN)('for a wrong password: %s', async (who, prepare) => {
    const [known, unknown] = await worksOf(prepare, 'login', byPassword)
    expect(unknown).toMatchObject({ costs: [ARGON2], hashed: 0 })
    // An imported hash is replaced at the first sign-in, and verified once until then.
    if (who.includes('imported')) expect(known.costs).toHaveLength(1)
    else expect(known.costs).toEqual(unknown.costs)
    expect({ ...known, costs: [] }).toEqual({ ...unknown, costs: [] })
  })

  test.each(['x', 'x'.repeat(2000)])(
    'for a password that no one can have (%#)',
    async (password) => {
      const asking = (email: string) => ({ ...byPassword(email), password })
      const [known, unknown] = await worksOf(person, 'login', asking)
      expect(known).toEqual(unknown)
      expect(unknown.costs).toHaveLength(1)
    },
  )

  const CODES = KNOWN.flatMap(([who, prepare]) =>
    ASKING.map(([kind, fields]) => [kind, who, fields, prepare] as const),
  )

  test.each(CODES)('for a code: %s, %s', async (kind, _, fields, prepare) => {
    const [known, unknown] = await worksOf(prepare, kind, fields)
    expect(unknown).toMatchObject({ costs: [], hashed: 0, mails: 1 })
    // A verification also notes that it was sent.
    if (kind === 'verification') expect({ ...known, rows: 0 }).toEqual({ ...unknown, rows: 0 })
    else expect(known).toEqual(unknown)
  })

  test('for a withheld email, which is written and sealed as well', async () => {
    using seal = spyOn(app.platform.sealing, 'seal')
    const sizes: number[] = []
    for (const make of [person, nobody]) {
      const acme = await newTenant()
      await make(acme, ADA)
      const flow = await acme.start('recovery')
      seal.mockClear()
      await acme.send(flow, { email: ADA })
      const sealed = seal.mock.calls.filter(([what]) => what === 'mails')
      sizes.push(...sealed.map(([, , text]) => `${text}`.length))
    }
    expect(sizes).toEqual([sizes[0] as number, sizes[0] as number])
    expect(sizes[0]).toBeGreaterThan(1000)
  })
})

test('a notice to a person about a change does not delay a recovery', async () => {
  const changes: ((acme: Tenant, token: string) => Promise<unknown>)[] = [
    (acme, token) => acme.change(token, { method: 'password', password: WRONG }),
    (acme, token) => acme.enrol(token),
    (acme, token) =>
      acme.change(token, { method: 'profile', traits: { email: 'new@example.com' } }),
  ]
  for (const change of [...changes, undefined]) {
    const acme = await newTenant()
    if (change) {
      await person(acme, ADA)
      await change(acme, (await acme.signIn(ADA)).session_token)
    }
    for (let n = 0; n < 6; n++) {
      const { status, headers } = await acme.send(await acme.start('recovery'), { email: ADA })
      expect([status, headers.get('retry-after')]).toEqual([200, null])
      clock.jump(MINUTE)
    }
    expect(acme.mailsTo(ADA).filter((mail) => mail?.kind === 'recovery')).toHaveLength(5)
  }
})
