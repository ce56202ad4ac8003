import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { beforeAll } from 'bun:test'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { mintSecret, sha256 } from '../../../../src/platform/crypto.ts'
import {
  ENGINE_SCOPES,
  type Engine,
  type Environment,
  hasEnvironments,
} from '../../../../src/platform/engines.ts'
import { newId } from '../../../../src/platform/ids.ts'
import type { Plan } from '../../../../src/platform/tenants.ts'
import {
  BINARY,
  command,
  compileBinary,
  type Server,
  startServer,
} from '../../../support/binary.ts'
import { cli } from '../../../support/cli.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { addMigratedDatabase } from '../../../support/template.ts'
import { type Client, clientOf } from './client.ts'

beforeAll(compileBinary, 120_000)

/** No limits on many requests from one address, and due work is found at once. */
const SETTINGS = {
  GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.0/8',
  GATEHOUSE_LIMITS_REQUESTS_PER_MINUTE: '10000000',
  GATEHOUSE_CLOCKWORK_TICK: '100ms',
  GATEHOUSE_CLOCKWORK_RETRY_DELAYS: '1s,1s,1s',
  GATEHOUSE_RELAY_RETRY_DELAYS: '1s,1s,1s,1s,1s,1s',
  GATEHOUSE_RELAY_BREAKER_FAILURES: '1000',
}

interface Place {
  /** A new folder by default. */
  dataDir?: string
  /** Variables of the environment. */
  settings?: Record<string, string>
}

export type Installation = ReturnType<typeof openInstallation>

/** A data directory, with the executable that serves it and is used on it. */
export function openInstallation(
  stack: AsyncDisposableStack,
  { dataDir, settings = {} }: Place = {},
) {
  const { path: cwd } = stack.use(temporaryFolder())
  const place = dataDir ?? join(cwd, 'data')
  const env = { ...SETTINGS, ...settings, GATEHOUSE_DATA_DIR: place }
  const database = join(place, 'gatehouse.db')

  const run = (...args: string[]) => command({ cwd, env, args })

  /** Runs a command that has to succeed. */
  async function done(...args: string[]) {
    const { code, out, err, json } = await run(...args)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`)
    return { out, json }
  }

  /** Starts a command, which ends with the stack at the latest. */
  function begin(...args: string[]) {
    const child = Bun.spawn([BINARY, ...args], { cwd, env, stdout: 'ignore', stderr: 'ignore' })
    stack.defer(() => child.kill('SIGKILL'))
    return child
  }

  /** Runs a script in which `$GATEHOUSE` is the executable. */
  function inShell(script: string) {
    const path = { PATH: process.env.PATH ?? '', GATEHOUSE: BINARY }
    return Bun.spawn(['sh', '-c', script], { cwd, env: { ...env, ...path } }).exited
  }

  const serve = async (...args: string[]): Promise<Server> =>
    stack.use(await startServer({ cwd, env, args }))

  let servers: Server[] = []

  /** Runs this many servers, oldest first: the others end, and missing ones start. */
  async function running(count: number): Promise<Server[]> {
    servers = servers.filter(({ isRunning }) => isRunning())
    await Promise.all(servers.splice(count).map((server) => server.terminate()))
    while (servers.length < count) servers.push(await serve())
    return [...servers]
  }

  /** The outcome of `serve` when it cannot start. */
  const serveInVain = () => run('serve', '--server-port', '0')

  function newTenant(plan: Plan = 'unlimited'): string {
    if (!existsSync(database)) {
      mkdirSync(place, { recursive: true, mode: 0o700 })
      addMigratedDatabase(place)
    }
    const id = newId()
    change(
      `INSERT INTO tenants (id, name, plan, status, created_at, updated_at)
        VALUES (?, ?, ?, ?, 0, 0)`,
      id,
      'Acme',
      plan,
      'active',
    )
    return id
  }

  /** A client with a new key that has all scopes. */
  function newClient(tenantId: string, engine: Engine, environment: Environment = 'live'): Client {
    const scopes = JSON.stringify(ENGINE_SCOPES[engine])
    const kind = hasEnvironments(engine) ? `${engine}_${environment}_sk` : engine
    const key = `svc_${kind}_${mintSecret()}`
    change(
      `INSERT INTO api_keys (id, tenant_id, engines, environment, scopes, hash, hint, created_at)
       VALUES (?, ?, ?, ?, ?, ?, '', 0)`,
      ...[newId(), tenantId, JSON.stringify([engine])],
      ...[hasEnvironments(engine) ? environment : null, scopes],
      sha256(key),
    )
    return clientOf(key)
  }

  /** The problems that `doctor` finds, as `check: message`. */
  async function problems(): Promise<string[]> {
    const { findings } = (await run('doctor', '--json')).json()
    return findings
      .filter(({ result }: { result: string }) => result === 'problem')
      .map(({ check, message }: { check: string; message: string }) => `${check}: ${message}`)
  }

  /** Reads the file beside the servers. */
  function rows<Row>(sql: string): Row[] {
    using client = new Database(database, { readonly: true })
    return client.query<Row, []>(sql).all()
  }

  /** Changes the file beside the servers, such as to let time pass. */
  function change(sql: string, ...values: SQLQueryBindings[]) {
    using client = new Database(database)
    client.run('PRAGMA busy_timeout = 5000')
    client.run(sql, values)
  }

  return {
    ...{ cwd, dataDir: place, database, run, done, begin, inShell, rows, change },
    ...{ serve, running, serveInVain, newTenant, newClient, problems },
    /** Runs a command in this process, which keeps the database open for a while. */
    here: cli(cwd, { env }),
    /** Those that `running` knows. */
    servers: () => servers,
    /** How many rows there are, as in `count('jobs WHERE name IS NULL')`. */
    count: (what: string) => rows(`SELECT 1 FROM ${what}`).length,
    /** The ids of the stored messages. */
    storedMessages: () => rows<{ id: string }>('SELECT id FROM messages').map(({ id }) => id),
  }
}

/** Checks as often as it can, as for what lasts a millisecond; children that end are seen, too. */
export async function hit(holds: () => boolean, withinMs = 10_000) {
  const end = performance.now() + withinMs
  while (!holds()) {
    if (performance.now() > end) throw new Error(`was not hit in ${withinMs} ms`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
