import { expect, test } from 'bun:test'
import { personalData } from '../../../../src/engines/gate/identities/personal-data-store.ts'
import { mailsAbout } from '../../../../src/platform/portable/personal-data.ts'
import { openSnapshot } from '../../../../src/platform/portable/snapshot.ts'
import { type Json, MINUTE } from '../fixture.ts'
import { asked } from '../sign-in/flows/code-fixture.ts'
import { bootFlows } from '../sign-in/flows/fixture.ts'

// Flows and mails that an export of personal data contains.

/** The id of the flow that only the link in the mail leads to. */
const BY_LINK = expect.any(String)

async function bootExport() {
  const fixture = await bootFlows()
  const { app, tenantId } = fixture
  return {
    ...fixture,
    person: (email: string) => fixture.createIdentity({ traits: { email } }),
    moveTo: (person: Json, value: string) =>
      fixture.patch(person, [{ op: 'replace', path: '/traits/email', value }]),
    setFlowAddress: ({ id }: Json, address: string) =>
      app.db.client.run('update gate_flows set address = ? where id = ?', [address, id]),
    flowsOf: ({ id }: Json) => {
      using snapshot = openSnapshot(app.db)
      return personalData(snapshot, tenantId, id)?.flows.map((flow) => flow.id) ?? []
    },
    mailsOf: ({ id, traits }: Json) => {
      using snapshot = openSnapshot(app.db)
      return mailsAbout(snapshot, tenantId, id, traits.email)
    },
  }
}

test('A flow belongs to the identity that its code is for, whatever its address', async () => {
  await using fixture = await bootExport()
  const [bob, eve] = [
    await fixture.person('his@example.com'),
    await fixture.person('hers@example.com'),
  ]
  const flow = await asked(fixture, 'recovery', 'hers@example.com')
  fixture.setFlowAddress(flow, 'his@example.com')
  expect(fixture.flowsOf(bob)).toEqual([])
  expect(fixture.flowsOf(eve)).toEqual([flow.id, BY_LINK])
})

test('Flows and mails stay with the identity that had the address at the time', async () => {
  await using fixture = await bootExport()
  const email = 'shared@example.com'
  const ada = await fixture.person(email)
  const before = await asked(fixture, 'recovery', email)
  expect(fixture.flowsOf(ada)).toEqual([before.id, BY_LINK])

  await fixture.clock.advance(MINUTE)
  await fixture.moveTo(ada, 'moved@example.com')
  const bob = await fixture.person(email)
  expect(fixture.flowsOf(bob)).toEqual([])
  expect(fixture.mailsOf(bob)).toEqual([])
  expect(fixture.mailsOf(ada).length).toBeGreaterThan(0)
  const after = await asked(fixture, 'recovery', email)
  expect(fixture.flowsOf(bob)).toEqual([after.id, BY_LINK])
  expect(fixture.flowsOf(ada)).toEqual([])
})

test('A flow that ended in a registration belongs to the new identity', async () => {
  await using fixture = await bootExport()
  await fixture.security({ passwordless_enabled: true })
  const traits = { email: 'new@example.com' }
  const flow = await fixture.start('registration')
  await fixture.send(flow, { method: 'code', traits })
  await fixture.clock.advance(MINUTE)
  const code = fixture.codeFor(traits.email)
  const { identity } = await fixture.sendWell(flow, { method: 'code', traits, code })
  expect(fixture.flowsOf(identity)).toContain(flow.id)
})

test('A mail from before the identity was created belongs to it by the address', async () => {
  await using fixture = await bootExport()
  const email = 'early@example.com'
  await asked(fixture, 'recovery', email)
  expect(fixture.mailsOf(await fixture.person(email))).toHaveLength(1)
  expect(fixture.mailsOf(await fixture.person('other@example.com'))).toEqual([])
})
