import type { Bench } from './support/bench.ts'
import { compare } from './support/figure.ts'
import { openBeside, serveCommand } from './support/installation.ts'
import { load, requestText } from './support/load.ts'
import { createRelayInstallation, type RelayInstallation } from './support/relay.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { type Server, startServer } from './support/server.ts'
import { storeJobs } from './support/stored-jobs.ts'
import { addHeldMessage, storeMessages } from './support/stored-messages.ts'

/** Of what others store: a hundred thousand runs, and as many deliveries. */
const STORED_SHARE = 0.1
const FEW = 100
/** More hosts and endpoints than a scrape looks at. */
const LANES = 1000

/** What `/metrics` costs while many runs and deliveries are overdue, beside the same with few. */
export const scrape: Bench = async ({ stack, rounds, ms, stored }) => {
  const count = stored * STORED_SHARE
  const many = await startOverdue(stack, count)
  const few = await startOverdue(stack, FEW)
  const samples = await alternate(rounds, {
    subject: () => scrapes(many, ms),
    floor: () => scrapes(few, ms),
  })
  const name = `${count.toLocaleString('en')} : ${FEW.toLocaleString('en')} of each overdue`
  return [compare(name, 'ms', samples), compare(name, 'CPU ms', samples)]
}

/** Paused, so that it stays overdue. */
async function startOverdue(stack: AsyncDisposableStack, count: number): Promise<Server> {
  const installation = await createRelayInstallation(stack)
  await storeJobs(installation, count * 2)
  const command = [...serveCommand(installation.dataDir), '--paused', '--metrics-enabled=true']
  const server = await startServer(stack, command)
  storeMessages(installation, await addHeldMessage({ ...installation, server }), count)
  makeOverdue(installation)
  return server
}

/** Half of the jobs are cron jobs, which have no run yet. */
function makeOverdue(installation: RelayInstallation) {
  using client = openBeside(installation)
  const past = Date.now() - 60_000
  client.run(
    "UPDATE runs SET state = 'ready', due_at = ?1 - seq % 1000, host = 'host-' || (seq % ?2)",
    [past, LANES],
  )
  client.run(
    `UPDATE deliveries SET state = 'ready', ended_at = NULL, due_at = ?1 - seq % 1000,
       endpoint_id = 'endpoint-' || (seq % ?2)`,
    [past, LANES],
  )
}

async function scrapes(server: Server, ms: number): Promise<Sample> {
  const request = () => requestText('/metrics')
  const { 'req/s': rate = 0, 'CPU µs/req': cpu = 0 } = await load(server, {
    clients: 1,
    ms,
    request,
  })
  return { ms: 1000 / rate, 'CPU ms': cpu / 1000 }
}
