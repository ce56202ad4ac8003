import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import type { Answer } from '../../../../support/app.ts'
import { type Json, MINUTE } from '../../fixture.ts'
import { newBrowser } from './browser.ts'
import { CODE_MS, connect, MAIL_GAP_MS, person, unproven, wrongCodes } from './code-fixture.ts'
import { bootFlows, type FlowFixture, PASSWORD } from './fixture.ts'

const WRONG = 'wrong but long enough'

/** Made by bcrypt at a low cost from another password: as people are brought along. */
const IMPORTED = '$2b$04$abcdefghijklmnopqrstuuDwAcGdWJ0UvXNLyuWzMTbYTtZsmbQNi'

type Prepare = (fixture: FlowFixture, email: string) => Promise<unknown>

/** Whoever a stranger must not tell from somebody there is not. */
const KNOWN: [string, Prepare][] = [
  ['somebody with a password', (fixture, email) => person(fixture, email)],
  ['somebody whose address is not proven', (fixture, email) => unproven(fixture, email)],
  [
    'somebody without a password',
    (fixture, email) => person(fixture, email, { password: undefined }),
  ],
  ['somebody inactive', (fixture, email) => person(fixture, email, { state: 'inactive' })],
  [
    'somebody inactive whose address is not proven',
    (fixture, email) => unproven(fixture, email, { state: 'inactive' }),
  ],
  [
    'somebody with a password from elsewhere',
    (fixture, email) =>
      person(fixture, email, {
        credentials: { password: { config: { hashed_password: IMPORTED } } },
      }),
  ],
  [
    'somebody with an account elsewhere',
    async (fixture, email) =>
      connect(fixture, await person(fixture, email, { password: undefined })),
  ],
  [
    'somebody with a second factor',
    async (fixture, email) => {
      await person(fixture, email)
      await fixture.enrol((await fixture.signIn(email)).session_token)
      // What was mailed about it is forgotten.
      fixture.clock.jump(60 * MINUTE)
    },
  ],
  [
    'somebody who is about to have another address',
    async (fixture, email) => {
      await person(fixture, email)
      const { session_token: token } = await fixture.signIn(email)
      const traits = { email: `new-${email}` }
      const asking = await fixture.change(token, { method: 'profile', traits })
      expect(asking).toMatchObject({ status: 200 })
      // So is this.
      fixture.clock.jump(60 * MINUTE)
    },
  ],
]

/** Headers that are of the request, and no two alike. */
const OWN_HEADERS = new Set(['x-request-id', 'set-cookie'])

/** An answer without what every flow has of its own. */
function bared({ status, headers, body }: Answer, flow: Json, email: string) {
  const bare = (text: string) =>
    text
      .replaceAll(flow.id, 'FLOW')
      .replaceAll(/\b[0-9a-f]{64}\b/g, 'TOKEN')
      .replaceAll(email, 'ADDRESS')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  const shown = [...headers].filter(([name]) => !OWN_HEADERS.has(name))
  return {
    status,
    headers: shown.map(([name, value]): [string, string] => [name, bare(value)]),
    cookies: headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]*/, '=')),
    body: bare(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

let lengths = 0
/** Addresses of one length: shown in full, they would tell answers apart by nothing else. */
const newAddress = () => `p-${String(lengths++).padStart(4, '0')}@example.com`

/** What a stranger does with an address, and hears. */
type Story = (fixture: FlowFixture, email: string) => Promise<unknown[]>

/** Told of somebody known and of somebody there is not: both have to sound the same. */
async function expectAlike(fixture: FlowFixture, prepare: Prepare, story: Story) {
  const heard: unknown[][] = []
  for (const make of [prepare, async () => undefined]) {
    const email = newAddress()
    await make(fixture, email)
    // Nothing of the one is counted for the other.
    await fixture.clock.advance(MINUTE)
    heard.push(await story(fixture, email))
  }
  const [known, unknown] = heard
  expect(known).toEqual(unknown as unknown[])
  expect(known?.length).toBeGreaterThan(0)
  return known as Json[]
}

const asJson =
  (kind: string, fields: (email: string, turn: number) => Json, turns = 1): Story =>
  async (fixture, email) => {
    const heard: unknown[] = []
    for (let turn = 0; turn < turns; turn++) {
      const flow = await fixture.start(kind)
      heard.push(bared(await fixture.send(flow, fields(email, turn)), flow, email))
    }
    return heard
  }

const asPage =
  (kind: string, fields: (email: string) => Record<string, string>): Story =>
  async (fixture, email) => {
    const flow = await fixture.start(kind)
    const browser = newBrowser(fixture.app)
    const first = await browser.visit(flow.ui.action)
    const { method, ...typed } = fields(email)
    const sent = await browser.press(first, ['method', method as string], typed)
    const then = await browser.visit(flow.ui.action)
    return [first, sent, then].map((page) => bared({ ...page, body: page.html }, flow, email))
  }

const byPassword = (identifier: string) => ({ method: 'password', identifier, password: WRONG })

/** Everything that asks for a code by an address. */
const ASKING: [string, (email: string) => Record<string, string>][] = [
  ['login', (identifier) => ({ method: 'code', identifier })],
  ['recovery', (email) => ({ method: 'code', email })],
  ['verification', (email) => ({ method: 'code', email })],
]

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootFlows({
    // As many as it takes: what one client may do in all is looked at apart.
    flags: { 'limits-sign-ins-per-minute': '100000' },
  })
  await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
})
afterAll(() => fixture.app.stop())

