import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'
import { WITH_MAIL } from './unverified-fixture.ts'

const MINUTE = 60_000
/** One hour's mails of a team. */
const HOURLY = 100

let app: TestApp
beforeAll(async () => {
  app = await bootTestApp({ env: WITH_MAIL })
})
afterAll(() => app.stop())

/** The owner of a tenant of their own, as any stranger may become where sign-up is open. */
async function newOwner() {
  const { id: tenantId } = await app.tenant()
  const { headers } = await (await newOperator(app, { roles: { [tenantId]: 'owner' } })).signIn()
  const post = (path: string, fields: Record<string, string> = {}) =>
    app.raw(`/console/team${path}`, {
      method: 'POST',
      headers,
      body: formBody(app, headers, fields),
    })
  return {
    invite: (email: string) => post('/invite', { email, role: 'viewer' }),
    revokeAll: async () => {
      for (const { id } of app.operators.invitations.list(tenantId))
        await post(`/invitations/${id}/revoke`)
    },
  }
}

const mailsTo = (beginning: string): number =>
  app.db.client
    .query("SELECT id FROM mails WHERE kind = 'invitation' AND recipient LIKE ?")
    .all(`${beginning}%`).length

describe('invitations of one tenant', () => {
  test('keep no other tenant from inviting the same person', async () => {
    const [eve, ada] = [await newOwner(), await newOwner()]
    for (let n = 0; n < 20; n++) {
      await eve.invite('wanted@example.com')
      app.clock.spend(MINUTE)
    }
    const before = mailsTo('wanted')
    expect((await ada.invite('wanted@example.com')).status).toBe(200)
    expect(mailsTo('wanted')).toBe(before + 1)
  })

  test('are a few an hour to one address', async () => {
    const eve = await newOwner()
    for (let n = 0; n < 11; n++) {
      await eve.invite('often@example.com')
      app.clock.spend(MINUTE)
    }
    expect(mailsTo('often')).toBe(5)
    const refused = await eve.invite('often@example.com')
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.stringContaining('Was sent an invitation recently'),
    ])
    app.clock.spend(12 * MINUTE)
    expect((await eve.invite('often@example.com')).status).toBe(200)
  })

  test('are a hundred mails an hour, however many are revoked', async () => {
    const [eve, ada] = [await newOwner(), await newOwner()]
    for (let n = 0; n < HOURLY; n++) await eve.invite(`guest-${n}@example.com`)
    await eve.revokeAll()
    const refused = await eve.invite('guest-more@example.com')
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.stringContaining('100 invitations within an hour'),
    ])
    expect(mailsTo('guest-')).toBe(HOURLY)
    expect((await ada.invite('guest-more@example.com')).status).toBe(200)
    app.clock.spend(MINUTE)
    expect((await eve.invite('guest-later@example.com')).status).toBe(200)
  })
})
