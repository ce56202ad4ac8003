/**
 * Inserts the job in the body as one row of cron_jobs and answers with that row once it is on
 * disk: no key, no checks, no count of jobs. `group` shares a transaction among the requests
 * of a turn, as the program does; `single` takes one for each request.
 */
import { randomUUIDv7 } from 'bun'
import { createInstallation, openInstallationDatabase } from '../support/installation.ts'
import type { cronJob } from '../support/jobs.ts'

await using stack = new AsyncDisposableStack()
const [mode] = process.argv.slice(2)
const { dataDir, residents } = await createInstallation(stack)
const tenantId = residents[0]?.id ?? ''
const { client, commit } = openInstallationDatabase(dataDir)
const insert = client.prepare(
  `INSERT INTO cron_jobs (id, tenant_id, name, schedule, url, method, headers, body, is_active,
     next_run_at, created_at, updated_at)
   VALUES (?, ?, ?, ?, ?, 'POST', ?, ?, 1, ?, ?, ?) RETURNING *`,
)

function add({ name, schedule, url, headers, body }: ReturnType<typeof cronJob>) {
  const now = Date.now()
  const text = JSON.stringify(headers)
  const due = now + 86_400_000
  return insert.get(randomUUIDv7(), tenantId, name, schedule, url, text, body, due, now, now)
}

const single = client.transaction(add)
const store: (job: never) => unknown =
  mode === 'group' ? (job) => commit(() => add(job)) : (job) => single.immediate(job)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) =>
    Response.json(await store((await request.json()) as never), { status: 201 }),
})
console.log(JSON.stringify({ url: server.url.origin }))
await new Promise((resolve) => process.once('SIGTERM', resolve))
await server.stop(true)
