import { addCopies, copyIds } from './copies.ts'
import { openEngine } from './engine.ts'
import type { Installation } from './installation.ts'
import { cronJob, delayedJob } from './jobs.ts'

/** Later than any run ends. */
export const DUE_IN_MS = 86_400_000

/**
 * Jobs that are not due, half of them cron, half delayed; the first of each made by the engine,
 * the others copies.
 */
export async function storeJobs(installation: Installation, stored: number): Promise<Installation> {
  await using stack = new AsyncDisposableStack()
  const { db, clockwork, callerOf } = await openEngine(stack, installation)
  const caller = callerOf(installation.residents[0]?.key ?? '')
  const count = stored / 2 - 1
  const id = copyIds()()
  const later = (column: string) => ({ [column]: `${Date.now() + DUE_IN_MS} + i` })

  const cron = await clockwork.jobs.create(caller, cronJob(0))
  const columns = { id: copyIds()(), ...later('next_run_at') }
  addCopies(db.client, { table: 'cron_jobs', of: cron.id, count, columns })
  const job = delayedJob('https://example.com/hook', Date.now() + DUE_IN_MS)
  const delayed = await clockwork.delayed.create(caller, { ...job, method: 'POST' })
  const ids = { table: 'delayed_jobs', of: delayed.id, columns: { id, ...later('run_at') } }
  addCopies(db.client, { ...ids, count })
  const runs = { table: 'runs', of: delayed.id, by: 'job_id' }
  addCopies(db.client, { ...runs, count, columns: { job_id: id, ...later('due_at') } })
  return installation
}
