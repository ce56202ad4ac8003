import { expect, test } from 'bun:test'
import { createStore } from '../../../../../src/engines/gate/store.ts'
import { bootGate } from '../../fixture.ts'

test('Connected accounts are found and removed within their tenant', async () => {
  await using gate = await bootGate()
  const { socialLinks } = createStore(gate.app.db)
  const tenantId = gate.acme.id
  const other = (await gate.app.tenant()).id
  const { id: identityId } = await gate.createIdentity()
  const times = { createdAt: 1, updatedAt: 1 }
  const link = (provider: 'github' | 'google') =>
    socialLinks.insert({ tenantId, provider, subject: '42', identityId, tokens: null, ...times })
  const providers = () => socialLinks.of(tenantId, identityId).map(({ provider }) => provider)

  await gate.app.db.commit(() => {
    link('google')
    link('github')
    expect(socialLinks.find(other, 'github', '42')).toBeUndefined()
    expect(socialLinks.find(tenantId, 'github', '42')?.identityId).toBe(identityId)
    expect(socialLinks.of(other, identityId)).toEqual([])
    socialLinks.removeProvider(other, identityId, 'github')
    socialLinks.removeAll(other, identityId)
    expect(providers()).toEqual(['github', 'google'])
    socialLinks.removeProvider(tenantId, identityId, 'github')
    expect(providers()).toEqual(['google'])
    socialLinks.removeAll(tenantId, identityId)
    expect(providers()).toEqual([])
  })
})
