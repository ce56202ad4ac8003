import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { openMail } from '../../../platform/mail/support.ts'
import { startMailServer } from '../../../support/mail-server.ts'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import type { Json } from '../fixture.ts'
import {
  auditOf,
  bootPeople,
  DAY,
  type Fixture,
  HOUR,
  ID,
  later,
  MINUTE,
  personPath,
  rowsOf,
  SECOND,
  tablesWith,
  told,
} from '../identities/people.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await bootPeople()
})
afterAll(() => fixture.end())

const resend = ({ api }: Pick<Fixture, 'api'>, person: Json) =>
  api.post(personPath(person, '/resend-verification'))

async function sent(from: Pick<Fixture, 'api'>, person: Json): Promise<Json> {
  const answer = await resend(from, person)
  expect(answer).toMatchObject({ status: 202 })
  return answer.body.flow
}

/** What the outbox has for somebody, newest first, with code and link. */
const mailsTo = ({ app }: Pick<Fixture, 'app'>, { traits }: Json): Json[] =>
  app.mail.outbox
    .list('all', { limit: 1000 })
    .filter(({ recipient }) => recipient === traits.email)
    .map(({ id }) => {
      const mail = app.mail.outbox.read('all', id)
      return { ...mail, ...codeAndLinkIn(mail?.body?.text ?? '') }
    })

function codeAndLinkIn(text: string) {
  const [code] = /^ {4}(\d{6})$/m.exec(text)?.slice(1) ?? []
  const [link] = /^https?:\S+$/m.exec(text) ?? []
  return { code, link }
}

/** What works for somebody: of each mail the code, and the secret of its link. */
const codesOf = ({ app }: Pick<Fixture, 'app'>, { id }: Json): Json[] =>
  rowsOf(app, 'gate_codes').filter(({ identity_id }) => identity_id === id)

