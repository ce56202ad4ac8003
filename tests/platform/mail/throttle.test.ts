import { describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/folder.ts'
import { HOUR, MINUTE, openMail, SECOND } from './support.ts'

const ADA = 'ada@example.com'

test('an address gets one mail in 30 seconds', async () => {
  using folder = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  const { clock, mail } = fixture
  const ask = () => mail.allowance(null, ADA, clock.now())

  const before = ask()
  await fixture.send(ADA)
  const atOnce = ask()
  await clock.advance(30 * SECOND - 1)
  const almost = ask()
  await clock.advance(1)

  expect(before).toEqual({ allowed: true })
  expect(atOnce).toEqual({ allowed: false, retryAfterMs: 30 * SECOND })
  expect(almost).toEqual({ allowed: false, retryAfterMs: 1 })
  expect(ask()).toEqual({ allowed: true })
})

test('and five in an hour, of whatever kind', async () => {
  using folder = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  const { clock, mail } = fixture
  const ask = () => mail.allowance(null, ADA, clock.now())

  for (const kind of ['verification', 'recovery', 'sign-in', 'recovery', 'notice']) {
    expect(ask()).toEqual({ allowed: true })
    await fixture.send(ADA, { kind })
    await clock.advance(MINUTE)
  }

  expect(ask()).toEqual({ allowed: false, retryAfterMs: HOUR - 5 * MINUTE })
  await clock.advance(HOUR - 5 * MINUTE - 1)
  expect(ask()).toEqual({ allowed: false, retryAfterMs: 1 })
  await clock.advance(1)
  expect(ask()).toEqual({ allowed: true })
  await fixture.send(ADA)
  await clock.advance(30 * SECOND)
  expect(ask()).toEqual({ allowed: false, retryAfterMs: 30 * SECOND })
})

test('tenants, the instance and addresses have allowances of their own', async () => {
  using folder = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  const { clock, mail } = fixture
  const [acme, globex] = ['acme', 'globex'].map(fixture.tenant) as [string, string]

  await fixture.send(ADA, { tenantId: acme })

  expect(mail.allowance(acme, ADA, clock.now()).allowed).toBe(false)
  expect(mail.allowance(acme, 'bob@example.com', clock.now()).allowed).toBe(true)
  expect(mail.allowance(globex, ADA, clock.now()).allowed).toBe(true)
  expect(mail.allowance(null, ADA, clock.now()).allowed).toBe(true)
})

test('a clock that was set back makes nobody wait for the time that it showed', async () => {
  using folder = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  const { clock, mail } = fixture
  const ask = () => mail.allowance(null, ADA, clock.now())
  for (let n = 0; n < 5; n++) await fixture.send(ADA)

  clock.jump(-10 * HOUR)
  const before = ask()
  await fixture.send(ADA)
  const atOnce = ask()
  await clock.advance(30 * SECOND)

  expect(before).toEqual({ allowed: true })
  expect(atOnce).toEqual({ allowed: false, retryAfterMs: 30 * SECOND })
  expect(ask()).toEqual({ allowed: true })
})

describe('whoever deletes a person does not make room for more mails', () => {
  test('to the same address, until those of before count no more', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { clock, db, mail } = fixture
    const tenantId = fixture.tenant('acme')
    const ask = () => mail.allowance(tenantId, ADA, clock.now())

    for (let n = 0; n < 5; n++) {
      expect(ask()).toEqual({ allowed: true })
      await fixture.send(ADA, { tenantId, about: `person ${n}` })
      await db.commit(() => mail.eraseAbout(tenantId, `person ${n}`, 10))
      expect(ask().allowed).toBe(false)
      await clock.advance(MINUTE)
    }

    expect(ask()).toEqual({ allowed: false, retryAfterMs: HOUR - 5 * MINUTE })
    await clock.advance(HOUR - 5 * MINUTE)
    expect(ask()).toEqual({ allowed: true })
  })

  test('whatever of theirs was erased twice', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { clock, db, mail } = fixture
    const tenantId = fixture.tenant('acme')
    await fixture.send(ADA, { tenantId, about: 'ada' })
    const erase = () => db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))

    expect([await erase(), await erase()]).toEqual([1, 0])
    await clock.advance(30 * SECOND - 1)
    await erase()

    expect(mail.allowance(tenantId, ADA, clock.now())).toEqual({ allowed: false, retryAfterMs: 1 })
  })
})

test('what an address is counted by tells nothing of it, nor that two tenants write to it', async () => {
  using folder = temporaryFolder()
  using elsewhere = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  await using other = await openMail({ dataDir: elsewhere.path })
  const hashOf = async ({ db, send }: typeof fixture, tenantId: string | null) => {
    const id = await send(ADA, { tenantId })
    return db.client
      .query<{ hash: string }, [string]>('SELECT recipient_hash AS hash FROM mails WHERE id = ?')
      .get(id)?.hash
  }
  const [acme, globex, named] = ['acme', 'globex', 'null'].map(fixture.tenant) as [
    string,
    string,
    string,
  ]

  const hashes = [
    await hashOf(fixture, null),
    await hashOf(fixture, named),
    await hashOf(fixture, acme),
    await hashOf(fixture, globex),
    await hashOf(other, null),
  ]

  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(hashes).size).toBe(5)
  expect(await hashOf(fixture, acme)).toBe(hashes[2])
})

test('who asks in the commit that posts finds what the one before has posted', async () => {
  using folder = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  const { db, clock, mail, letterTo } = fixture
  const postIfAllowed = () =>
    db.commit(() => {
      const { allowed } = mail.allowance(null, ADA, clock.now())
      if (allowed) mail.post(letterTo(ADA), clock.now())
      return allowed
    })

  const answers = await Promise.all([postIfAllowed(), postIfAllowed(), postIfAllowed()])

  expect(answers).toEqual([true, false, false])
})
