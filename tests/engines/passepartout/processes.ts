import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import { join } from 'node:path'
import { withNewServices } from '../../../src/cli/open.ts'
import { databaseFile } from '../../../src/db/open.ts'
import { BINARY, type Server, startServer, until } from '../../support/binary.ts'
import { type BotMessage, type Person, startBotApi } from '../../support/bot-api/index.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { outcomeOf } from '../../support/source.ts'
import { INTROSPECT, type Json, START, statusOf } from './fixture.ts'

export interface Login {
  nonce: string
  deep_link: string
  match_code?: string
}

const ACTOR = { kind: 'cli', source: 'test' } as const

/** A Bot API server and one data directory for the processes of a test file. */
export function useInstallation() {
  const stack = new AsyncDisposableStack()
  afterAll(() => stack.disposeAsync())
  const { path: cwd } = stack.use(temporaryFolder())
  const dataDir = join(cwd, 'data')
  const botApi = stack.use(startBotApi())
  const settings = ['--passepartout-telegram-api-root', botApi.url]
  const flags = ['--limits-requests-per-minute', '10000000', '--metrics-enabled', 'true']
  const args = [...settings, ...flags, '--log-level', 'debug']
  let servers: Server[] = []

  const serve = async (): Promise<Server> => {
    const server = stack.use(await startServer({ cwd, args }))
    servers.push(server)
    return server
  }

  /** So many processes: the others end, and missing ones are started. */
  async function running(count: number): Promise<Server[]> {
    servers = servers.filter(isRunning)
    await Promise.all(servers.splice(count).map((server) => server.terminate()))
    while (servers.length < count) await serve()
    return [...servers]
  }

  /** A command, with `input` as from a pipe. */
  function run(command: string[], input = '') {
    const pipes = { stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' } as const
    return outcomeOf(
      Bun.spawn([BINARY, ...command, ...settings, '--json'], { cwd, env: {}, ...pipes }),
    )
  }

  let reader: Database | undefined
  function rows<Row>(sql: string): Row[] {
    reader ??= stack.use(new Database(databaseFile(dataDir), { readonly: true }))
    return reader.query<Row, []>(sql).all()
  }
  const count = (what: string): number =>
    rows<{ n: number }>(`SELECT count(*) AS n FROM ${what}`)[0]?.n ?? 0

  /** A tenant whose live bot is in use, and polled by one of the processes. */
  async function newTenant() {
    const bot = botApi.bot({ name: 'Acme' })
    const config = testConfig({ 'data-dir': dataDir, 'passepartout-telegram-api-root': botApi.url })
    const { id, key } = await withNewServices(config, async ({ tenants, keys, bots }) => {
      const { id } = await tenants.create(ACTOR, { name: 'Acme', plan: 'unlimited' })
      const owner = { tenantId: id, environment: 'live' } as const
      const offline = await bots()
      await offline.set(ACTOR, owner, { token: bot.token })
      await offline.enable(ACTOR, owner)
      const { key } = await keys.issue(ACTOR, { ...owner, engine: 'passepartout' })
      return { id, key }
    })
    await botApi.waitForPoller(bot, 10_000)

    /** Rows of the tenant in a table of the engine. */
    const countOf = (table: string, where = '1') =>
      count(`passepartout_${table} WHERE tenant_id = '${id}' AND ${where}`)
    const callsOf = (method: string) =>
      botApi.callsOf(method).filter(({ token }) => token === bot.token)
    const conflicts = () => callsOf('getUpdates').filter(({ status }) => status === 409).length

    /** The process that polls for the bot. */
    const owner = (): Server | undefined => {
      const [lease] = rows<{ pid: number }>(`SELECT pid FROM instances
        JOIN passepartout_bots ON lease_owner = instances.id WHERE tenant_id = '${id}'`)
      return servers.find(({ pid }) => pid === lease?.pid)
    }

    /** The question, once its message is stored: a killed process would send it again. */
    async function asked(person: Person): Promise<BotMessage> {
      const question = await person.waitForMessage(bot, isQuestion, 15_000)
      await until(() => countOf('prompts', `chat_id = '${person.id}' AND message_id > 0`) > 0)
      return question
    }

    const approve = async (person: Person, { match_code }: Login) =>
      person.tap(await asked(person), match_code ?? 'Approve')

    const known = { id, bot, countOf, callsOf, conflicts, owner, asked, approve }
    return { ...loginClient(key), ...known }
  }

  return { botApi, serve, running, run, rows, count, newTenant }
}

function isRunning({ pid }: Server): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export const isQuestion = ({ buttons }: BotMessage): boolean => buttons.length > 0
export const isOutcome = (message: BotMessage): boolean => !isQuestion(message)

/** Speaks to any of the processes. */
export function loginClient(key: string) {
  /** Rejects when the connection breaks before the answer. */
  async function ask(server: Server, path: string, body?: object) {
    const type = body && { 'content-type': 'application/json' }
    const headers = { authorization: `Bearer ${key}`, ...type }
    const init = body && { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(server.url + path, { ...init, keepalive: false, headers })
    return { status: answer.status, body: (await answer.json()) as Json }
  }

  const tryStart = (server: Server, body: object = {}) => ask(server, START, body)

  async function start(server: Server, label?: string): Promise<Login> {
    const answer = await tryStart(server, label === undefined ? {} : { client: { label } })
    if (answer.status !== 200) throw new Error(`answered ${JSON.stringify(answer)}`)
    return answer.body
  }

  const status = (server: Server, { nonce }: Login, wait = 0) => ask(server, statusOf(nonce, wait))

  const introspect = async (server: Server, token: string): Promise<Json> =>
    (await ask(server, INTROSPECT, { access_token: token })).body

  return { tryStart, start, status, introspect }
}

/** A metric of a process. */
export async function gauge(server: Server, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`, { keepalive: false })).text()
  return Number(new RegExp(`^gatehouse_${name} (\\d+)$`, 'm').exec(text)?.[1])
}
