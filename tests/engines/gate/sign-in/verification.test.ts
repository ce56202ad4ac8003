import { expect, spyOn, test } from 'bun:test'
import { dirname } from 'node:path'
import { openMail } from '../../../platform/mail/support.ts'
import { startMailServer } from '../../../support/mail-server.ts'
import {
  ACTOR,
  auditOf,
  DAY,
  HOUR,
  ID,
  type Json,
  MINUTE,
  personPath,
  rowsOf,
  SECOND,
  tablesWith,
} from '../fixture.ts'
import { ADA, BOB } from './flows/acts.ts'
import { isoAt } from './flows/checked.ts'
import { type Tenant, useFlows } from './flows/code-fixture.ts'

const flows = await useFlows()
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

const LINK = /^https?:\S+$/m

/** The stored code and link secret of each flow of a person. */
const codesOf = ({ id }: Json): Json[] =>
  rowsOf(app, 'gate_codes').filter(({ identity_id }) => identity_id === id)

test('A resend emails a code for a flow of an hour, and a link to another flow', async () => {
  const { acme, person } = await newPerson()
  await using hooks = await acme.listening()
  const { status, body } = await resend(acme, person)
  const expiresAt = clock.now() + HOUR
  const flow = { id: ID, expires_at: isoAt(expiresAt) }
  expect({ status, body }).toEqual({ status: 202, body: { flow } })
  const [mail, ...others] = acme.mailsTo(ADA)
  expect(others).toEqual([])
  const subject = 'Verify your email address for Globex'
  const about = { tenantId: acme.tenantId, about: person.id, kind: 'resend', recipient: ADA }
  expect(mail).toMatchObject({ ...about, subject, expiresAt })
  const code = acme.codeFor(ADA)
  const link = LINK.exec(mail?.body?.text ?? '')?.[0] ?? ''
  expect(link).toMatch(
    /^http:\/\/127\.0\.0\.1:8420\/auth\/self-service\/verification\?flow=[\w-]{36}&code=\w{43}$/,
  )
  expect(link).not.toContain(body.flow.id)
  expect(mail?.body?.text).toContain('in 1 hour.')
  for (const shown of [code, link.replaceAll('&', '&amp;')])
    expect(mail?.body?.html).toContain(shown)

  // Neither code nor address is stored or logged in plain text, and no event is sent.
  expect(codesOf(person)[0]?.hash).toMatch(/^[0-9a-f]{64}$/)
  expect(tablesWith(app, `code=${code}`)).toEqual({})
  expect(app.log.filter((line) => line.includes(code))).toEqual([])
  const byKey = { actor_kind: 'key', actor_id: acme.keyId, detail: {} }
  const noted = auditOf(app, `identity:${person.id}`).slice(1)
  expect(noted).toEqual([{ action: 'verification.sent', ...byKey }])
  expect(await hooks.events()).toEqual([])
})

test('A resend ends earlier codes of this person only, and goes to the current address', async () => {
  const { acme, person } = await newPerson()
  const bob = await acme.unproven(BOB)
  await sent(acme, bob)
  await sent(acme, person)
  const [[first], bobs] = [codesOf(person), codesOf(bob)]
  clock.jump(30 * SECOND)
  const { id: flow_id } = await sent(acme, person)
  const codes = codesOf(person)
  expect(codes).toMatchObject([{ flow_id, address: ADA }, { address: ADA }])
  expect(codes[0].hash).not.toBe(first.hash)
  expect(codesOf(bob)).toEqual(bobs)

  const value = 'moved@example.com'
  await acme.patch(person, [{ op: 'replace', path: '/traits/email', value }])
  expect(codesOf(person)).toEqual([])
  await sent(acme, person)
  expect(acme.mailsTo(value)).toHaveLength(1)
  expect(codesOf(person)).toMatchObject([{ address: value }, { address: value }])
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

test('Emails to an address are sent every 30 seconds, and five times in an hour, at most', async () => {
  const { acme, person } = await newPerson()
  const answers = await Promise.all(Array.from({ length: 3 }, () => resend(acme, person)))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429])
  const codes = codesOf(person)
  expect([acme.mailsTo(ADA).length, codes.length]).toEqual([1, 2])
  clock.jump(10 * SECOND)
  const soon = await resend(acme, person)
  const error = 'too many emails to this address; try again later'
  expect(soon).toMatchObject({ status: 429, body: { error } })
  expect(soon.headers.get('retry-after')).toBe('20')
  expect(codesOf(person)).toEqual(codes)
  clock.jump(20 * SECOND - 1)
  expect(await resend(acme, person)).toMatchObject({ status: 429 })
  clock.jump(1)
  for (let n = 1; n < 5; n++) {
    await sent(acme, person)
    clock.jump(MINUTE)
  }
  const fifth = await resend(acme, person)
  expect(fifth).toMatchObject({ status: 429 })
  expect(fifth.headers.get('retry-after')).toBe(`${60 * 60 - 30 - 4 * 60}`)
  clock.jump(HOUR - 30 * SECOND - 4 * MINUTE)
  await sent(acme, person)
})

