import { Database } from 'bun:sqlite'
import { databaseFile } from '../src/db/open.ts'
import type { Bench } from './support/bench.ts'
import { type CallPlan, fired, makeCalls } from './support/calls.ts'
import { withCpu } from './support/cpu.ts'
import { compare, type Figure } from './support/figure.ts'
import { createInstallation, type Installation, serveInstallation } from './support/installation.ts'
import { delayedJob } from './support/jobs.ts'
import { load, requestText } from './support/load.ts'
import { loopbackUrls } from './support/loopback.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { type Server, startFloor } from './support/server.ts'

const PATH = '/v1/clockwork/delayed'
/** How many calls a tenant, and a host, may have under way: see the limits of the queue. */
const PER_TENANT = 128
const PER_HOST = 20
const HOSTS = [1, 16]
const POLL_MS = 5
/** One a turn: what a tenant may have stored is limited. */
const TENANTS = 40

/** Delayed jobs that fall due in one second, from that second to the last stored result. */
export const fire: Bench = async ({ stack, rounds, due }) => {
  const target = await startFloor(stack, 'target', `${Math.max(...HOSTS)}`)
  const caller = await startFloor(stack, 'calls')
  const installation = await createInstallation(stack, TENANTS)
  const server = await serveInstallation(stack, installation)
  const watch = openWatch(stack, installation)

  const figures: Figure[] = []
  for (const hosts of HOSTS) {
    const urls = loopbackUrls(target, hosts)
    const concurrency = Math.min(PER_TENANT, PER_HOST * hosts)
    const plan: Omit<CallPlan, 'client'> = { urls, calls: due, concurrency }
    const samples = await alternate(Math.ceil(rounds / 2), {
      subject: () => fireAll({ installation, server, watch }, plan, false),
      reusing: () => fireAll({ installation, server, watch }, plan, true),
      outbound: () => makeCalls(caller, { ...plan, client: 'outbound' }),
      fetch: () => makeCalls(caller, { ...plan, client: 'fetch' }),
      fresh: () => makeCalls(caller, { ...plan, client: 'fresh fetch' }),
    })
    figures.push(...compareAll(hosts, samples))
  }
  return figures
}

function compareAll(
  hosts: number,
  {
    subject,
    reusing,
    outbound,
    fetch,
    fresh,
  }: Record<'subject' | 'reusing' | 'outbound' | 'fetch' | 'fresh', Sample[]>,
): Figure[] {
  const where = hosts === 1 ? '1 host' : `${hosts} hosts`
  return [
    compare(`${where} : same client`, 'ms', { subject, floor: outbound }),
    compare(`${where} : same client`, 'CPU µs/call', { subject, floor: outbound }),
    compare(`${where} : fetch, fresh`, 'ms', { subject, floor: fresh }),
    compare(`${where} : fetch, pooled`, 'ms', { subject, floor: fetch }),
    compare(`${where}, reusing : fetch, pooled`, 'ms', { subject: reusing, floor: fetch }, '≤ 2'),
  ]
}

type Watch = ReturnType<typeof openWatch>
type Stage = { installation: Installation; server: Server; watch: Watch }

/** From the tick on which they are due until the last result is stored. */
async function fireAll(
  { installation, server, watch }: Stage,
  plan: Omit<CallPlan, 'client'>,
  reusesConnection: boolean,
) {
  const storingMs = 1000 + plan.calls / 2
  const dueAt = Math.ceil((Date.now() + storingMs) / 1000) * 1000
  const job = (url: string) => ({ ...delayedJob(url, dueAt), reuse_connection: reusesConnection })
  await storeJobs({ installation, server }, plan, job)
  if (Date.now() > dueAt) throw new Error('the jobs could not be stored before they were due')
  await Bun.sleep(dueAt - Date.now() - 50)
  const { result, cpu } = await withCpu(server.pid, async () => {
    while (watch.openRuns()) await Bun.sleep(POLL_MS)
    return Date.now() - dueAt
  })
  if (watch.failures()) throw new Error('an execution failed')
  return fired(result, cpu, plan.calls)
}

function storeJobs(
  { installation, server }: Pick<Stage, 'installation' | 'server'>,
  { urls, calls }: Omit<CallPlan, 'client'>,
  job: (url: string) => object,
) {
  const key = installation.residents.shift()?.key
  let stored = 0
  const request = () => {
    const url = urls[stored % urls.length] as string
    return stored++ < calls ? requestText(PATH, key, job(url)) : undefined
  }
  return load(server, { clients: 64, request })
}

/** A look into the database of the server, from outside. */
function openWatch(stack: AsyncDisposableStack, { dataDir }: Installation) {
  const client = stack.use(new Database(databaseFile(dataDir), { readonly: true, strict: true }))
  client.run('PRAGMA busy_timeout = 5000')
  const open = client.prepare('SELECT 1 FROM runs LIMIT 1')
  const failed = client.prepare("SELECT 1 FROM executions WHERE status <> 'success' LIMIT 1")
  return { openRuns: () => open.get() !== null, failures: () => failed.get() !== null }
}
