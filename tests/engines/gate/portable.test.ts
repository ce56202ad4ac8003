import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/gate/store.ts'
import { exportOf, fileOf, importInto, type Line, ofKind } from '../../platform/portable/fixture.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { bootFlows, type FlowFixture } from './sign-in/flows/fixture.ts'

let fixture: FlowFixture
let home: TestApp
let lines: Line[]
let secret: string
beforeAll(async () => {
  fixture = await bootFlows()
  home = await bootTestApp()
  await fixture.security({ mfa_enabled: true })
  const { session_token, identity } = await fixture.register('ada@example.com')
  secret = await fixture.enrol(session_token)
  const { app, tenantId } = { ...fixture, tenantId: fixture.acme.id }
  const place = `gate_social_links/${tenantId}/github/g-1/tokens`
  const tokens = app.platform.sealing.seal('gate provider tokens', place, '{"access":"t"}')
  const link = { tenantId, provider: 'github', subject: 'g-1', identityId: identity.id } as const
  await app.db.commit(() =>
    createStore(app.db).socialLinks.insert({ ...link, tokens, createdAt: 0, updatedAt: 0 }),
  )
  const gone = await fixture.createIdentity()
  await fixture.api.delete(`/v1/gate/identities/${gone.id}`)
  lines = exportOf(app, tenantId)
})
afterAll(async () => {
  await fixture.app.stop()
  await home.stop()
})

describe('Exported identities', () => {
  test('include hashes, and secrets in plain text', () => {
    const [password, totp] = ofKind(lines, 'credential')
    expect(password.config.hashed_password).toStartWith('$argon2id$')
    expect(totp.config.secret).toBe(secret)
    expect(ofKind(lines, 'social_link')).toMatchObject([
      { provider: 'github', subject: 'g-1', tokens: { access: 't' } },
    ])
    expect(ofKind(lines, 'erased_identity')).toHaveLength(1)
    for (const kind of ['session', 'flow', 'code', 'decision'])
      expect(ofKind(lines, kind)).toEqual([])
  })

  const of = (kind: string, type?: string) => (all: Line[]) =>
    all.find((line) => line.kind === kind && (type === undefined || line.type === type))
  const DEAR = '$argon2id$v=19$m=99999999,t=9999,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA'
  test.each<[(all: Line[]) => Line, object, string]>([
    [of('credential', 'password'), { config: { password: 'x' } }, 'credential.config'],
    [of('credential', 'password'), { config: { hashed_password: 'x' } }, 'credential.'],
    [of('credential', 'password'), { config: { hashed_password: DEAR } }, 'credential.'],
    [of('credential', 'totp'), { config: {} }, 'line 7: credential.config.secret: '],
    [of('credential', 'totp'), { type: 'password' }, 'credential.config.hashed_password: '],
    [of('social_link'), { provider: 'myspace' }, 'line 8: social_link.provider: '],
    [of('gate_settings'), { policies: 'permit all' }, 'line 3: gate_settings.policies: line 1'],
    [of('gate_settings'), { return_urls: ['javascript:1'] }, 'line 3: gate_settings.return_urls: '],
    [of('identity'), { metadata_public: [] }, 'identity.metadata_public: '],
    [of('identity'), { metadata_public: { a: 'x'.repeat(70_000) } }, 'identity.metadata_public: '],
    [of('identity'), { schema_id: '../x' }, 'line 4: identity.schema_id: '],
  ])('are refused if invalid: %# %j', async (find, changes, message) => {
    const next = structuredClone(lines)
    Object.assign(find(next), changes)
    await expect(importInto(home, fileOf(next))).rejects.toThrow(message)
  })

  test('bring the tokens of social logins, sealed with the new key', async () => {
    await importInto(home, fileOf(lines))
    const { tenant } = lines[0]
    const { tokens } = home.db.client.query('select tokens from gate_social_links').get() as Line
    const place = `gate_social_links/${tenant}/github/g-1/tokens`
    expect(tokens).not.toContain('access')
    expect(home.platform.sealing.open('gate provider tokens', place, tokens)).toBe('{"access":"t"}')
    expect(() => fixture.app.platform.sealing.open('gate provider tokens', place, tokens)).toThrow()
  })

  test('that cannot be decrypted stop the export, which names the row', async () => {
    fixture.app.db.client.run("update gate_social_links set subject = 'g-2'")
    expect(() => exportOf(fixture.app, fixture.acme.id)).toThrow(/^social_link: gate_social_links/)
  })
})
