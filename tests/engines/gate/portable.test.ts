import { afterAll, expect, test } from 'bun:test'
import { personalData } from '../../../src/engines/gate/identities/personal-data-store.ts'
import { createStore } from '../../../src/engines/gate/store.ts'
import { mailsAbout } from '../../../src/platform/portable/personal-data.ts'
import { openSnapshot } from '../../../src/platform/portable/snapshot.ts'
import { exportOf, fileOf, importInto, type Line, ofKind } from '../../platform/portable/fixture.ts'
import { useApp } from '../../support/app.ts'
import { bootParty, IDENTITIES, type Json, MINUTE } from './fixture.ts'
import { asked } from './sign-in/flows/code-fixture.ts'
import { bootFlows } from './sign-in/flows/fixture.ts'

const fixture = await bootFlows()
afterAll(() => fixture.app.stop())
const { app, tenantId } = fixture
await fixture.security({ mfa_enabled: true })
const { session_token, identity } = await fixture.register('ada@example.com')
const secret = await fixture.enrol(session_token)
const PLACE = `gate_social_links/${tenantId}/github/g-1/tokens`
await app.db.commit(() =>
  createStore(app.db).socialLinks.insert({
    ...{ tenantId, provider: 'github', subject: 'g-1', identityId: identity.id },
    tokens: app.platform.sealing.seal('gate provider tokens', PLACE, '{"access":"t"}'),
    ...{ createdAt: 0, updatedAt: 0 },
  }),
)
const gone = await fixture.createIdentity()
await fixture.api.delete(`${IDENTITIES}/${gone.id}`)
const lines = exportOf(app, tenantId)

const home = await useApp()
const tenantsThere = () => home.platform.tenants.list().map(({ id }) => id)

async function expectRefused(next: Line[], message: string) {
  const before = tenantsThere()
  await expect(importInto(home, fileOf(next))).rejects.toThrow(message)
  expect(tenantsThere()).toEqual(before)
}

/** The export with a change in the first line of a kind, and of a type if given. */
function changed(kind: string, changes: object): Line[] {
  const next = structuredClone(lines)
  const [name, type] = kind.split(' ')
  const isFound = (line: Line) => line.kind === name && (!type || line.type === type)
  Object.assign(next.find(isFound) as Line, changes)
  return next
}

