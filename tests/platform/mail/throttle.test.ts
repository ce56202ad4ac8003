import { describe, expect, test } from 'bun:test'
import { HOUR, MINUTE, newMail, opened, SECOND } from './support.ts'

const ALLOWED = { allowed: true } as const
const refused = (retryAfterMs: number) => ({ allowed: false, retryAfterMs }) as const

const fixture = await opened(newMail())
const { clock, db, mail, letterTo } = fixture
let count = 0
/** An address, and what it may get now. */
function newAddress(tenantId: string | null = null) {
  const address = `ada-${count++}@example.com`
  const ask = () => mail.allowance(tenantId, address, clock.now())
  const send = (fields = {}) => fixture.send(address, { tenantId, ...fields })
  const letter = (fields: object) => letterTo(address, { tenantId, ...fields })
  const withhold = (fields = {}) =>
    db.commit(() => mail.withhold(letter(fields), 'no such address', clock.now()))
  return { address, ask, send, withhold }
}
const newTenant = () => fixture.tenant(`tenant-${count++}`)

describe.each(['send', 'withhold'] as const)('An address (%s) gets', (how) => {
  test('one mail in 30 seconds, from each tenant', async () => {
    const [acme, globex] = [newTenant(), newTenant()]
    const { address, ask, ...ada } = newAddress(acme)
    expect(ask()).toEqual(ALLOWED)
    await ada[how]()
    expect(ask()).toEqual(refused(30 * SECOND))
    const allowed = (tenantId: string | null, to = address) =>
      mail.allowance(tenantId, to, clock.now()).allowed
    expect([allowed(acme), allowed(globex), allowed(null)]).toEqual([false, true, true])
    expect(allowed(acme, 'bob@example.com')).toBe(true)
    await clock.advance(30 * SECOND - 1)
    expect(ask()).toEqual(refused(1))
    await clock.advance(1)
    expect(ask()).toEqual(ALLOWED)
  })

  test('five mails an hour, of any kind and about any person, erased or not', async () => {
    const tenantId = newTenant()
    const { ask, ...ada } = newAddress(tenantId)
    for (const [n, kind] of ['verification', 'recovery', 'sign-in', 'recovery', 'x'].entries()) {
      expect(ask()).toEqual(ALLOWED)
      const about = n === 0 ? null : `person ${n}`
      await ada[n === 2 ? 'send' : how]({ kind, about })
      if (about !== null) await db.commit(() => mail.eraseAbout(tenantId, about, 10))
      expect(ask().allowed).toBe(false)
      await clock.advance(MINUTE)
    }
    expect(ask()).toEqual(refused(HOUR - 5 * MINUTE))
    await clock.advance(HOUR - 5 * MINUTE)
    expect(ask()).toEqual(ALLOWED)
    await ada[how]()
    await clock.advance(30 * SECOND)
    expect(ask()).toEqual(refused(30 * SECOND))
  })
})

test('An address is stored as a hash of its own for each tenant and installation', async () => {
  await using other = await newMail()
  const { address } = newAddress()
  async function hashOf(tenantId: string | null, { db, send } = fixture) {
    const row = db.client.query('SELECT recipient_hash FROM mails WHERE id = ?')
    return row.values(await send(address, { tenantId })).flat()[0] as string
  }
  const acme = newTenant()
  const hashes = [await hashOf(acme), await hashOf(null, other)]
  for (const tenantId of [null, fixture.tenant('null')]) hashes.push(await hashOf(tenantId))
  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(hashes).size).toBe(4)
  expect(await hashOf(acme)).toBe(`${hashes[0]}`)
})

test('Of mails posted at once, each counts for the next', async () => {
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