test('Mails that the tenant orders state the whole hour, though the clock goes on meanwhile', async () => {
  const { acme, person } = await newPerson()
  const { now } = clock
  let reads = 0
  using _ = spyOn(clock, 'now').mockImplementation(() => now() + reads++)
  await sent(acme, person)
  const caller = { tenantId: acme.tenantId, actor: ACTOR, environment: 'live' } as never
  await app.gate.recoveryMails.send(caller, person.id)
  const mails = acme.sentTo(ADA)
  expect(mails.map((mail) => mail?.kind)).toEqual(['recovery_by_hand', 'resend'])
  for (const mail of mails) expect(mail?.body?.text).toContain('in 1 hour.')
})

// Has settings of its own, sweeps all tenants, and hands its outbox to another process.
test('Flow lifetime, link and delivery follow the settings', async () => {
  const own = await useFlows({
    flags: {
      'gate-flow-lifetime': '10m',
      'gate-code-lifetime': '5m',
      'server-base-url': 'https://id.example.com/gate',
    },
  })
  const acme = await own.newTenant(undefined, 'Globex')
  const flow = await sent(acme, await acme.unproven(ADA))
  const expiresAt = own.clock.now() + 10 * MINUTE
  expect(flow.expires_at).toBe(isoAt(expiresAt))
  const [mail] = acme.mailsTo(ADA)
  expect(mail).toMatchObject({ state: 'kept', expiresAt })
  expect(mail?.body?.text).toContain('in 10 minutes')
  const expires_at = expiresAt
  const rows = () => rowsOf(own.app, 'gate_codes')
  expect(rows()).toMatchObject([{ expires_at }, { expires_at }])

  await using server = await startMailServer()
  const dataDir = dirname(own.app.db.file)
  const start = isoAt(own.clock.now() + MINUTE)
  await using _ = await openMail({ dataDir, smtpUrl: server.url, start, pid: 2 })
  const { to, parsed } = server.received[0] as Json
  expect([to, parsed.subject]).toEqual([[ADA], 'Verify your email address for Globex'])
  const code = /^ {4}(\d{6})$/m.exec(parsed.text)?.[1] ?? 'none'
  expect(parsed.html).toContain(code)
  const link = new URL(LINK.exec(parsed.text)?.[0] ?? '')
  const address = 'https://id.example.com/gate/auth/self-service/verification'
  expect(link.origin + link.pathname).toBe(address)
  expect([...link.searchParams.keys()]).toEqual(['flow', 'code'])
  expect(acme.mailsTo(ADA)).toMatchObject([{ state: 'sent', body: null }])

  const { sweep } = own.app.platform.retention
  const counts = () => [rowsOf(own.app, 'gate_flows').length, rows().length]
  own.clock.jump(10 * MINUTE + DAY)
  await sweep()
  expect(counts()).toEqual([2, 2])
  own.clock.jump(1)
  await sweep()
  expect(counts()).toEqual([0, 0])
})
