import { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../src/db/open.ts'
import type { Bench } from './support/bench.ts'
import { compileProgram } from './support/compiled.ts'
import { compare, type Figure } from './support/figure.ts'
import { openBeside, serveCommand, temporaryFolder } from './support/installation.ts'
import { load, requestText } from './support/load.ts'
import { latencyOf, probeDuring } from './support/probe.ts'
import {
  createRelayInstallation,
  event,
  MESSAGES,
  type RelayInstallation,
} from './support/relay.ts'
import { alternate, type Sample } from './support/rounds.ts'
import { type Server, startServer } from './support/server.ts'
import { addHeldMessage, storeMessages } from './support/stored-messages.ts'

/** Of what others store: some 300 MB of messages, deliveries and keys. */
const STORED_SHARE = 0.16
const MB = 1_000_000
/** One read and one write: together a thousand requests a second. */
const EVERY_MS = 2
const READ = 1000
/** Warm-up, because steady requests are too few to compile the code. */
const WARM_UP = 10_000
const QUIET_SHARE = 3
/** The shortest that can be configured: each is waited for, so there are few rounds. */
const SCHEDULE = ['--backup-enabled=true', '--backup-every=1m', '--backup-keep=1']
const SCHEDULED_ROUNDS = 2
const POLL_MS = 20

/** How long a backup takes, and what it does to requests: by command, and on schedule. */
export const backup: Bench = async ({ stack, rounds, ms, stored, note }) => {
  const program = await compileProgram(stack)
  const installation = await createRelayInstallation(stack)
  const ids = await fill(installation, program, Math.round(stored * STORED_SHARE))
  const folder = temporaryFolder(stack)
  const fewRounds = Math.ceil(rounds / 2)
  const times = await alternate(fewRounds, {
    subject: () => backUp(program, installation, folder),
    floor: () => copyAlone(installation, folder),
  })
  note(sizesIn(times.subject))

  const quiet = { installation, ids, quietMs: ms * QUIET_SHARE }
  const commanded = await feel({
    ...quiet,
    command: serveCommand(installation.dataDir, [program]),
    rounds: fewRounds,
    backup: async () => ({ ended: backUp(program, installation, folder) }),
  })
  const scheduled = await feel({
    ...quiet,
    command: [...serveCommand(installation.dataDir, [program]), ...SCHEDULE],
    rounds: SCHEDULED_ROUNDS,
    backup: () => nextScheduled(installation),
  })
  return [
    compare('without requests : only the copy', 's', times),
    ...figures('by command : none', commanded),
    ...figures('on schedule : none', scheduled),
  ]
}

const sizesIn = (samples: Sample[]) => {
  const { 'database MB': database = 0, 'archive MB': archive = 0 } = samples.at(-1) ?? {}
  return `backup: an archive of ${archive.toFixed(0)} MB, of a database of ${database.toFixed(0)} MB`
}

/** Stores messages and says where some of them are, from everywhere among them. */
async function fill(
  installation: RelayInstallation,
  program: string,
  stored: number,
): Promise<string[]> {
  await using stack = new AsyncDisposableStack()
  const server = await startServer(stack, serveCommand(installation.dataDir, [program]))
  storeMessages(installation, await addHeldMessage({ ...installation, server }), stored)
  using client = openBeside(installation)
  // What is the same in all of them would shrink to nothing in an archive.
  client.run("UPDATE messages SET payload = json_set(payload, '$.note', hex(randomblob(100)))")
  const every = Math.max(Math.floor(stored / READ), 1)
  const rows = client
    .query<{ id: string }, [number]>('SELECT id FROM messages WHERE seq % ? = 0')
    .all(every)
  return rows.map(({ id }) => id)
}

/** The command, to its end. */
async function backUp(
  program: string,
  { dataDir }: RelayInstallation,
  folder: string,
): Promise<Sample> {
  const file = join(folder, 'backup.tar.gz')
  const start = performance.now()
  const child = Bun.spawn([program, 'backup', '--json', `--data-dir=${dataDir}`, `--to=${file}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`the backup failed: ${err}`)
  const s = (performance.now() - start) / 1000
  rmSync(file)
  const { bytes, database_bytes } = JSON.parse(out)
  return { s, 'archive MB': bytes / MB, 'database MB': database_bytes / MB }
}

/** What SQLite takes for the copy that the archive is made of. */
function copyAlone({ dataDir }: RelayInstallation, folder: string): Sample {
  const copy = join(folder, 'copy.db')
  const start = performance.now()
  using client = new Database(databaseFile(dataDir), { readonly: true, strict: true })
  client.query('VACUUM INTO ?').run(copy)
  const s = (performance.now() - start) / 1000
  rmSync(copy)
  return { s }
}

/** Resolves when a backup has begun. */
type Backup = () => Promise<{ ended: Promise<unknown> }>

/** The same requests at a steady pace, while a backup is made and while none is. */
async function feel(parts: {
  installation: RelayInstallation
  ids: string[]
  command: string[]
  rounds: number
  quietMs: number
  backup: Backup
}) {
  const { installation, ids, command, rounds, quietMs, backup } = parts
  await using stack = new AsyncDisposableStack()
  const server = await startServer(stack, command)
  const requests = {
    read: (n: number) => requestText(`${MESSAGES}/${ids[n % ids.length]}`, installation.key),
    write: (n: number) => requestText(MESSAGES, installation.key, event(n)),
  }
  for (const request of Object.values(requests)) await warmUp(server, request)
  const during = (work: Promise<unknown>) => askDuring(server, requests, work)
  return await alternate(rounds, {
    subject: async () => during((await backup()).ended),
    floor: () => during(Bun.sleep(quietMs)),
  })
}

async function warmUp(server: Server, request: (n: number) => string) {
  let sent = 0
  const next = () => (sent < WARM_UP ? request(sent++) : undefined)
  await load(server, { clients: 16, request: next })
}

type Kind = 'read' | 'write'

async function askDuring(
  server: Server,
  requests: Record<Kind, (n: number) => string>,
  work: Promise<unknown>,
): Promise<Sample> {
  const ask = async (kind: Kind) => {
    const pace = { everyMs: EVERY_MS, request: requests[kind] }
    const { times } = await probeDuring(server, pace, work)
    return Object.entries(latencyOf(times)).map(([unit, value]) => [`${kind} ${unit}`, value])
  }
  const both = await Promise.all([ask('read'), ask('write')])
  return Object.fromEntries(both.flat())
}

function figures(name: string, samples: Record<'subject' | 'floor', Sample[]>): Figure[] {
  const units = Object.keys(samples.subject[0] ?? {})
  return units.map((unit) => compare(name, unit, samples))
}

/** The server says in the database when it begins one, and when that has ended. */
async function nextScheduled({ dataDir }: RelayInstallation): Promise<{ ended: Promise<unknown> }> {
  const client = new Database(databaseFile(dataDir), { readonly: true, strict: true })
  const open = client.query(
    "SELECT 1 FROM backups WHERE origin = 'schedule' AND ended_at IS NULL LIMIT 1",
  )
  const until = async (isOpen: boolean) => {
    while ((open.get() !== null) !== isOpen) await Bun.sleep(POLL_MS)
  }
  await until(false)
  await until(true)
  return { ended: until(false).finally(() => client.close()) }
}
