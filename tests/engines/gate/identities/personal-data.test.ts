import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { personalData } from '../../../../src/engines/gate/identities/personal-data-store.ts'
import { mailsAbout } from '../../../../src/platform/portable/personal-data.ts'
import { openSnapshot } from '../../../../src/platform/portable/snapshot.ts'
import type { Json } from '../fixture.ts'
import { asked } from '../sign-in/flows/code-fixture.ts'
import { bootFlows, type FlowFixture } from '../sign-in/flows/fixture.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootFlows()
})
afterAll(() => fixture.app.stop())

const inSnapshot = <T>(work: (snapshot: ReturnType<typeof openSnapshot>) => T): T => {
  using snapshot = openSnapshot(fixture.app.db)
  return work(snapshot)
}

/** The flow that only the link in the mail leads to. */
const BY_LINK = expect.any(String)

/** Ids of flows that somebody is told about. */
const flowsOf = ({ id }: Json): string[] =>
  inSnapshot((snapshot) => personalData(snapshot, fixture.tenantId, id))?.flows.map(
    (flow) => flow.id,
  ) ?? []

const mailsOf = ({ id, traits }: Json): string[] =>
  inSnapshot((snapshot) => mailsAbout(snapshot, fixture.tenantId, id, traits.email)).map(
    ({ kind }) => kind,
  )

const person = (email: string) => fixture.createIdentity({ traits: { email } })
const move = ({ id }: Json, email: string) =>
  fixture.patch({ id }, [{ op: 'replace', path: '/traits/email', value: email }])

describe('flows that are told to somebody', () => {
  test('are those in which a code is out for them, wherever it went', async () => {
    const ada = await person('first@example.com')
    const flow = await asked(fixture, 'recovery', 'first@example.com')
    fixture.app.db.client
      .query('update gate_flows set address = ? where id = ?')
      .run('before@example.com', flow.id)
    expect(flowsOf(ada)).toEqual([flow.id, BY_LINK])
  })

  test('are not those of whoever had the address before', async () => {
    const shared = 'shared@example.com'
    const ada = await person(shared)
    const before = await asked(fixture, 'recovery', shared)
    expect(flowsOf(ada)).toEqual([before.id, BY_LINK])

    await fixture.clock.advance(60_000)
    await move(ada, 'moved@example.com')
    const bob = await person(shared)
    expect(flowsOf(bob)).toEqual([])
    const after = await asked(fixture, 'recovery', shared)
    expect(flowsOf(bob)).toEqual([after.id, BY_LINK])
    expect(flowsOf(ada)).toEqual([])
  })

  test('are not those in which a code is out for another', async () => {
    const bob = await person('his@example.com')
    const eve = await person('hers@example.com')
    const flow = await asked(fixture, 'recovery', 'hers@example.com')
    fixture.app.db.client
      .query('update gate_flows set address = ? where id = ?')
      .run('his@example.com', flow.id)
    expect(flowsOf(bob)).toEqual([])
    expect(flowsOf(eve)).toEqual([flow.id, BY_LINK])
  })

  test('are those in which they signed up, which began before they were anybody', async () => {
    await fixture.security({ passwordless_enabled: true })
    const email = 'new@example.com'
    const flow = await fixture.start('registration')
    await fixture.send(flow, { method: 'code', traits: { email } })
    await fixture.clock.advance(60_000)
    const answer = await fixture.send(flow, {
      method: 'code',
      traits: { email },
      code: fixture.codeFor(email),
    })
    expect(answer).toMatchObject({ status: 200 })
    expect(flowsOf(answer.body.identity)).toContain(flow.id)
  })
})

describe('mails that are told to somebody', () => {
  test('are also those to their address from before they were anybody', async () => {
    const email = 'early@example.com'
    await asked(fixture, 'recovery', email)
    const early = await person(email)
    const others = await person('others@example.com')
    expect(fixture.mailsTo(email)).toHaveLength(1)
    expect(mailsOf(early)).toHaveLength(1)
    expect(mailsOf(others)).toEqual([])
  })

  test('are not those to their address that are about another', async () => {
    const email = 'passed-on@example.com'
    const first = await person(email)
    await asked(fixture, 'recovery', email)
    await move(first, 'gone-on@example.com')
    const next = await person(email)
    expect(mailsOf(next)).toEqual([])
    expect(mailsOf(first).length).toBeGreaterThan(0)
  })
})
