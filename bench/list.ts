import type { Bench } from './support/bench.ts'
import { addCopies, copyIds } from './support/copies.ts'
import { compare } from './support/figure.ts'
import {
  createInstallation,
  type Installation,
  openBeside,
  serveInstallation,
} from './support/installation.ts'
import { cronJob, postJob } from './support/jobs.ts'
import { load, requestText } from './support/load.ts'
import { alternate } from './support/rounds.ts'
import { type Server, startFloor } from './support/server.ts'

const PATH = '/v1/clockwork/jobs'
const JOBS = 50
const STRANGERS = 200

/** A tenant's list of 50 jobs, in an empty database and among 200,000 jobs of 200 other tenants. */
export const list: Bench = async ({ stack, rounds, ms, crowd, note }) => {
  const alone = await startListed(stack)
  const among = await startListed(stack)
  addStrangers(among, crowd)
  const { dataDir, residents } = alone.installation
  const floor = await startFloor(stack, 'list', dataDir, residents[0]?.id ?? '')
  const empty = await startFloor(stack, 'empty')
  const ask = (server: Server, clients: number, key?: string) => () =>
    load(server, { clients, ms, request: () => requestText(PATH, key) })

  const one = await alternate(rounds, {
    subject: ask(alone.server, 1, alone.key),
    floor: ask(floor, 1),
  })
  const many = await alternate(rounds, {
    subject: ask(alone.server, 32, alone.key),
    floor: ask(floor, 32),
    among: ask(among.server, 32, among.key),
    empty: ask(empty, 32),
  })
  const crowded = { subject: many.among, floor: many.subject }
  const generator = compare('', 'req/s', { subject: many.empty, floor: many.floor })
  note(
    `list: the load generator reaches ${generator.ratio.median.toFixed(1)} times the floor's rate`,
  )
  return [
    compare('1 client', 'req/s', one),
    compare('32 clients', 'req/s', many),
    compare('32 clients', 'CPU µs/req', many),
    compare(`among ${crowd.toLocaleString('en')} others : alone`, 'CPU µs/req', crowded, '1'),
  ]
}

async function startListed(stack: AsyncDisposableStack) {
  const installation = await createInstallation(stack, 2)
  const server = await serveInstallation(stack, installation)
  const [resident, other] = installation.residents
  if (!resident || !other) throw new Error('an installation has two tenants')
  for (let n = 0; n < JOBS; n++) await postJob(server, resident, 'jobs', cronJob(n))
  const template = await postJob(server, other, 'jobs', cronJob(0))
  return { installation, server, key: resident.key, other: other.id, template }
}

function addStrangers(
  {
    installation,
    other,
    template,
  }: { installation: Installation; other: string; template: string },
  count: number,
) {
  using client = openBeside(installation)
  const tenantIds = copyIds()
  addCopies(client, { table: 'tenants', of: other, count: STRANGERS, columns: { id: tenantIds() } })
  const columns = { id: copyIds()(), tenant_id: tenantIds(`i % ${STRANGERS}`) }
  addCopies(client, { table: 'cron_jobs', of: template, count, columns })
}
