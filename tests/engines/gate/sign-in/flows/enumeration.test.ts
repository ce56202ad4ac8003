import { beforeAll, expect, spyOn, test } from 'bun:test'
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

// With a limit on tries for one person, which must be alike for all.
const flows = await useFlows({ flags: { 'limits-sign-ins-per-identifier-per-minute': '5' } })
const { clock, app } = flows
const newTenant = () => flows.newTenant({ passwordless_enabled: true, mfa_enabled: true })

const WRONG = 'wrong but long enough'
/** The empty one is no try. */
const PASSWORDS = ['', 'x'.repeat(1025), '\u0000', WRONG, WRONG, WRONG, WRONG]

/** A bcrypt hash of another password, at a low cost. */
const IMPORTED = '$2b$04$abcdefghijklmnopqrstuuDwAcGdWJ0UvXNLyuWzMTbYTtZsmbQNi'

type Prepare = (acme: Tenant, email: string) => Promise<unknown>

const signedIn =
  (then: (acme: Tenant, token: string, email: string) => Promise<unknown>): Prepare =>
  async (acme, email) => {
    await person(acme, email)
    await then(acme, (await acme.signIn(email)).session_token, email)
  }

/** People that a stranger can't tell from unknown ones. */
const KNOWN: Record<string, Prepare> = {
  'A person': person,
  'An unverified person': unproven,
  'A person without a password': (acme, email) => person(acme, email, { password: null }),
  'An inactive person': (acme, email) => person(acme, email, { state: 'inactive' }),
  'A person with an imported password': (acme, email) =>
    person(acme, email, { credentials: { password: { config: { hashed_password: IMPORTED } } } }),
  'A person with a connected account': async (acme, email) =>
    connect(acme, await person(acme, email, { password: null }), 'github'),
  'A person with a second factor': signedIn((acme, token) => acme.enrol(token)),
  'A person with a waiting change of the address': signedIn((acme, token, email) =>
    acme.change(token, { method: 'profile', traits: { email: `new-${email}` } }),
  ),
}

