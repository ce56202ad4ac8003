import { describe, expect, test } from 'bun:test'
import { HOUR, MINUTE, newMail, SECOND, useMail } from './support.ts'

const REASON = 'nobody here has this address'
const ALLOWED = { allowed: true } as const
const refused = (retryAfterMs: number) => ({ allowed: false, retryAfterMs }) as const

const fixture = await useMail()
const { clock, db, mail, letterTo } = fixture
let count = 0
/** An address, and what it may get now. */
function newAddress(tenantId: string | null = null) {
  const address = `ada-${count++}@example.com`
  const ask = () => mail.allowance(tenantId, address, clock.now())
  const send = (fields = {}) => fixture.send(address, { tenantId, ...fields })
  const withhold = (fields = {}) =>
    db.commit(() => mail.withhold(letterTo(address, { tenantId, ...fields }), REASON, clock.now()))
  return { address, ask, send, withhold }
}
const newTenant = () => fixture.tenant(`tenant-${count++}`)

describe.each(['send', 'withhold'] as const)('an address (%s) gets', (how) => {
  test('one mail in 30 seconds', async () => {
    const { ask, ...ada } = newAddress()
    expect(ask()).toEqual(ALLOWED)
    await ada[how]()
    expect(ask()).toEqual(refused(30 * SECOND))
    await clock.advance(30 * SECOND - 1)
    expect(ask()).toEqual(refused(1))
    await clock.advance(1)
    expect(ask()).toEqual(ALLOWED)
  })

  test('five mails an hour, of whatever kind and about anyone', async () => {
    const { ask, ...ada } = newAddress(newTenant())
    for (const [n, kind] of ['verification', 'recovery', 'sign-in', 'recovery', 'x'].entries()) {
      expect(ask()).toEqual(ALLOWED)
      await ada[n === 2 ? 'send' : how]({ kind, about: n === 0 ? null : `person ${n}` })
      await clock.advance(MINUTE)
    }
    expect(ask()).toEqual(refused(HOUR - 5 * MINUTE))
    await clock.advance(HOUR - 5 * MINUTE)
    expect(ask()).toEqual(ALLOWED)
    await ada[how]()
    await clock.advance(30 * SECOND)
    expect(ask()).toEqual(refused(30 * SECOND))
  })

  test('its own number of mails, from each tenant', async () => {
    const [acme, globex] = [newTenant(), newTenant()]
    const { address, ...ada } = newAddress(acme)
    await ada[how]()
    const allowed = (tenantId: string | null, to = address) =>
      mail.allowance(tenantId, to, clock.now()).allowed
    expect([allowed(acme), allowed(globex), allowed(null)]).toEqual([false, true, true])
    expect(allowed(acme, 'bob@example.com')).toBe(true)
  })

  test('no more mails because those about a person are erased', async () => {
    const tenantId = newTenant()
    const { ask, ...ada } = newAddress(tenantId)
    const erase = (about: string) => db.commit(() => mail.eraseAbout(tenantId, about, 10))
    for (let n = 0; n < 5; n++) {
      expect(ask()).toEqual(ALLOWED)
      const id = await ada[how]({ about: `person ${n}`, subject: 'To Ada' })
      expect([await erase(`person ${n}`), await erase(`person ${n}`)]).toEqual([1, 0])
      const blank = { about: null, recipient: null, subject: null, lastError: null }
      expect(fixture.read(id)).toMatchObject({ ...blank, state: 'failed' })
      expect(ask().allowed).toBe(false)
      await clock.advance(MINUTE)
    }
    expect(ask()).toEqual(refused(HOUR - 5 * MINUTE))
  })
})

test('a clock that was set back delays no one', async () => {
  const { ask, send } = newAddress()
  for (let n = 0; n < 5; n++) await send()
  clock.jump(-10 * HOUR)
  expect(ask()).toEqual(ALLOWED)
  await send()
  expect(ask()).toEqual(refused(30 * SECOND))
  await clock.advance(30 * SECOND)
  expect(ask()).toEqual(ALLOWED)
})

test('an address is stored as a hash of its own for each tenant and installation', async () => {
  await using other = await newMail()
  const { address } = newAddress()
  const hashOf = async (
    { db, send }: Pick<typeof other, 'db' | 'send'>,
    tenantId: string | null,
  ) => {
    const id = await send(address, { tenantId })
    return db.client
      .query<{ hash: string }, [string]>('SELECT recipient_hash AS hash FROM mails WHERE id = ?')
      .get(id)?.hash
  }
  const acme = newTenant()
  const hashes = [await hashOf(other, null)]
  for (const tenantId of [null, fixture.tenant('null'), acme, newTenant()])
    hashes.push(await hashOf(fixture, tenantId))
  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(hashes).size).toBe(5)
  expect(await hashOf(fixture, acme)).toBe(hashes[3])
})

test('of mails posted at once, each counts for the next', async () => {
  const { address } = newAddress()
  const postIfAllowed = () =>
    db.commit(() => {
      const { allowed } = mail.allowance(null, address, clock.now())
      if (allowed) mail.post(letterTo(address), clock.now())
      return allowed
    })
  const answers = await Promise.all([postIfAllowed(), postIfAllowed(), postIfAllowed()])
  expect(answers).toEqual([true, false, false])
})
