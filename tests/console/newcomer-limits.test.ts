import { expect, test } from 'bun:test'
import { bootTestApp } from '../support/app.ts'

const LIMIT = 5
const ACTOR = { kind: 'system' } as const

/** Statuses of as many forms at once, each of which would have a password hashed. */
async function statuses(send: (n: number) => Promise<{ status: number }>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 3 * LIMIT }, (_, n) => send(n)))
  return answers.map(({ status }) => status)
}

const form = (fields: Record<string, string>) => ({
  method: 'POST',
  body: new URLSearchParams({ name: 'Eve', password: 'correct horse battery', ...fields }),
})

const boot = () => bootTestApp({ flags: { 'limits-sign-ins-per-minute': `${LIMIT}` } })

test('accounts by one invitation are asked for so often from one address', async () => {
  await using app = await boot()
  const { id: tenantId } = await app.tenant()
  const { url } = await app.operators.invitations.invite(
    { actor: ACTOR, id: 'inviter', name: 'Ada' },
    tenantId,
    { email: 'eve@example.com', role: 'viewer' },
  )
  const sent = await statuses(() => app.raw(new URL(url).pathname, form({})))
  expect(sent.filter((status) => status === 429)).toHaveLength(2 * LIMIT)
  expect(app.operators.memberships.list(tenantId)).toMatchObject([{ email: 'eve@example.com' }])
})

test('accounts by one set-up link are asked for so often from one address', async () => {
  await using app = await boot()
  const token = await app.operators.links.issueSetUp()
  const sent = await statuses((n) =>
    app.raw(`/setup/${token}`, form({ email: `eve-${n}@example.com`, tenant: 'Acme' })),
  )
  expect(sent.filter((status) => status === 429)).toHaveLength(2 * LIMIT)
  expect(sent.filter((status) => status === 303)).toHaveLength(1)
})