describe.each(KNOWN)('%s is not told from nobody', (_, prepare) => {
  test('by a wrong password', async () => {
    const [answer] = await expectAlike(fixture, prepare, asJson('login', byPassword))
    expect(answer.status).toBe(422)
    expect(answer.body).toContain('4000006')
  })

  test('by a wrong password on a page', async () => {
    const [, answer] = await expectAlike(fixture, prepare, asPage('login', byPassword))
    expect(answer.status).toBe(422)
  })

  test('by passwords that nobody can have', async () => {
    const passwords = ['', 'x', 'x'.repeat(1024), 'x'.repeat(1025), '\u0000', 'ä'.repeat(700)]
    const fields = (identifier: string, turn: number) => ({
      method: 'password',
      identifier,
      password: passwords[turn],
    })
    const heard = await expectAlike(fixture, prepare, asJson('login', fields, passwords.length))
    expect(heard.map(({ status }) => status)).toEqual(passwords.map(() => 422))
  })

  test('by how many passwords may be tried', async () => {
    const heard = await expectAlike(fixture, prepare, asJson('login', byPassword, 12))
    expect(heard.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 10 }, () => 422),
      429,
      429,
    ])
    expect(new Map(heard.at(-1).headers).get('retry-after')).toBe('6')
  })

  test.each(ASKING)('by asking for a code: %s', async (kind, fields) => {
    const [answer] = await expectAlike(fixture, prepare, asJson(kind, fields))
    expect(answer.status).toBe(200)
    expect(answer.body).toContain('sent_email')
  })

  test.each(ASKING)('by asking on a page: %s', async (kind, fields) => {
    const [, sent] = await expectAlike(fixture, prepare, asPage(kind, fields))
    expect(sent.status).toBe(303)
  })

  test.each(ASKING)('by asking again and again: %s', async (kind, fields) => {
    const story: Story = async (fixture, email) => {
      const heard: unknown[] = []
      const flow = await fixture.start(kind)
      for (const wait of [0, 1, MAIL_GAP_MS - 1, MINUTE, MINUTE, MINUTE, MINUTE]) {
        fixture.clock.jump(wait)
        heard.push(bared(await fixture.send(flow, fields(email)), flow, email))
      }
      return heard
    }
    const heard = await expectAlike(fixture, prepare, story)
    const off = kind === 'login' ? 429 : 200
    expect(heard.map(({ status }) => status)).toEqual([200, off, 200, 200, 200, 200, off])
  })

  test.each(ASKING)('by wrong codes, nor by what comes after them: %s', async (kind, fields) => {
    const story: Story = async (fixture, email) => {
      const flow = await fixture.start(kind)
      const answers = [await fixture.send(flow, fields(email))]
      const right = fixture.mailsTo(email)[0]?.body ? fixture.codeFor(email) : '314159'
      for (const code of wrongCodes(right, 6))
        answers.push(await fixture.send(flow, { method: 'code', code }))
      answers.push(await fixture.open(flow.ui.action))
      answers.push(await fixture.open(flow.ui.action, { accept: 'application/json' }))
      fixture.clock.jump(CODE_MS)
      answers.push(await fixture.send(flow, { method: 'code', code: right }))
      fixture.clock.jump(60 * MINUTE)
      answers.push(await fixture.open(flow.ui.action))
      return answers.map((answer) => bared(answer, flow, email)).map(withoutNextFlow)
    }
    const heard = await expectAlike(fixture, prepare, story)
    expect(heard.map(({ status }) => status)).toEqual([
      200, 422, 422, 422, 422, 422, 422, 200, 200, 422, 303,
    ])
  })
})

