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

describe('people', () => {
  test('are in the file with what they sign in with: hashes, and secrets in clear', () => {
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
  const wrong: [string, (all: Line[]) => Line, object, string][] = [
    [
      'a password in clear',
      of('credential', 'password'),
      { config: { password: 'x' } },
      'credential.config.hashed_password: ',
    ],
    [
      'a hash that is none',
      of('credential', 'password'),
      { config: { hashed_password: 'x' } },
      'credential.credentials.password.config.hashed_password: ',
    ],
    [
      'a hash that takes for ever',
      of('credential', 'password'),
      {
        config: {
          hashed_password:
            '$argon2id$v=19$m=99999999,t=9999,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA',
        },
      },
      'credential.credentials.password.config.hashed_password: ',
    ],
    [
      'an authenticator without its secret',
      of('credential', 'totp'),
      { config: {} },
      'line 7: credential.config.secret: is not valid: expected required property',
    ],
    [
      'the secret of another kind',
      of('credential', 'totp'),
      { type: 'password' },
      'credential.config.hashed_password: ',
    ],
    [
      'a provider that there is not',
      of('social_link'),
      { provider: 'myspace' },
      'line 8: social_link.provider: is not a known provider',
    ],
    [
      'policies that are none',
      of('gate_settings'),
      { policies: 'permit everything' },
      'line 3: gate_settings.policies: line 1, column 8: unexpected token `everything`, expected `(`',
    ],
    [
      'a way back to a script',
      of('gate_settings'),
      { return_urls: ['javascript:1'] },
      'line 3: gate_settings.return_urls: must be an http or https URL',
    ],
    [
      'metadata that is a list',
      of('identity'),
      { metadata_public: [] },
      'identity.metadata_public: ',
    ],
    [
      'metadata that is too large',
      of('identity'),
      { metadata_public: { a: 'x'.repeat(70_000) } },
      'identity.metadata_public: ',
    ],
    [
      'a schema in a path',
      of('identity'),
      { schema_id: '../x' },
      'line 4: identity.schema_id: is not a known schema',
    ],
  ]
  test.each(wrong)('are refused with %s', async (_, find, changes, message) => {
    const next = structuredClone(lines)
    Object.assign(find(next), changes)
    await expect(importInto(home, fileOf(next))).rejects.toThrow(message)
  })

  test('bring the tokens of accounts elsewhere, sealed for their new home', async () => {
    await importInto(home, fileOf(lines))
    const { tenant } = lines[0]
    const { tokens } = home.db.client.query('select tokens from gate_social_links').get() as Line
    const place = `gate_social_links/${tenant}/github/g-1/tokens`
    expect(tokens).not.toContain('access')
    expect(home.platform.sealing.open('gate provider tokens', place, tokens)).toBe('{"access":"t"}')
    expect(() => fixture.app.platform.sealing.open('gate provider tokens', place, tokens)).toThrow()
  })

  test('who cannot be opened any more stop the export, which says who', async () => {
    fixture.app.db.client.run("update gate_social_links set subject = 'g-2'")
    expect(() => exportOf(fixture.app, fixture.acme.id)).toThrow(/^social_link: gate_social_links/)
  })
})
