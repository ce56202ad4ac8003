import { expect, test } from 'bun:test'
import { SIGN_INS_KEPT } from '../../../../src/engines/gate/limits.ts'
import { type Json, rowsOf, useGate } from '../fixture.ts'
import { type Flows, flowParty, PASSWORD, UNHURRIED } from '../sign-in/flows/fixture.ts'

const gate = await useGate({ flags: UNHURRIED })

const ADA = 'ada@example.com'

/** Failures are stored after their answer. */
async function listOf(id: string) {
  const tenantId = rowsOf(gate.app, 'gate_identities').find((row: Json) => row.id === id).tenant_id
  await gate.app.db.commitFor(tenantId, () => {})
  const caller = { tenantId } as Parameters<typeof gate.app.gate.signIns.list>[0]
  return gate.app.gate.signIns.list(caller, id, { limit: 1000 }).data
}

async function withAda(): Promise<Pick<Flows, 'tryPassword' | 'setState'> & { id: string }> {
  const acme = await flowParty(gate.app)
  const { session } = await acme.register(ADA)
  return { ...acme, id: session.identity.id }
}

test('Sign-ins and failures of an account are kept with method and reason, newest first', async () => {
  const { tryPassword, setState, id } = await withAda()
  await tryPassword(ADA, 'wrong horse battery')
  await tryPassword('nobody@example.com')
  await tryPassword(ADA)
  await setState({ id }, 'inactive')
  await tryPassword(ADA)
  expect((await listOf(id)).map(({ method, reason }) => [method, reason])).toEqual([
    ['password', 'inactive'],
    ['password', null],
    ['password', 'wrong'],
    ['password', null],
  ])
  expect(rowsOf(gate.app, 'gate_sign_ins')).toHaveLength(4)
})

test('Failures push out older failures, but no sign-ins', async () => {
  const { id } = await withAda()
  const { tenant_id: tenantId } = rowsOf(gate.app, 'gate_identities').find(
    (row: Json) => row.id === id,
  )
  const attempt = { method: 'password', ipAddress: '192.0.2.7', userAgent: null }
  for (let n = 0; n < SIGN_INS_KEPT + 5; n++)
    gate.app.gate.signIns.failed({ tenantId, id }, attempt, 'wrong')
  const kept = await listOf(id)
  expect(kept).toHaveLength(SIGN_INS_KEPT + 1)
  expect(kept.at(-1)).toMatchObject({ isSuccess: true, method: 'password' })
})

test('A deleted account leaves no sign-ins', async () => {
  const { tryPassword, id, ...acme } = await withAda()
  await (acme as unknown as Flows).api.delete(`/v1/gate/identities/${id}`)
  await tryPassword(ADA, PASSWORD)
  expect(rowsOf(gate.app, 'gate_sign_ins').filter((row: Json) => row.identity_id === id)).toEqual(
    [],
  )
})