/** An expired flow leads on to a new one. */
const withoutNextFlow = (answer: ReturnType<typeof bared>) => ({
  ...answer,
  headers: answer.headers.map(([name, value]) => [name, value.replace(/flow=[\w-]+/, 'flow=NEXT')]),
})

describe('what it takes to answer', () => {
  /** What goes on behind an answer, counted. */
  async function workOf(own: FlowFixture, act: () => Promise<unknown>) {
    const { app } = own
    const hashes = spyOn(Bun.password, 'verify')
    const made = spyOn(Bun.password, 'hash')
    const commits = spyOn(app.db, 'commit')
    const mails = () =>
      (app.db.client.query('select count(*) as n from mails').get() as { n: number }).n
    const rows = () => (app.db.client.query('select total_changes() as n').get() as { n: number }).n
    const before = { mails: mails(), rows: rows() }
    await act()
    const work = {
      verified: hashes.mock.calls.length,
      costs: hashes.mock.calls.map(
        ([, stored]) => /^\$argon2id\$v=19\$[^$]+/.exec(`${stored}`)?.[0],
      ),
      hashed: made.mock.calls.length,
      commits: commits.mock.calls.length,
      mails: mails() - before.mails,
      rows: rows() - before.rows,
    }
    for (const spy of [hashes, made, commits]) spy.mockRestore()
    return work
  }

  async function worksOf(prepare: Prepare, kind: string, fields: (email: string) => Json) {
    const works = []
    for (const make of [prepare, async () => undefined]) {
      const email = newAddress()
      await make(fixture, email)
      const flow = await fixture.start(kind)
      works.push(await workOf(fixture, () => fixture.send(flow, fields(email))))
    }
    return works as [Json, Json]
  }

  /** A hash from elsewhere is of another kind: see the test below. */
  const own = KNOWN.filter(([who]) => who !== 'somebody with a password from elsewhere')

  test.each(own)('is one hash of the same cost for a wrong password of %s', async (_, prepare) => {
    const [known, unknown] = await worksOf(prepare, 'login', byPassword)

    expect(known).toEqual(unknown)
    expect(unknown).toMatchObject({ verified: 1, hashed: 0 })
    expect(unknown.costs).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=\d+,t=1,p=1$/)])
  })

  test('is no more than one hash for one from elsewhere, which is made anew at the first sign-in', async () => {
    const [, prepare] = KNOWN.find(
      ([who]) => who === 'somebody with a password from elsewhere',
    ) as [string, Prepare]

    const [known, unknown] = await worksOf(prepare, 'login', byPassword)

    expect({ ...known, verified: 1, costs: unknown.costs }).toEqual(unknown)
  })

  test('is a hash even where no password is long enough, or none is that long', async () => {
    for (const password of ['x', 'x'.repeat(2000)]) {
      const asking = (identifier: string) => ({ method: 'password', identifier, password })
      const [known, unknown] = await worksOf((w, email) => person(w, email), 'login', asking)
      expect(known).toEqual(unknown)
      expect(unknown.verified).toBe(1)
    }
  })

  test.each(
    ASKING.filter(([kind]) => kind !== 'verification').flatMap(([kind, fields]) =>
      KNOWN.map(([who, prepare]) => [kind, who, fields, prepare] as const),
    ),
  )('is the same writing for a code: %s, %s', async (kind, _, fields, prepare) => {
    const [known, unknown] = await worksOf(prepare, kind, fields)

    expect(known).toEqual(unknown)
    expect(unknown).toMatchObject({ verified: 0, hashed: 0, mails: 1 })
  })

  test.each(KNOWN)('is as many commits and mails for a verification: %s', async (_, prepare) => {
    const [fields] = ASKING.filter(([kind]) => kind === 'verification').map(([, make]) => make)
    const [known, unknown] = await worksOf(
      prepare,
      'verification',
      fields as (email: string) => Json,
    )

    const { rows: _known, ...counted } = known
    const { rows: _unknown, ...expected } = unknown
    expect(counted).toEqual(expected)
    expect(expected).toMatchObject({ mails: 1 })
  })

  test('is a mail that is written and sealed like any other, though it is withheld', async () => {
    const seal = spyOn(fixture.app.platform.sealing, 'seal')
    const sizes: number[] = []
    for (const make of [(email: string) => person(fixture, email), async () => undefined]) {
      const email = newAddress()
      await make(email)
      const flow = await fixture.start('recovery')
      seal.mockClear()
      await fixture.send(flow, { email })
      sizes.push(
        ...seal.mock.calls
          .filter(([what]) => what === 'mails')
          .map(([, , text]) => `${text}`.length),
      )
    }
    seal.mockRestore()

    expect(sizes).toHaveLength(2)
    expect(sizes[0]).toBe(sizes[1] as number)
    expect(sizes[0]).toBeGreaterThan(1000)
  })
})

