import { afterAll, expect, test } from 'bun:test'
import { personalData } from '../../../../src/engines/gate/identities/personal-data-store.ts'
import { mailsAbout } from '../../../../src/platform/portable/personal-data.ts'
import { openSnapshot } from '../../../../src/platform/portable/snapshot.ts'
import { type Json, MINUTE } from '../fixture.ts'
import { asked } from '../sign-in/flows/code-fixture.ts'
import { bootFlows } from '../sign-in/flows/fixture.ts'

// Flows and mails that an export of personal data contains.

/** The id of the flow that only the link in the mail leads to. */
const BY_LINK = expect.any(String)

const fixture = await bootFlows()
afterAll(() => fixture[Symbol.asyncDispose]())
const { app, tenantId } = fixture

const createPerson = (email: string) => fixture.createIdentity({ traits: { email } })

function flowsOf({ id }: Json): string[] {
  using snapshot = openSnapshot(app.db)
  return personalData(snapshot, tenantId, id)?.flows.map((flow) => flow.id) ?? []
}

function mailsOf({ id, traits }: Json) {
  using snapshot = openSnapshot(app.db)
  return mailsAbout(snapshot, tenantId, id, traits.email)
}

test('A flow belongs to the identity that its code is for, whatever its address', async () => {
  const [bob, eve] = [await createPerson('his@example.com'), await createPerson('hers@example.com')]
  const flow = await asked(fixture, 'recovery', 'hers@example.com')
  app.db.client.run("update gate_flows set address = 'his@example.com' where id = ?", [flow.id])
  expect(flowsOf(bob)).toEqual([])
  expect(flowsOf(eve)).toEqual([flow.id, BY_LINK])
})

test('Flows and mails stay with the identity that had the address at the time', async () => {
  const email = 'shared@example.com'
  const ada = await createPerson(email)
  const before = await asked(fixture, 'recovery', email)
  expect(flowsOf(ada)).toEqual([before.id, BY_LINK])

  await fixture.clock.advance(MINUTE)
  const moved = { op: 'replace', path: '/traits/email', value: 'moved@example.com' }
  await fixture.patch(ada, [moved])
  const bob = await createPerson(email)
  expect(flowsOf(bob)).toEqual([])
  expect(mailsOf(bob)).toEqual([])
  expect(mailsOf(ada).length).toBeGreaterThan(0)
  const after = await asked(fixture, 'recovery', email)
  expect(flowsOf(bob)).toEqual([after.id, BY_LINK])
  expect(flowsOf(ada)).toEqual([])
})

test('A flow that ended in a registration belongs to the new identity', async () => {
  await fixture.security({ passwordless_enabled: true })
  const traits = { email: 'new@example.com' }
  const flow = await fixture.start('registration')
  await fixture.send(flow, { method: 'code', traits })
  await fixture.clock.advance(MINUTE)
  const code = fixture.codeFor(traits.email)
  const { identity } = await fixture.sendWell(flow, { method: 'code', traits, code })
  expect(flowsOf(identity)).toContain(flow.id)
})

test('A mail from before the identity was created belongs to it by the address', async () => {
  const email = 'early@example.com'
  await asked(fixture, 'recovery', email)
  expect(mailsOf(await createPerson(email))).toHaveLength(1)
  expect(mailsOf(await createPerson('other@example.com'))).toEqual([])
})
