import { expect, test } from 'bun:test'
import {
  bootFlows,
  type FlowFixture,
  PASSWORD,
  UNHURRIED,
} from '../../engines/gate/sign-in/flows/fixture.ts'
import type { Answer } from '../../support/app.ts'
import { numbers } from './support/api.ts'

type Prepare = (fixture: FlowFixture, email: string) => Promise<() => Promise<Answer>>

/** Each prepares one request of a user, which is sent when it is called. */
const REQUESTS: Record<string, Prepare> = {
  async 'a sign-up'({ start, send }, email) {
    const flow = await start('registration')
    return () => send(flow, { method: 'password', traits: { email }, password: PASSWORD })
  },
  'a sign-in by code': (fixture, email) => codeSent(fixture, 'login', 'identifier', email),
  'a recovery': (fixture, email) => codeSent(fixture, 'recovery', 'email', email),
  async 'a new password'({ settings, send, register }, email) {
    const { session_token } = await register(email)
    const flow = await settings(session_token)
    const fields = { method: 'password', password: `${PASSWORD} staple` }
    return () => send(flow, fields, { 'x-session-token': session_token })
  },
}

async function codeSent(fixture: FlowFixture, kind: string, name: string, email: string) {
  await fixture.createIdentity({ traits: { email } })
  const flow = await fixture.start(kind)
  await fixture.sendWell(flow, { method: 'code', [name]: email })
  const code = fixture.codeFor(email)
  return () => fixture.send(flow, { method: 'code', code })
}

/** Every row of every table. */
function contentOf({ db }: FlowFixture['app']) {
  const tables = db.client.query<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  )
  return tables.all().map(({ name }) => [name, db.client.query(`SELECT * FROM ${name}`).all()])
}

test('A full disk answers each request of a sign-in with 503, changes nothing, and all of them work again with room', async () => {
  await using fixture = await bootFlows({ flags: UNHURRIED })
  const { client } = fixture.app.db
  await fixture.security({ passwordless_enabled: true })
  const prepared = new Map<string, (() => Promise<Answer>)[]>()
  for (const [kind, prepare] of Object.entries(REQUESTS)) {
    const sends = numbers(20).map((n) =>
      prepare(fixture, `${kind.replaceAll(' ', '-')}-${n}@example.com`),
    )
    prepared.set(kind, await Promise.all(sends))
  }
  const { page_count } = client.query('PRAGMA page_count').get() as { page_count: number }
  client.run(`PRAGMA max_page_count = ${page_count}`)

  const refused: (() => Promise<Answer>)[] = []
  for (const [kind, sends] of prepared) {
    // Some find room in existing pages.
    let before = contentOf(fixture.app)
    let last: Answer | undefined
    for (const send of sends) {
      before = contentOf(fixture.app)
      last = await send()
      if (last.status === 200) continue
      refused.push(send)
      break
    }
    expect([kind, last?.status, last?.headers.get('retry-after')]).toEqual([kind, 503, '1'])
    expect(last?.body).toEqual({ error: 'storage: the disk is full' })
    expect((await refused.at(-1)?.())?.status).toBe(503)
    expect(contentOf(fixture.app)).toEqual(before)
  }
  client.run('PRAGMA max_page_count = 1000000')
  for (const send of refused) expect(await send()).toMatchObject({ status: 200 })
})
