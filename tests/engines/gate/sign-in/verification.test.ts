import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { openMail } from '../../../platform/mail/support.ts'
import { startMailServer } from '../../../support/mail-server.ts'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import { DAY, HOUR, type Json, MINUTE, SECOND } from '../fixture.ts'
import { auditOf, ID, personPath, rowsOf, tablesWith, told } from '../identities/people.ts'
import { ADA, BOB } from './flows/acts.ts'
import { isoAt, type Tenant, useFlows } from './flows/code-fixture.ts'

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
async function newPerson(name?: string) {
  const acme = await flows.newTenant(undefined, name)
  return { acme, person: await acme.createIdentity({ traits: { email: ADA } }) }
}

const LINK = /^https?:\S+$/m

/** The stored code and link secret of each flow of a person. */
const codesOf = ({ id }: Json): Json[] =>
  rowsOf(app, 'gate_codes').filter(({ identity_id }) => identity_id === id)

describe('a resend', () => {
  test('emails a code for a flow of an hour, and a link to another flow', async () => {
    const { acme, person } = await newPerson('Globex')
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
  })

  test('shows that the address was written to', async () => {
    const { acme, person } = await newPerson()
    clock.jump(MINUTE)
    await sent(acme, person)
    const read = await acme.readIdentity(person)
    const [before] = person.verifiable_addresses
    const updated_at = isoAt(clock.now())
    const address = { ...before, status: 'sent', verified: false, updated_at }
    expect(read.verifiable_addresses).toEqual([address])
    expect(read.updated_at).toBe(person.updated_at)
  })

  test('stores a hash of the code, and logs nothing of it', async () => {
    const { acme, person } = await newPerson()
    await sent(acme, person)
    const code = acme.codeFor(ADA)
    const [row] = codesOf(person)
    expect(row.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(tablesWith(app, `code=${code}`)).toEqual({})
    expect(app.log.filter((line) => line.includes(code))).toEqual([])
  })

  test('ends earlier codes of the person, and of nobody else', async () => {
    const { acme, person } = await newPerson()
    const bob = await acme.createIdentity({ traits: { email: BOB } })
    await sent(acme, bob)
    await sent(acme, person)
    const [first] = codesOf(person)
    const bobs = codesOf(bob)
    clock.jump(30 * SECOND)
    const flow = await sent(acme, person)
    const codes = codesOf(person)
    expect(codes).toHaveLength(2)
    expect(codes[0]).toMatchObject({ flow_id: flow.id, address: ADA })
    expect(codes[0].hash).not.toBe(first.hash)
    expect(codesOf(bob)).toEqual(bobs)
  })

  test('is audited without the address, and sends no event', async () => {
    await using target = startTarget()
    const { acme, person } = await newPerson()
    await acme.createWebhook(target.url)
    await sent(acme, person)
    await rest(app)
    const byKey = { actor_kind: 'key', actor_id: acme.keyId, detail: {} }
    const noted = { action: 'verification.sent', ...byKey }
    expect(auditOf(app, `identity:${person.id}`).slice(1)).toEqual([noted])
    expect(told(target)).toEqual([])
  })

  test('goes to the new address after a change, and earlier codes end', async () => {
    const { acme, person } = await newPerson()
    await sent(acme, person)
    await acme.patch(person, [{ op: 'replace', path: '/traits/email', value: BOB }])
    expect(codesOf(person)).toEqual([])
    await sent(acme, person)
    expect(acme.mailsTo(BOB)).toHaveLength(1)
    expect(codesOf(person)).toMatchObject([{ address: BOB }, { address: BOB }])
    const { verifiable_addresses } = await acme.readIdentity(person)
    expect(verifiable_addresses).toMatchObject([{ value: BOB, status: 'sent' }])
  })

  test.each(['Tom & <b>Jerry</b>', 'Zeile\r\nBcc: all@example.com', '日本 ‮'])(
    'is safe for any tenant name: %j',
    async (name) => {
      const { acme, person } = await newPerson(name)
      await sent(acme, person)
      expect(acme.codeFor(ADA)).toMatch(/^\d{6}$/)
      const [mail] = acme.mailsTo(ADA)
      expect(mail?.body?.html).not.toContain('<b>Jerry')
      expect(mail?.body?.text).not.toMatch(/^Bcc:/m)
    },
  )

  test('needs no body, but refuses one that it cannot read', async () => {
    const { acme, person } = await newPerson()
    const statusOf = async (body: string, type = 'application/json') => {
      const headers = { authorization: `Bearer ${acme.key}`, 'content-type': type }
      const path = personPath(person, '/resend-verification')
      return (await app.raw(path, { method: 'POST', headers, body })).status
    }
    expect(await statusOf('{')).toBe(400)
    expect(await statusOf('x', 'text/plain')).toBe(415)
    expect(await statusOf('{"anything":1}')).toBe(202)
  })

  const REFUSED: [string, Json, string][] = [
    [
      'a verified address',
      { verifiable_addresses: [{ value: ADA, verified: true }] },
      'the address is already verified',
    ],
    ['an inactive person', { state: 'inactive' }, 'the identity is inactive'],
  ]

  test.each(REFUSED)('is refused for %s', async (_, fields, error) => {
    const acme = await flows.newTenant()
    const person = await acme.createIdentity({ traits: { email: ADA }, ...fields })
    expect(await resend(acme, person)).toMatchObject({ status: 400, body: { error } })
    expect([acme.mailsTo(ADA), codesOf(person)]).toEqual([[], []])
    expect(await acme.readIdentity(person)).toEqual(person)
  })
})

describe('emails to an address', () => {
  test('are sent every 30 seconds at most, and a refusal changes nothing', async () => {
    const { acme, person } = await newPerson()
    await sent(acme, person)
    const codes = codesOf(person)
    clock.jump(10 * SECOND)
    const answer = await resend(acme, person)
    const error = 'too many emails to this address; try again later'
    expect(answer).toMatchObject({ status: 429, body: { error } })
    expect(answer.headers.get('retry-after')).toBe('20')
    expect(codesOf(person)).toEqual(codes)
    clock.jump(20 * SECOND - 1)
    expect(await resend(acme, person)).toMatchObject({ status: 429 })
    expect(acme.mailsTo(ADA)).toHaveLength(1)
    clock.jump(1)
    await sent(acme, person)
  })

  test('are sent five times in an hour', async () => {
    const { acme, person } = await newPerson()
    for (let n = 0; n < 5; n++) {
      await sent(acme, person)
      clock.jump(MINUTE)
    }
    const answer = await resend(acme, person)
    expect(answer).toMatchObject({ status: 429 })
    expect(answer.headers.get('retry-after')).toBe(`${55 * 60}`)
    clock.jump(55 * MINUTE)
    await sent(acme, person)
  })

  test('are counted for each address and tenant', async () => {
    const { acme, person } = await newPerson()
    const globex = await newPerson()
    await sent(acme, person)
    await sent(acme, await acme.createIdentity())
    await sent(globex.acme, globex.person)
  })

  test('are limited for requests at the same time', async () => {
    const { acme, person } = await newPerson()
    const answers = await Promise.all(Array.from({ length: 5 }, () => resend(acme, person)))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429, 429])
    expect([acme.mailsTo(ADA).length, codesOf(person).length]).toEqual([1, 2])
  })
})

// Has settings of its own, sweeps all tenants, and hands its outbox to another process.
test('flow lifetime, link and delivery follow the settings', async () => {
  const own = await useFlows({
    flags: {
      'gate-flow-lifetime': '10m',
      'gate-code-lifetime': '5m',
      'server-base-url': 'https://id.example.com/gate',
    },
  })
  const acme = await own.newTenant(undefined, 'Globex')
  const person = await acme.createIdentity({ traits: { email: ADA } })
  const flow = await sent(acme, person)
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
  const code = /^ {4}(\d{6})$/m.exec(parsed.text)?.[1]
  expect(code).toBeString()
  expect(parsed.html).toContain(code)
  const link = new URL(LINK.exec(parsed.text)?.[0] ?? '')
  expect(link.origin + link.pathname).toBe(
    'https://id.example.com/gate/auth/self-service/verification',
  )
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