describe('a resend', () => {
  test('answers with the flow that it starts, which lasts an hour', async () => {
    await using own = await bootPeople()
    const { status, body } = await resend(own, await own.createIdentity())

    expect({ status, body }).toEqual({
      status: 202,
      body: { flow: { id: ID, expires_at: later(HOUR) } },
    })
  })

  test('mails a code for that flow, and a link to a flow that nobody else knows', async () => {
    const person = await fixture.createIdentity()
    const flow = await sent(fixture, person)

    const mails = mailsTo(fixture, person)

    expect(mails).toHaveLength(1)
    const [mail] = mails
    expect(mail).toMatchObject({
      tenantId: fixture.acme.id,
      about: person.id,
      kind: 'resend',
      recipient: person.traits.email,
      subject: 'Verify your email address for Acme',
      expiresAt: Date.parse(flow.expires_at),
    })
    expect(mail.code).toMatch(/^\d{6}$/)
    expect(mail.link).toMatch(
      /^http:\/\/127\.0\.0\.1:8420\/auth\/self-service\/verification\?flow=[\w-]{36}&code=\w{43}$/,
    )
    expect(mail.link).not.toContain(flow.id)
    expect(mail.body.text).toContain('in 1 hour.')
    expect(mail.body.html).toContain(mail.code)
    expect(mail.body.html).toContain(mail.link.replaceAll('&', '&amp;'))
  })

  test('shows that the address was written to, and is not verified yet', async () => {
    await using own = await bootPeople()
    const person = await own.createIdentity()
    const [before] = person.verifiable_addresses
    own.clock.jump(MINUTE)
    await sent(own, person)

    const read = await own.readIdentity(person)

    const updated_at = later(MINUTE)
    expect(read.verifiable_addresses).toEqual([{ ...before, status: 'sent', updated_at }])
    expect(read.verifiable_addresses[0].verified).toBe(false)
    expect(read.updated_at).toBe(person.updated_at)
  })

  test('keeps its code where nobody can read it', async () => {
    const person = await fixture.createIdentity()
    await sent(fixture, person)

    const [mail] = mailsTo(fixture, person)
    const [row] = codesOf(fixture, person)

    expect(row.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(row.hash).not.toContain(mail.code)
    expect(tablesWith(fixture.app, `code=${mail.code}`)).toEqual({})
    expect(fixture.app.log.filter((line) => line.includes(mail.code))).toEqual([])
  })

  test('kills the codes of before', async () => {
    const person = await fixture.createIdentity()
    await sent(fixture, person)
    const [first] = codesOf(fixture, person)
    fixture.clock.jump(30 * SECOND)

    const flow = await sent(fixture, person)

    const codes = codesOf(fixture, person)
    expect(codes).toHaveLength(2)
    expect(codes[0]).toMatchObject({ flow_id: flow.id, address: person.traits.email })
    expect(codes[0].hash).not.toBe(first.hash)
    expect(mailsTo(fixture, person)).toHaveLength(2)
  })

  test('of one person leaves the codes of others', async () => {
    const [one, other] = [await fixture.createIdentity(), await fixture.createIdentity()]
    await sent(fixture, one)
    const codes = codesOf(fixture, one)

    await sent(fixture, other)

    expect(codesOf(fixture, one)).toEqual(codes)
  })

  test('is noted in the audit log, without the address, and told to no webhook', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    const person = await other.createIdentity()
    await other.createWebhook(target.url)

    await sent(other, person)
    await rest(fixture.app)

    expect(auditOf(fixture.app, `identity:${person.id}`).slice(1)).toEqual([
      { action: 'verification.sent', actor_kind: 'key', actor_id: expect.any(String), detail: {} },
    ])
    expect(told(target)).toEqual([])
  })

  test('goes to the new address after a change, and what went to the old one is dead', async () => {
    const person = await fixture.createIdentity()
    await sent(fixture, person)
    await fixture.patch(person, [
      { op: 'replace', path: '/traits/email', value: 'changed@example.com' },
    ])
    expect(codesOf(fixture, person)).toEqual([])

    await sent(fixture, person)

    const changed = await fixture.readIdentity(person)
    expect(mailsTo(fixture, changed)).toHaveLength(1)
    expect(codesOf(fixture, person)).toMatchObject([
      { address: 'changed@example.com' },
      { address: 'changed@example.com' },
    ])
    expect(changed.verifiable_addresses).toMatchObject([
      { value: 'changed@example.com', status: 'sent' },
    ])
  })

  test.each(['Tom & <b>Jerry</b>', 'Zeile\r\nBcc: all@example.com', '日本 ‮'])(
    'is good whatever the name of the tenant: %j',
    async (name) => {
      const other = await fixture.party(name)
      const person = await other.createIdentity()
      await sent(other, person)

      const [mail] = mailsTo(fixture, person)

      expect(mail.code).toMatch(/^\d{6}$/)
      expect(mail.body.html).not.toContain('<b>Jerry')
      expect(mail.body.text).not.toMatch(/^Bcc:/m)
    },
  )

  test('takes no body, and minds one that it cannot read', async () => {
    const path = personPath(await fixture.createIdentity(), '/resend-verification')
    const text = { 'content-type': 'text/plain' }

    expect(await fixture.spelled('post', path, '{')).toMatchObject({ status: 400 })
    expect(await fixture.spelled('post', path, 'x', text)).toMatchObject({ status: 415 })
    expect(await fixture.spelled('post', path, '{"anything":1}')).toMatchObject({ status: 202 })
  })
})

describe('nothing is mailed', () => {
  async function expectRefused(person: Json, error: string) {
    const { status, body } = await resend(fixture, person)
    expect({ status, body }).toEqual({ status: 400, body: { error } })
    expect(mailsTo(fixture, person)).toEqual([])
    expect(codesOf(fixture, person)).toEqual([])
    expect(await fixture.readIdentity(person)).toEqual(person)
  }

  test('to an address that is verified', async () => {
    const email = 'proven@example.com'
    const person = await fixture.createIdentity({
      traits: { email },
      verifiable_addresses: [{ value: email, verified: true }],
    })
    await expectRefused(person, 'the address is already verified')
  })

  test('to somebody who is inactive', async () => {
    await expectRefused(
      await fixture.createIdentity({ state: 'inactive' }),
      'the identity is inactive',
    )
  })
})

