/**
 * Stores one row for each ping and answers once it is on disk, in a transaction shared among the
 * requests of a turn: no token is looked up, nothing is limited, and no monitor changes.
 */
import { createInstallation, openInstallationDatabase } from '../support/installation.ts'

const KEPT = 100

await using stack = new AsyncDisposableStack()
const { dataDir, residents } = await createInstallation(stack)
const tenantId = residents[0]?.id ?? ''
const { client, commit } = openInstallationDatabase(dataDir)
const put = client.prepare(
  `INSERT OR REPLACE INTO monitor_pings (tenant_id, monitor_id, place, number, signal, received_at)
   VALUES (?, ?, ?, ?, 'success', ?)`,
)

let number = 0

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async ({ url }) => {
    const token = url.slice(url.lastIndexOf('/') + 1)
    number++
    await commit(() => put.run(tenantId, token, number % KEPT, number, Date.now()))
    return new Response('OK')
  },
})
console.log(JSON.stringify({ url: server.url.origin }))
await new Promise((resolve) => process.once('SIGTERM', resolve))
await server.stop(true)