/** An answer without what every flow and request has of its own. */
function bared({ status, headers, body }: Answer, flow: Json) {
  const bare = (text: string) =>
    text
      .replaceAll(flow.id, 'FLOW')
      .replaceAll(/flow=[0-9a-f-]{36}/g, 'flow=NEXT')
      .replaceAll(/\b(?:[0-9a-f]{64}){1,2}\b/g, 'TOKEN')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  const shown = [...headers].filter(([name]) => !['x-request-id', 'set-cookie'].includes(name))
  return {
    status,
    headers: shown.map(([name, value]): [string, string] => [name, bare(value)]),
    cookies: headers.getSetCookie().map((cookie) => cookie.replace(/=[^;]*/, '=')),
    body: bare(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}

async function workOf(password: string, act: () => Promise<unknown>) {
  using verified = countVerifications(password)
  using made = spyOn(Bun.password, 'hash').mockClear()
  using commits = spyOn(app.db, 'commit').mockClear()
  using seal = spyOn(app.platform.sealing, 'seal').mockClear()
  const rows = () => (app.db.client.query('select total_changes() as n').get() as { n: number }).n
  const before = { mails: count(app, 'mails'), rows: rows() }
  await act()
  return {
    costs: verified.hashes().map((hash) => /^\$argon2id\$v=19\$[^$]+/.exec(hash)?.[0]),
    hashed: made.mock.calls.length,
    commits: commits.mock.calls.length,
    mails: count(app, 'mails') - before.mails,
    rows: rows() - before.rows,
    // A withheld email is written and sealed as well.
    sealed: seal.mock.calls
      .filter(([what]) => what === 'mails')
      .map(([, , text]) => `${text}`.length),
  }
}

const ASKING: [string, Record<string, string>][] = [
  ['login', { method: 'code', identifier: ADA }],
  ['recovery', { method: 'code', email: ADA }],
  ['verification', { method: 'code', email: ADA }],
]

/** What a stranger does with an address: the answers, and the work behind some of them. */
async function tell(prepare: Prepare) {
  const acme = await newTenant()
  await prepare(acme, ADA)
  // The emails about the preparation no longer count.
  clock.jump(HOUR)
  const answers: ReturnType<typeof bared>[] = []
  const works: Awaited<ReturnType<typeof workOf>>[] = []

  for (const password of PASSWORDS) {
    const flow = await acme.start('login')
    const form = { method: 'password', identifier: ADA, password }
    const act = async () => answers.push(bared(await acme.send(flow, form), flow))
    works.push(await workOf(password, act))
  }
  for (const [kind, form] of ASKING) {
    clock.jump(2 * HOUR)
    const next = await acme.start(kind)
    const browser = newBrowser(app)
    const page = await browser.visit(next.ui.action)
    const { method = '', ...typed } = form
    const sent = await browser.press(page, ['method', method], typed)
    for (const { html, ...one } of [page, sent, await browser.visit(next.ui.action)])
      answers.push(bared({ ...one, body: html }, next))

    clock.jump(MINUTE)
    const flow = await acme.start(kind)
    const add = (answer: Answer) => answers.push(bared(answer, flow))
    works.push(await workOf('', async () => add(await acme.send(flow, form))))
    for (const wait of [1, MAIL_GAP_MS - 1, MINUTE]) {
      clock.jump(wait)
      add(await acme.send(flow, form))
    }
    const right = acme.mailsTo(ADA)[0]?.body ? acme.codeFor(ADA) : '314159'
    const guesses = wrongCodes(right, kind === 'login' ? 6 : 2)
    for (const code of guesses) add(await acme.send(flow, { method: 'code', code }))
    for (const accept of ['text/html', 'application/json'])
      add(await acme.open(flow.ui.action, { accept }))
    clock.jump(CODE_MS)
    add(await acme.send(flow, { method: 'code', code: right }))
    clock.jump(HOUR)
    add(await acme.open(flow.ui.action))
  }
  return { answers, works }
}

let unknown: Awaited<ReturnType<typeof tell>>
beforeAll(async () => {
  unknown = await tell(async () => undefined)
})

test('A stranger is told nothing of an unknown person, and costs as much as a known one', () => {
  const { answers, works } = unknown
  const statuses = answers.map(({ status }) => status)
  const codes = [422, 422, 200, 200, 422, 303]
  const often = [200, 303, 200, 200, 200, 200, 200]
  expect(statuses).toEqual([
    ...[...Array(6).fill(422), 429],
    ...[200, 303, 200, 200, 429, 200, 200, 422, 422, 422, 422, ...codes],
    ...[...often, ...codes],
    ...[...often, ...codes],
  ])
  expect(answers[4]?.body).toContain('4000006')
  const argon2 = expect.stringMatching(/^\$argon2id\$v=19\$m=\d+,t=1,p=1$/)
  for (const { costs, hashed } of works.slice(1, 5))
    expect({ costs, hashed }).toEqual({ costs: [argon2], hashed: 0 })
  for (const { costs, hashed, mails, sealed } of works.slice(PASSWORDS.length)) {
    expect({ costs, hashed, mails }).toEqual({ costs: [], hashed: 0, mails: 1 })
    expect(sealed[0]).toBeGreaterThan(1000)
  }
})

test.each(Object.entries(KNOWN))(
  '%s looks like an unknown one, also in the work',
  async (who, prepare) => {
    const { answers, works } = await tell(prepare)
    expect(answers).toEqual(unknown.answers)
    for (const [at, work] of works.entries()) {
      const other = unknown.works[at] as typeof work
      // An imported hash is replaced at the first sign-in.
      if (!who.includes('imported')) expect(work.costs).toEqual(other.costs)
      // A verification also notes that it was sent.
      const rows = at === works.length - 1 ? other.rows : work.rows
      expect({ ...work, rows, costs: [] }).toEqual({ ...other, costs: [] })
    }
  },
)