describe('an address is written to', () => {
  test('once in half a minute, and what is refused changes nothing', async () => {
    const person = await fixture.createIdentity()
    await sent(fixture, person)
    const codes = codesOf(fixture, person)
    fixture.clock.jump(10 * SECOND)

    const answer = await resend(fixture, person)

    expect(answer).toMatchObject({
      status: 429,
      body: { error: 'too many emails to this address; try again later' },
    })
    expect(answer.headers.get('retry-after')).toBe('20')
    expect(codesOf(fixture, person)).toEqual(codes)
    expect(mailsTo(fixture, person)).toHaveLength(1)
    fixture.clock.jump(20 * SECOND - 1)
    expect(await resend(fixture, person)).toMatchObject({ status: 429 })
    fixture.clock.jump(1)
    expect(await resend(fixture, person)).toMatchObject({ status: 202 })
  })

  test('five times in an hour', async () => {
    const person = await fixture.createIdentity()
    for (let n = 0; n < 5; n++) {
      await sent(fixture, person)
      fixture.clock.jump(MINUTE)
    }

    const answer = await resend(fixture, person)

    expect(answer).toMatchObject({ status: 429 })
    expect(answer.headers.get('retry-after')).toBe(`${55 * 60}`)
    fixture.clock.jump(55 * MINUTE)
    expect(await resend(fixture, person)).toMatchObject({ status: 202 })
  })

  test('whoever else is, and at whichever tenant', async () => {
    const other = await fixture.party()
    const traits = { email: 'shared@example.com' }
    const mine = await fixture.createIdentity({ traits })
    await sent(fixture, mine)

    await sent(fixture, await fixture.createIdentity())
    await sent(other, await other.createIdentity({ traits }))

    expect(mailsTo(fixture, mine)).toHaveLength(2)
  })

  test('once by several who ask at the same time', async () => {
    const person = await fixture.createIdentity()

    const answers = await Promise.all(Array.from({ length: 5 }, () => resend(fixture, person)))

    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429, 429])
    expect(mailsTo(fixture, person)).toHaveLength(1)
    expect(codesOf(fixture, person)).toHaveLength(2)
  })
})

test('a flow lasts as long as is configured, with its code and its mail', async () => {
  await using own = await bootPeople({
    flags: { 'gate-flow-lifetime': '10m', 'gate-code-lifetime': '5m' },
  })
  const person = await own.createIdentity()

  const flow = await sent(own, person)

  expect(flow.expires_at).toBe(later(10 * MINUTE))
  const [mail] = mailsTo(own, person)
  expect(mail.body.text).toContain('in 10 minutes')
  expect(mail.expiresAt).toBe(Date.parse(flow.expires_at))
  const expires_at = Date.parse(flow.expires_at)
  expect(codesOf(own, person)).toMatchObject([{ expires_at }, { expires_at }])
})

test('links lead to the address that people use', async () => {
  await using own = await bootPeople({
    flags: { 'server-base-url': 'https://id.example.com/gate' },
  })
  const person = await own.createIdentity()
  await sent(own, person)

  const [mail] = mailsTo(own, person)

  expect(mail.link).toStartWith('https://id.example.com/gate/auth/self-service/verification?flow=')
})

test('a flow that has run out is forgotten a day later, with its code', async () => {
  await using own = await bootPeople()
  await sent(own, await own.createIdentity())
  const count = () => [rowsOf(own.app, 'gate_flows').length, rowsOf(own.app, 'gate_codes').length]

  own.clock.jump(HOUR + DAY)
  await own.app.platform.retention.sweep()
  expect(count()).toEqual([2, 2])

  own.clock.jump(1)
  await own.app.platform.retention.sweep()
  expect(count()).toEqual([0, 0])
})

test('the mail arrives once there is a server for mail', async () => {
  await using own = await bootPeople()
  const person = await own.createIdentity({ traits: { email: 'arrives@example.com' } })
  const flow = await sent(own, person)
  expect(mailsTo(own, person)).toMatchObject([{ state: 'kept' }])

  await using server = await startMailServer()
  const dataDir = dirname(own.app.db.file)
  await using _ = await openMail({ dataDir, smtpUrl: server.url, start: later(MINUTE), pid: 2 })

  expect(server.received).toHaveLength(1)
  const { to, parsed } = server.received[0] as Json
  expect(to).toEqual(['arrives@example.com'])
  expect(parsed.subject).toBe('Verify your email address for Acme')
  const { code, link } = codeAndLinkIn(parsed.text)
  expect(code).toMatch(/^\d{6}$/)
  const query = new URL(link ?? '').searchParams
  expect([...query.keys()]).toEqual(['flow', 'code'])
  expect(query.get('flow')).not.toBe(flow.id)
  expect(parsed.html).toContain(code)
  // Nobody needs the code any more but whom it went to.
  expect(mailsTo(own, person)).toMatchObject([{ state: 'sent', body: null }])
})
