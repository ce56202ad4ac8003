/** A tenant's rows of cron_jobs as JSON: no key, no schema, no mapping. */
import { Database } from 'bun:sqlite'
import { databaseFile } from '../../src/db/open.ts'

const [dataDir = '', tenantId = ''] = process.argv.slice(2)
const client = new Database(databaseFile(dataDir), { readonly: true, strict: true })
const list = client.prepare('SELECT * FROM cron_jobs WHERE tenant_id = ? ORDER BY seq DESC')

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => Response.json(list.all(tenantId)),
})
console.log(JSON.stringify({ url: server.url.origin }))