describe('one client', () => {
  test.each<[string, (email: string) => Json]>([
    ['passwords', byPassword],
    ...ASKING.map(([kind, fields]) => [kind, fields] as [string, (email: string) => Json]),
  ])('may do so much in a minute, whoever it asks for: %s', async (what, fields) => {
    const heard: unknown[][] = []
    for (const isKnown of [true, false]) {
      await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '3' } })
      await own.security({ passwordless_enabled: true })
      const kind = what === 'passwords' ? 'login' : what
      const story: unknown[] = []
      for (let n = 0; n < 5; n++) {
        const email = newAddress()
        if (isKnown) await (kind === 'verification' ? unproven : person)(own, email)
        const flow = await own.start(kind)
        story.push(bared(await own.send(flow, fields(email)), flow, email))
      }
      heard.push(story)
    }

    expect(heard[0]).toEqual(heard[1] as unknown[])
    expect((heard[0] as Json[]).map(({ status }) => status).slice(3)).toEqual([429, 429])
    expect(new Map((heard[0] as Json[])[4].headers).get('retry-after')).toBe('20')
  })
})

describe('what was mailed to somebody of late', () => {
  /** Each of them tells somebody of a change that they have made: nobody else is ever told of one. */
  const CHANGES: [
    string,
    (fixture: FlowFixture, token: string, email: string) => Promise<unknown>,
  ][] = [
    ['a password', (own, token) => own.change(token, { method: 'password', password: WRONG })],
    ['a second factor', (own, token) => own.enrol(token)],
    [
      'another address',
      (own, token, email) =>
        own.change(token, { method: 'profile', traits: { email: `new-${email}` } }),
    ],
  ]

  test.each(CHANGES)('is no reason to put a stranger off: %s', async (_, change) => {
    const prepare: Prepare = async (own, email) => {
      await person(own, email)
      await change(own, (await own.signIn(email)).session_token, email)
    }
    const story: Story = async (own, email) => {
      const heard: unknown[] = []
      for (let n = 0; n < 6; n++) {
        const { status, headers } = await own.send(await own.start('recovery'), { email })
        heard.push([status, headers.get('retry-after')])
        own.clock.jump(MINUTE)
      }
      return heard
    }

    await expectAlike(fixture, prepare, story)
  })
})

describe('who has shown that an account is theirs', () => {
  test('hears that it is deactivated, and whoever guesses does not', async () => {
    const email = newAddress()
    await person(fixture, email, { state: 'inactive' })

    const guessed = await fixture.tryPassword(email, WRONG)
    const right = await fixture.tryPassword(email, PASSWORD)

    expect(JSON.stringify(guessed.body)).not.toContain('4010011')
    expect(right.status).toBe(422)
    expect(JSON.stringify(right.body)).toContain('4010011')
  })
})

test('what is typed is shown again, and nothing that is known of it', async () => {
  const email = newAddress()
  await person(fixture, email)
  const flow = await fixture.start('login')

  const { body } = await fixture.send(flow, byPassword(email.toUpperCase()))

  expect(JSON.stringify(body)).toContain(email.toUpperCase())
  expect(JSON.stringify(body)).not.toContain(email)
})
