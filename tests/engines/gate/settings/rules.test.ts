import { expect, test } from 'bun:test'
import {
  auditOf,
  bodyOf,
  HOUR,
  type Json,
  MINUTE,
  personPath,
  plain,
  SETTINGS,
  type Tenant,
  useGate,
} from '../fixture.ts'
import { flowParty, messageIds, PASSWORD } from '../sign-in/flows/fixture.ts'

const gate = await useGate({ flags: { 'gate-session-lifetime': '12h' } })

const SESSIONS = `${SETTINGS}/sessions`
const PASSWORDS = `${SETTINGS}/passwords`
const AS_IT_COMES = {
  lifetime_seconds: null,
  idle_timeout_seconds: null,
  installation_lifetime_seconds: 43_200,
}

const put = ({ api }: Pick<Tenant, 'api'>, path: string, body: Json): Promise<Json> =>
  bodyOf(api.put(path, body))
const isActive = async ({ token }: Json): Promise<boolean> =>
  (await gate.whoami(token)).status === 200
const lifetimeOf = ({ session }: Json): number =>
  Date.parse(session.expires_at) - Date.parse(session.issued_at)

test('Session rules change field by field, within those of the installation', async () => {
  const acme = await gate.newTenant()
  expect(await bodyOf(acme.api.get(SESSIONS))).toEqual(AS_IT_COMES)
  for (const [body, expected] of [
    [{ lifetime_seconds: 3600 }, { lifetime_seconds: 3600 }],
    [{ idle_timeout_seconds: 300 }, { lifetime_seconds: 3600, idle_timeout_seconds: 300 }],
    [{ lifetime_seconds: 43_200 }, { lifetime_seconds: 43_200, idle_timeout_seconds: 300 }],
    [{ lifetime_seconds: null, idle_timeout_seconds: null }, {}],
  ]) {
    const changed = await put(acme, SESSIONS, body)
    expect(changed).toEqual({ ...AS_IT_COMES, ...expected })
    expect(await bodyOf(acme.api.get(SESSIONS))).toEqual(changed)
  }
  for (const field of ['lifetime_seconds', 'idle_timeout_seconds'])
    for (const value of [299, 0, 300.5, '3600', 1e12])
      expect(await acme.api.put(SESSIONS, { [field]: value })).toMatchObject(plain(400, field))
  const long = await acme.api.put(SESSIONS, { lifetime_seconds: 43_201 })
  expect(long).toMatchObject(plain(400, 'between 300 and 43200 seconds (5m to 12h)'))
  const [{ action, detail }] = auditOf(gate.app, `tenant:${acme.id}`).slice(-1)
  expect([action, detail]).toEqual([
    'session_rules.changed',
    { lifetime_seconds: null, idle_timeout_seconds: null },
  ])
})

test('A lifetime applies to new sessions of its tenant', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const person = await acme.createIdentity()
  const before = await acme.openSession(person)
  await put(acme, SESSIONS, { lifetime_seconds: 3600 })
  const after = await acme.openSession(person)
  const elsewhere = await other.openSession(await other.createIdentity())
  expect([before, after, elsewhere].map(lifetimeOf)).toEqual([12 * HOUR, HOUR, 12 * HOUR])
})

test('A session that is not used ends after the idle timeout, and each use prolongs it', async () => {
  const acme = await gate.newTenant()
  const person = await acme.createIdentity()
  const old = await acme.openSession(person)
  gate.clock.jump(2 * HOUR)
  await put(acme, SESSIONS, { idle_timeout_seconds: 600 })
  // Sessions from before count as used when the timeout is set.
  const used = await acme.openSession(person)
  for (let n = 0; n < 4; n++) {
    gate.clock.jump(4 * MINUTE)
    if (n < 2) expect(await isActive(old)).toBe(true)
    expect(await isActive(used)).toBe(true)
    await gate.app.db.commit(() => {})
  }
  gate.clock.jump(3 * MINUTE)
  expect(await isActive(old)).toBe(false)
  const listed = await bodyOf(acme.api.get(personPath(person, '/sessions')))
  expect(listed.map(({ id }: Json) => id)).toEqual([used.session.id])
  gate.clock.jump(7 * MINUTE)
  expect(await isActive(used)).toBe(false)
})

test('A minimum length applies to passwords that users choose, not to those of the API', async () => {
  const acme = await flowParty(gate.app)
  const rules = (min_length: number | null) => ({ min_length, installation_min_length: 8 })
  expect(await put(acme, PASSWORDS, { min_length: 24 })).toEqual(rules(24))
  for (const min_length of [7, 129, 8.5, '12'])
    expect(await acme.api.put(PASSWORDS, { min_length })).toMatchObject(plain(400, 'min_length'))
  const flow = await acme.start('registration')
  const fields = { method: 'password', traits: { email: 'ada@example.com' }, password: PASSWORD }
  const short = await acme.send(flow, fields)
  expect([short.status, messageIds(short.body)]).toEqual([422, ['password:4000032']])
  await acme.createIdentity({ credentials: { password: { config: { password: PASSWORD } } } })
  expect(await put(acme, PASSWORDS, { min_length: null })).toEqual(rules(null))
  expect(await acme.send(flow, fields)).toMatchObject({ status: 200 })
})
