import { withNewServices } from '../../../src/cli/open.ts'
import { INTROSPECT, START, statusOf } from '../../engines/passepartout/fixture.ts'
import { type Server, until } from '../../support/binary.ts'
import { type BotMessage, type Person, startBotApi } from '../../support/bot-api/index.ts'
import { testConfig } from '../../support/config.ts'
import { clientOf, type Json } from '../resilience/support/client.ts'
import { openInstallation } from '../resilience/support/installation.ts'

export interface Login {
  nonce: string
  deep_link: string
  match_code?: string
}

export type Tenant = Awaited<ReturnType<ReturnType<typeof openLogins>['newTenant']>>

/** An installation beside a Bot API server. */
export function openLogins(stack: AsyncDisposableStack) {
  const botApi = stack.use(startBotApi())
  const settings = {
    GATEHOUSE_PASSEPARTOUT_TELEGRAM_API_ROOT: botApi.url,
    GATEHOUSE_METRICS_ENABLED: 'true',
    GATEHOUSE_LOG_LEVEL: 'debug',
  }
  const installation = openInstallation(stack, { settings })
  const { count, dataDir, rows, running } = installation

  /** A tenant whose live bot is in use, and polled by one of the processes. */
  async function newTenant() {
    const bot = botApi.bot({ name: 'Acme' })
    const id = installation.newTenant()
    const config = testConfig({ 'data-dir': dataDir, 'passepartout-telegram-api-root': botApi.url })
    await withNewServices(config, async ({ actor, ...services }) => {
      const owner = { tenantId: id, environment: 'live' } as const
      const bots = await services.bots()
      await bots.set(actor, owner, { token: bot.token })
      await bots.enable(actor, owner)
    })
    const { key } = installation.newClient(id, 'passepartout')
    await botApi.waitForPoller(bot, 10_000)

    /** Rows of the tenant in a table of the engine. */
    const countOf = (table: string, where = '1') =>
      count(`passepartout_${table} WHERE tenant_id = '${id}' AND ${where}`)
    const callsOf = (method: string) =>
      botApi.callsOf(method).filter(({ token }) => token === bot.token)
    const conflicts = () => callsOf('getUpdates').filter(({ status }) => status === 409).length

    /** The process that polls for the bot. */
    function owner(): Server | undefined {
      const [lease] = rows<{ pid: number }>(`SELECT pid FROM instances
        JOIN passepartout_bots ON lease_owner = instances.id WHERE tenant_id = '${id}'`)
      return installation.servers().find(({ pid }) => pid === lease?.pid)
    }

    /** The question, once its message is stored: a killed process would send it again. */
    async function asked(person: Person): Promise<BotMessage> {
      const question = await person.waitForMessage(bot, isQuestion, 15_000)
      await until(() => countOf('prompts', `chat_id = '${person.id}' AND message_id > 0`) > 0)
      return question
    }

    const approve = async (person: Person, { match_code }: Login) =>
      person.tap(await asked(person), match_code ?? 'Approve')

    return { ...loginClient(key), id, bot, countOf, callsOf, conflicts, owner, asked, approve }
  }

  return { ...installation, botApi, newTenant, one: async () => (await running(1))[0] as Server }
}

export const isQuestion = ({ buttons }: BotMessage): boolean => buttons.length > 0
export const isOutcome = (message: BotMessage): boolean => !isQuestion(message)

/** Sends sign-ins to any of the processes. */
export function loginClient(key: string) {
  const { ask, make } = clientOf(key)
  return {
    tryStart: (server: Server) => ask(server, 'POST', START, {}),
    start: (server: Server, label?: string): Promise<Login> =>
      make(server, 'POST', START, label === undefined ? {} : { client: { label } }),
    status: (server: Server, { nonce }: Login, wait = 0) =>
      ask(server, 'GET', statusOf(nonce, wait)),
    introspect: (server: Server, token: string): Promise<Json> =>
      make(server, 'POST', INTROSPECT, { access_token: token }),
  }
}

/** A metric of a process. */
export async function gauge({ url }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^gatehouse_${name} (\\d+)$`, 'm').exec(text)?.[1])
}
