/**
 * Reads who the question in the body is about, says yes, and answers once that is stored, in a
 * transaction shared among the requests of a turn. No key is looked at, nothing is checked, and
 * no policy is asked.
 */
import { randomUUIDv7 } from 'bun'
import { openDatabase } from '../../src/db/open.ts'
import type { question } from '../support/policies.ts'

const [dataDir = '', tenantId = ''] = process.argv.slice(2)
const { client, commit } = openDatabase({ dataDir, synchronous: 'full' })
const reason = 'permitted by policy "own-tenant-reads"'
const keyId = randomUUIDv7()

const find = client.prepare<{ state: string; metadata_public: string }, [string, string]>(
  'SELECT * FROM gate_identities WHERE tenant_id = ? AND id = ?',
)
const insert = client.prepare(
  `INSERT INTO gate_decisions (id, tenant_id, environment, key_id, at, subject, action, resource,
     context, is_allowed, reason, policies, policies_version)
   VALUES (?, ?, 'live', ?, ?, ?, ?, ?, ?, ?, ?, '["own-tenant-reads"]', 0)`,
)

async function answer({ subject, action, resource, context }: ReturnType<typeof question>) {
  const id = randomUUIDv7()
  const allowed = find.get(tenantId, subject)?.state === 'active'
  const facts = [subject, action, resource, JSON.stringify(context), allowed ? 1 : 0, reason]
  await commit(() => void insert.run(id, tenantId, keyId, Date.now(), ...facts))
  return { allowed, decision_id: id, reason }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => Response.json(await answer((await request.json()) as never)),
})
console.log(JSON.stringify({ url: server.url.origin }))
