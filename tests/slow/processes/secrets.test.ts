import { expect, test } from 'bun:test'
import { openInstallation } from '../resilience/support/installation.ts'

test('secrets rotate fails where something cannot be opened, and lists 20 rows of each table', async () => {
  await using stack = new AsyncDisposableStack()
  const { change, here, newTenant } = openInstallation(stack)
  const refused = await here('secrets', 'rotate')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('no data in')])
  const tenant = newTenant()
  for (let n = 0; n < 25; n++)
    change(
      `INSERT INTO mails (id, tenant_id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
       VALUES (?, ?, 'test', '', 'not sealed', 'kept', 0, 0, 0, 0)`,
      ...[`m${n}`, n === 0 ? null : tenant],
    )
  const json = await here('secrets', 'rotate', '--json')
  const { code, out } = await here('secrets', 'rotate')

  expect([json.code, code]).toEqual([1, 1])
  const { from, to, unopenable_rows, ...rest } = json.json()
  expect(rest).toMatchObject({ resealed: {}, unopenable: { mails: 25 } })
  expect(unopenable_rows.mails).toHaveLength(20)
  expect(unopenable_rows.mails[0]).toEqual({ id: 'm0', tenant_id: null })
  expect(unopenable_rows.mails[19]).toEqual({ id: 'm19', tenant_id: tenant })
  const kept = `some secrets cannot be decrypted, so the old key ${from} is kept beside ${to}.`
  expect(out).toContain(kept)
  expect(out).toMatch(new RegExp(`mails: 25\n  m0\\s*\n  m1 +tenant ${tenant}\n`))
})
