import { bootTestApp, type TestAppOptions } from '../../support/app.ts'
import { startBotApi } from '../../support/bot-api/index.ts'

const ACTOR = { kind: 'cli', source: 'test' } as const

export type Fixture = Awaited<ReturnType<typeof bootFixture>>

/** The application, a Bot API server, and a tenant whose bots are in use. */
export async function bootFixture(options: TestAppOptions = {}) {
  const botApi = startBotApi()
  const flags = { 'passepartout-telegram-api-root': botApi.url, ...options.flags }
  const app = await bootTestApp({ ...options, flags })

  /** A tenant with a live bot of its own, one in the sandbox, and a key for each. */
  async function signingTenant(name = 'Acme') {
    const tenant = await app.tenant(name)
    const bot = botApi.bot({ name })
    const owner = { tenantId: tenant.id, environment: 'live' } as const
    const { bots } = app.passepartout
    await bots.set(ACTOR, owner, { token: bot.token })
    await bots.enable(ACTOR, owner)
    await bots.enable(ACTOR, { tenantId: tenant.id, environment: 'test' })
    await botApi.waitForPoller(bot)
    const live = app.client((await tenant.key('passepartout', 'live')).key)
    const test = app.client((await tenant.key('passepartout', 'test')).key)
    return { ...tenant, bot, live, test }
  }

  async function stop() {
    await app.stop()
    await botApi[Symbol.asyncDispose]()
  }

  return { app, botApi, actor: ACTOR, signingTenant, stop, [Symbol.asyncDispose]: stop }
}
