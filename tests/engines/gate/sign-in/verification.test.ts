import { expect, spyOn, test } from 'bun:test'
import { ACTOR, auditOf, ID, type Json, MINUTE, personPath, rowsOf, SECOND } from '../fixture.ts'
import { ADA } from './flows/acts.ts'
import { isoAt } from './flows/checked.ts'
import { type Tenant, useFlows } from './flows/code-fixture.ts'

const BASE = 'https://id.example.com/gate'
const flows = await useFlows({
  flags: { 'gate-flow-lifetime': '10m', 'gate-code-lifetime': '5m', 'server-base-url': BASE },
})
const { clock, app } = flows

const resend = ({ api }: Tenant, person: Json) =>
  api.post(personPath(person, '/resend-verification'))

async function sent(from: Tenant, person: Json): Promise<Json> {
  const answer = await resend(from, person)
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.flow
}

/** A tenant, and a person whose address is not verified. */
async function newPerson(fields: Json = {}) {
  const acme = await flows.newTenant(undefined, 'Globex')
  return { acme, person: await acme.unproven(ADA, fields) }
}

/** The stored code and link secret of each flow of a person. */
const codesOf = ({ id }: Json): Json[] =>
  rowsOf(app, 'gate_codes').filter(({ identity_id }) => identity_id === id)

test('A resend emails a code that lasts as long as its flow, and a link to another flow', async () => {
  const { acme, person } = await newPerson()
  await using hooks = await acme.listening()
  const { status, body } = await resend(acme, person)
  const expiresAt = clock.now() + 10 * MINUTE
  const flow = { id: ID, expires_at: isoAt(expiresAt) }
  expect({ status, body }).toEqual({ status: 202, body: { flow } })
  const [mail, ...others] = acme.mailsTo(ADA)
  expect(others).toEqual([])
  const subject = 'Verify your email address for Globex'
  const about = { tenantId: acme.tenantId, about: person.id, kind: 'resend', recipient: ADA }
  expect(mail).toMatchObject({ ...about, subject, expiresAt })
  const [code, link] = [acme.codeFor(ADA), acme.linkFor(ADA)]
  expect(link).toStartWith(`${BASE}/auth/self-service/verification?flow=`)
  expect(link).toMatch(/=[\w-]{36}&code=\w{43}$/)
  expect(link).not.toContain(body.flow.id)
  expect(mail?.body?.text).toContain('in 10 minutes.')
  for (const shown of [code, link.replaceAll('&', '&amp;')])
    expect(mail?.body?.html).toContain(shown)

  // Only hashes are stored, nothing is logged, and no event is sent.
  expect(codesOf(person)).toMatchObject([{ expires_at: expiresAt }, { expires_at: expiresAt }])
  expect(codesOf(person)[0]?.hash).toMatch(/^[0-9a-f]{64}$/)
  expect(app.log.filter((line) => line.includes(code))).toEqual([])
  const byKey = { actor_kind: 'key', actor_id: acme.keyId, detail: {} }
  const noted = auditOf(app, `identity:${person.id}`).slice(1)
  expect(noted).toEqual([{ action: 'verification.sent', ...byKey }])
  expect(await hooks.events()).toEqual([])
})

test('A resend goes to the current address', async () => {
  const { acme, person } = await newPerson()
  await sent(acme, person)
  const value = 'moved@example.com'
  await acme.patch(person, [{ op: 'replace', path: '/traits/email', value }])
  expect(codesOf(person)).toEqual([])
  const { id: flow_id } = await sent(acme, person)
  expect(codesOf(person)).toMatchObject([{ flow_id, address: value }, { address: value }])
  expect(await acme.addressOf(person)).toMatchObject({ value, status: 'sent' })
})

test.each<[Json, string]>([
  [{ isProven: true }, 'the address is already verified'],
  [{ state: 'inactive' }, 'the identity is inactive'],
])('A resend is refused for a person with %j', async (fields, error) => {
  const { acme, person } = await newPerson(fields)
  expect(await resend(acme, person)).toMatchObject({ status: 400, body: { error } })
  expect([acme.mailsTo(ADA), codesOf(person)]).toEqual([[], []])
  expect(await acme.readIdentity(person)).toEqual(person)
})

test('An address gets an email every 30 seconds at most', async () => {
  const { acme, person } = await newPerson()
  const answers = await Promise.all([1, 2, 3].map(() => resend(acme, person)))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429])
  const codes = codesOf(person)
  expect([acme.mailsTo(ADA).length, codes.length]).toEqual([1, 2])
  clock.jump(10 * SECOND)
  const soon = await resend(acme, person)
  const error = 'too many emails to this address; try again later'
  expect(soon).toMatchObject({ status: 429, body: { error } })
  expect(soon.headers.get('retry-after')).toBe('20')
  expect(codesOf(person)).toEqual(codes)
  clock.jump(20 * SECOND)
  await sent(acme, person)
})

test('Emails that the tenant requests state the whole lifetime, though the clock goes on meanwhile', async () => {
  const { acme, person } = await newPerson()
  const { now } = clock
  let reads = 0
  using _ = spyOn(clock, 'now').mockImplementation(() => now() + reads++)
  await sent(acme, person)
  const caller = { tenantId: acme.tenantId, actor: ACTOR, environment: 'live' } as never
  await app.gate.recoveryMails.send(caller, person.id)
  const mails = acme.sentTo(ADA)
  expect(mails.map((mail) => mail?.kind)).toEqual(['recovery_by_hand', 'resend'])
  for (const mail of mails) expect(mail?.body?.text).toContain('in 10 minutes.')
})
