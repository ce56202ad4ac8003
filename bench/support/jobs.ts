import type { Resident } from './installation.ts'
import type { Server } from './server.ts'

/** A cron job as a tenant would send it; once a year, so that it is never due here. */
export const cronJob = (n: number) => ({
  name: `Nightly report ${n}`,
  schedule: '0 0 1 1 *',
  url: 'https://reports.example.com/hooks/nightly',
  headers: { 'X-Token': 'f3b1c8' },
  body: '{"report":"nightly"}',
})

/** Sends a job to the API and says which id it got. */
export async function postJob(
  { url }: Server,
  { key }: Resident,
  kind: 'jobs' | 'delayed',
  job: object,
): Promise<string> {
  const answer = await fetch(`${url}/v1/clockwork/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(job),
  })
  if (!answer.ok) throw new Error(`${kind} answered ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

/** A job that calls `url` once, at `runAt`. */
export const delayedJob = (url: string, runAt: number) => ({
  name: 'Reminder',
  run_at: new Date(runAt).toISOString(),
  url,
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'X-Token': 'f3b1c8' },
  body: '{"remind":"all"}',
})
