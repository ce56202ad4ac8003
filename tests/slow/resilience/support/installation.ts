import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { BINARY, beginServer, command, type Server, startServer } from '../../../support/binary.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { clientOf } from './client.ts'

/** No limits on a crowd from one address, and work that is due is found at once. */
const SETTINGS = {
  GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.0/8',
  GATEHOUSE_LIMITS_REQUESTS_PER_MINUTE: '10000000',
  GATEHOUSE_CLOCKWORK_TICK: '100ms',
  GATEHOUSE_CLOCKWORK_RETRY_DELAYS: '1s,1s,1s',
  GATEHOUSE_RELAY_RETRY_DELAYS: '1s,1s,1s,1s,1s,1s',
  GATEHOUSE_RELAY_BREAKER_FAILURES: '1000',
}

interface Place {
  /** In a folder of its own unless it is said where. */
  dataDir?: string
  /** As in the environment. */
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

  /** A command that is expected to do what it is told to. */
  async function done(...args: string[]) {
    const { code, out, err, json } = await run(...args)
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`)
    return { out, json }
  }

  const ask = async (...args: string[]) => (await done(...args, '--json')).json()

  /** One that is not waited for; it ends with the stack at the latest. */
  function begin(...args: string[]) {
    const child = Bun.spawn([BINARY, ...args], { cwd, env, stdout: 'ignore', stderr: 'ignore' })
    stack.defer(() => child.kill('SIGKILL'))
    return child
  }

  /** By a shell, in which `$GATEHOUSE` is the executable. */
  function inShell(script: string) {
    const path = { PATH: process.env.PATH ?? '', GATEHOUSE: BINARY }
    const shell = Bun.spawn(['sh', '-c', script], { cwd, env: { ...env, ...path } })
    return shell.exited
  }

  /** Ends with the stack, unless somebody ends it before. */
  const serve = async (...args: string[]): Promise<Server> =>
    stack.use(await startServer({ cwd, env, args }))

  /** One that may not come up, or is not waited for. */
  const beginServing = () => stack.use(beginServer({ cwd, env }))

  /** What `serve` says that cannot start. Waits for as long as one runs that can. */
  const serveInVain = () => run('serve', '--server-port', '0')

  async function newTenant(): Promise<string> {
    return (await ask('tenant', 'create', '--name', 'Acme', '--plan', 'unlimited')).id
  }

  async function newClient(tenantId: string, engine: string, environment?: string) {
    const where = environment === undefined ? [] : ['--env', environment]
    const { key } = await ask('key', 'create', '--tenant', tenantId, '--engine', engine, ...where)
    return clientOf(key)
  }

  /** What `doctor` finds that has to be mended, as `check: message`. */
  async function problems(): Promise<string[]> {
    const { findings } = (await run('doctor', '--json')).json()
    return findings
      .filter(({ result }: { result: string }) => result === 'problem')
      .map(({ check, message }: { check: string; message: string }) => `${check}: ${message}`)
  }

  /** What is on disk, as somebody beside the servers reads it. */
  function rows<Row>(sql: string): Row[] {
    using client = new Database(database, { readonly: true })
    return client.query<Row, []>(sql).all()
  }

  /** Past the servers, such as to let time go by. */
  function change(sql: string) {
    using client = new Database(database)
    client.run(sql)
  }

  return {
    cwd,
    dataDir: place,
    database,
    run,
    done,
    ask,
    begin,
    inShell,
    serve,
    beginServing,
    serveInVain,
    newTenant,
    newClient,
    problems,
    rows,
    change,
  }
}