test('An export has hashes, and secrets in plain text', () => {
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

const at = '2026-03-01T12:00:00.000Z'
const DEAR = '$argon2id$v=19$m=99999999,t=9999,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA'

test.each<[string, object, string]>([
  ['address', { value: 'root@evil.com' }, 'address.value: '],
  ['address', { value: 'ROOT@Evil.COM <script>' }, 'address.value: '],
  ['address', { status: 'completed', verified_at: null }, 'address.verified_at: '],
  ['address', { status: 'sent', verified_at: at }, 'line 5: address.verified_at: '],
  ['identity', { session_generation: Number.MAX_SAFE_INTEGER }, 'identity.session_generation: '],
  ['identity', { token_generation: Number.MAX_SAFE_INTEGER }, 'identity.token_generation: '],
  ['identity', { metadata_public: { a: 'x'.repeat(70_000) } }, 'identity.metadata_public: '],
  ['identity', { schema_id: '../x' }, 'line 4: identity.schema_id: '],
  ['credential password', { config: { hashed_password: 'x' } }, 'credential.'],
  ['credential password', { config: { hashed_password: DEAR } }, 'credential.'],
  ['credential totp', { config: {} }, 'line 7: credential.config.secret: '],
  ['credential totp', { type: 'password' }, 'credential.config.hashed_password: '],
  ['social_link', { provider: 'myspace' }, 'line 8: social_link.provider: '],
  ['gate_settings', { policies: 'permit all' }, 'line 3: gate_settings.policies: line 1'],
  ['gate_settings', { password_min_length: 4 }, 'line 3: gate_settings.password_min_length: '],
  ['gate_settings', { session_idle_ms: 1000 }, 'line 3: gate_settings.session_idle_ms: '],
  ['gate_settings', { return_urls: ['javascript:1'] }, 'line 3: gate_settings.return_urls: '],
])('An import with the %s %j is refused', (kind, changes, message) =>
  expectRefused(changed(kind, changes), message),
)

test('An import without an address, or with an existing id as a deleted one, is refused', async () => {
  const other = await bootParty(home)
  const [bob, eve] = [await other.createIdentity(), await other.createIdentity()]
  await other.api.delete(`${IDENTITIES}/${eve.id}`)
  const without = lines.filter(({ kind }) => kind !== 'address')
  const missing = `line ${without.length}: address: must have one line for each identity`
  await expectRefused(without, missing)
  for (const { id } of [identity, bob])
    await expectRefused(
      changed('erased_identity', { identity_id: id }),
      'erased_identity.identity_id: is the id of an existing identity',
    )
  const revived = JSON.parse(JSON.stringify(lines).replaceAll(identity.id, eve.id))
  await expectRefused(revived, 'line 4: identity.id: is the id of a deleted identity')
  expect(await other.api.get(`${IDENTITIES}/${bob.id}`)).toMatchObject({ status: 200 })
})

test('An identity whose id is among the deleted ones can be deleted and erased', async () => {
  const other = await bootParty(home)
  const bob = await other.createIdentity()
  const { id } = await home.tenant('Older')
  const { client } = home.db
  client.query('insert into gate_erasures values (?, ?, ?, ?)').run(bob.id, id, 1, 2)
  expect(await other.api.delete(`${IDENTITIES}/${bob.id}`)).toMatchObject({ status: 204 })
  const owner = client.query('select tenant_id from gate_erasures where identity_id = ?')
  expect(owner.get(bob.id)).toEqual({ tenant_id: other.id })
  expect(await other.api.get(`${IDENTITIES}/${bob.id}`)).toMatchObject({ status: 404 })
})

test('An import brings ids of deleted identities, and tokens sealed with the new key', async () => {
  await importInto(home, fileOf(lines))
  const erased = ofKind(exportOf(home, tenantId), 'erased_identity')
  expect(erased).toEqual(ofKind(lines, 'erased_identity'))
  const { tokens } = home.db.client.query('select tokens from gate_social_links').get() as Line
  expect(tokens).not.toContain('access')
  const open = ({ platform }: typeof home) =>
    platform.sealing.open('gate provider tokens', PLACE, tokens)
  expect(open(home)).toBe('{"access":"t"}')
  expect(() => open(app)).toThrow()
})

test('Tokens that cannot be decrypted stop the export, which names the row', () => {
  app.db.client.run("update gate_social_links set subject = 'g-2'")
  expect(() => exportOf(app, tenantId)).toThrow(/^social_link: gate_social_links/)
})

// What an export of personal data contains.
const createPerson = (email: string) => fixture.createIdentity({ traits: { email } })

function flowsAbout({ id }: Json): string[] {
  using snapshot = openSnapshot(app.db)
  return personalData(snapshot, tenantId, id)?.flows.map((flow) => flow.id) ?? []
}

function mailsOf({ id, traits }: Json) {
  using snapshot = openSnapshot(app.db)
  return mailsAbout(snapshot, tenantId, id, traits.email)
}

/** The id of the flow that only the link in the mail leads to. */
const BY_LINK = expect.any(String)

test('A flow belongs to the identity that its code is for, whatever its address', async () => {
  const [bob, eve] = [await createPerson('his@example.com'), await createPerson('hers@example.com')]
  const flow = await asked(fixture, 'recovery', 'hers@example.com')
  app.db.client.run("update gate_flows set address = 'his@example.com' where id = ?", [flow.id])
  expect(flowsAbout(bob)).toEqual([])
  expect(flowsAbout(eve)).toEqual([flow.id, BY_LINK])
})

test('Flows and mails stay with the identity that had the address at the time', async () => {
  const email = 'shared@example.com'
  const ada = await createPerson(email)
  const before = await asked(fixture, 'recovery', email)
  expect(flowsAbout(ada)).toEqual([before.id, BY_LINK])

  await fixture.clock.advance(MINUTE)
  const moved = { op: 'replace', path: '/traits/email', value: 'moved@example.com' }
  await fixture.patch(ada, [moved])
  const bob = await createPerson(email)
  expect(flowsAbout(bob)).toEqual([])
  expect(mailsOf(bob)).toEqual([])
  expect(mailsOf(ada).length).toBeGreaterThan(0)
  const after = await asked(fixture, 'recovery', email)
  expect(flowsAbout(bob)).toEqual([after.id, BY_LINK])
  expect(flowsAbout(ada)).toEqual([])
})

test('A flow that ended in a registration belongs to the new identity', async () => {
  await fixture.security({ passwordless_enabled: true })
  const traits = { email: 'new@example.com' }
  const flow = await fixture.start('registration')
  await fixture.send(flow, { method: 'code', traits })
  await fixture.clock.advance(MINUTE)
  const code = fixture.codeFor(traits.email)
  const { identity } = await fixture.sendWell(flow, { method: 'code', traits, code })
  expect(flowsAbout(identity)).toContain(flow.id)
})

test('A mail from before the identity was created belongs to it by the address', async () => {
  const email = 'early@example.com'
  await asked(fixture, 'recovery', email)
  expect(mailsOf(await createPerson(email))).toHaveLength(1)
  expect(mailsOf(await createPerson('other@example.com'))).toEqual([])
})
