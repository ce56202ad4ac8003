import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { withNewServices } from '../../../src/cli/open.ts'
import { databaseFile } from '../../../src/db/open.ts'
import { BINARY, type Server, startServer, until } from '../../support/binary.ts'
import { type BotMessage, type Person, startBotApi } from '../../support/bot-api/index.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { freePort } from '../../support/port.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
type Json = any

interface Answered {
  status: number
  body: Json
  headers: Headers
}

export interface Login {
  nonce: string
  deep_link: string
  match_code?: string
}

const dataIn = (cwd: string) => join(cwd, 'data')

/** A Bot API server, and a data directory that servers and commands can be started in. */
export function openInstallation(stack: AsyncDisposableStack) {
  const { path: cwd } = stack.use(temporaryFolder())
  const botApi = stack.use(startBotApi())
  const settings = ['--passepartout-telegram-api-root', botApi.url]
  const serving = [...settings, '--limits-requests-per-minute', '10000000']

  /** Ends with the stack, unless somebody ends it before. */
  const serve = async (...args: string[]): Promise<Server> =>
    stack.use(await startServer({ cwd, args: [...serving, '--metrics-enabled', 'true', ...args] }))

  /** With `input` at its standard input, as from a pipe. */
  async function run(args: string[], input = '') {
    const child = Bun.spawn([BINARY, ...args, ...settings, '--json'], {
      cwd,
      env: {},
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    child.stdin.write(input)
    child.stdin.end()
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { out, err, code, json: () => JSON.parse(out) }
  }

  async function newKey(tenantId: string, environment: string): Promise<string> {
    const whose = ['--tenant', tenantId, '--engine', 'passepartout', '--env', environment]
    return (await run(['key', 'create', ...whose])).json().key
  }

  let reader: Database | undefined

  /** What is on disk, as somebody beside the servers reads it. */
  function rows<Row>(sql: string): Row[] {
    reader ??= stack.use(new Database(databaseFile(dataIn(cwd)), { readonly: true }))
    return reader.query<Row, []>(sql).all()
  }

  const count = (what: string): number =>
    rows<{ n: number }>(`SELECT count(*) AS n FROM ${what}`)[0]?.n ?? 0

  return { cwd, botApi, serve, run, newKey, rows, count }
}

export type Door = Awaited<ReturnType<typeof openDoor>>

const ACTOR = { kind: 'cli', source: 'test' } as const

/** An installation with a tenant whose live bot is in use, and a first process that polls for it. */
export async function openDoor(stack: AsyncDisposableStack) {
  const installation = openInstallation(stack)
  const { cwd, botApi, serve, rows, count } = installation
  const bot = botApi.bot({ name: 'Acme' })
  const flags = { 'data-dir': dataIn(cwd), 'passepartout-telegram-api-root': botApi.url }
  const key = await withNewServices(testConfig(flags), async ({ tenants, keys, bots }) => {
    const { id: tenantId } = await tenants.create(ACTOR, { name: 'Acme', plan: 'unlimited' })
    const owner = { tenantId, environment: 'live' } as const
    const office = await bots()
    await office.set(ACTOR, owner, { token: bot.token })
    await office.enable(ACTOR, owner)
    return (await keys.issue(ACTOR, { ...owner, engine: 'passepartout' })).key
  })
  const client = loginClient(key)
  // It is started again on its port, which nobody else must get meanwhile.
  const first = await serve('--server-port', `${freePort()}`)
  await botApi.waitForPoller(bot)

  /** Number of the process that has the lease of the bot. */
  const ownerPid = (): number | undefined =>
    rows<{ pid: number }>(`SELECT pid FROM instances JOIN passepartout_bots
      ON lease_owner = instances.id WHERE platform = 'telegram'`)[0]?.pid

  /** How often Telegram had to tell one poller that there is another. */
  const conflicts = (): number =>
    botApi.callsOf('getUpdates').filter(({ status }) => status === 409).length

  /** Somebody has their question, and the server knows: else it would put it again after a crash. */
  async function asked(person: Person): Promise<BotMessage> {
    const question = await person.waitForMessage(bot, isQuestion, 15_000)
    const noted = `passepartout_prompts WHERE chat_id = '${person.id}' AND message_id IS NOT NULL`
    await until(() => count(noted) > 0)
    return question
  }

  /** As somebody who is asked, and answers. */
  async function approve(person: Person, { match_code }: Login) {
    return person.tap(await asked(person), match_code ?? 'Approve')
  }

  return { ...installation, ...client, first, bot, ownerPid, conflicts, asked, approve }
}

export const isQuestion = ({ buttons }: BotMessage): boolean => buttons.length > 0
export const isOutcome = (message: BotMessage): boolean => !isQuestion(message)

/** Speaks to whichever of the processes; they all answer for the same data. */
export function loginClient(key: string) {
  /** Rejects with what `fetch` throws when the connection breaks before the answer is there. */
  async function ask(
    server: Server,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answered> {
    const answer = await fetch(`${server.url}/v1/passepartout${path}`, {
      method,
      keepalive: false,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: await answer.json(), headers: answer.headers }
  }

  const tryStart = (server: Server, body?: unknown) => ask(server, 'POST', '/login/start', body)

  async function start(server: Server, label?: string): Promise<Login> {
    const answer = await tryStart(server, label === undefined ? undefined : { client: { label } })
    if (answer.status !== 200) throw new Error(`answered ${JSON.stringify(answer)}`)
    return answer.body
  }

  const status = (server: Server, { nonce }: Login, wait = 0) =>
    ask(server, 'GET', `/login/status?nonce=${nonce}&wait=${wait}`)

  const introspect = async (server: Server, token: string): Promise<Json> =>
    (await ask(server, 'POST', '/tokens/introspect', { access_token: token })).body

  return { tryStart, start, status, introspect }
}

/** A number of the metrics of a process. */
export async function gauge(server: Server, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`, { keepalive: false })).text()
  return Number(new RegExp(`^gatehouse_${name} (\\d+)$`, 'm').exec(text)?.[1])
}

/** How long the condition takes to come true. */
export async function msUntil(holds: () => boolean | Promise<boolean>, withinMs = 30_000) {
  const begun = performance.now()
  await until(holds, () => '', withinMs)
  return performance.now() - begun
}
