/**
 * Looks up a token by its hash, in a file that the program has created, and returns its owner: no
 * key, no schema, no check digits, and whether the token still counts is not asked.
 */
import { hash } from 'node:crypto'
import { openDatabase } from '../../src/db/open.ts'

interface Row {
  subject: string
  tenant_id: string
  scopes: string
  expires_at: number
}

const [dataDir = ''] = process.argv.slice(2)
const { client } = openDatabase({ dataDir, synchronous: 'full' })
const find = client.prepare<Row, [string]>(
  'SELECT subject, tenant_id, scopes, expires_at FROM gate_access_tokens WHERE hash = ?',
)

function describe(token: string) {
  const { subject, tenant_id, scopes, expires_at } = find.get(hash('sha256', token, 'hex')) as Row
  return {
    active: true,
    subject,
    tenant_id,
    scopes: JSON.parse(scopes),
    expires_at: new Date(expires_at).toISOString(),
  }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    const { access_token: token } = (await request.json()) as { access_token: string }
    return Response.json(describe(token))
  },
})
console.log(JSON.stringify({ url: server.url.origin }))
