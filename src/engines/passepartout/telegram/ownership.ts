import { conflict, invalid } from '../../../platform/errors.ts'
import { MessengerError } from '../messenger.ts'
import type { BotRow } from '../store/bots.ts'
import { type BotApi, isTokenShaped } from './client.ts'
import { isOurWebhook, webhookObjection } from './webhook-url.ts'

/** The identity of a bot, according to Telegram. */
export type BotIdentity = Pick<BotRow, 'username' | 'name'> & { platformBotId: string }

export type Ownership = ReturnType<typeof createOwnership>

/** Finds a token's bot and whether its messages can arrive here. Errors are for the operator. */
export function createOwnership(parts: {
  connect: (token: string) => BotApi
  baseUrl: () => string
  /** Whether the Bot API is self-hosted, which is less strict about webhooks. */
  isOwnServer: boolean
}) {
  const { connect, baseUrl, isOwnServer } = parts

  /** `known` is the bot to be replaced or continued. */
  async function identify(token: string | undefined, known: BotRow | undefined) {
    if (token === undefined) return { identity: undefined, warnings: [] }
    if (!isTokenShaped(token)) throw invalid(`must be ${SHAPE}`, { field: 'token', rule: 'format' })
    const api = connect(token)
    const { id, username, name } = await api.getMe().catch(refuse)
    const identity: BotIdentity = { platformBotId: id, username, name }
    const { url } = await api.getWebhookInfo().catch(refuse)
    if (!isForeignWebhook(url, known)) return { identity, warnings: [] }
    if (known?.isEnabled && known.platformBotId !== id)
      throw conflict(`${ownedBy(url)}. Disable your bot first, or use another one`, {
        rule: 'taken',
        code: 'bot_in_use',
      })
    return { identity, warnings: [ownedBy(url)] }
  }

  const isOurs = (url: string, bot: BotRow | undefined): boolean =>
    isOurWebhook(url, bot?.id, baseUrl())

  const isForeignWebhook = (url: string, bot: BotRow | undefined): boolean =>
    url !== '' && !isOurs(url, bot)

  function requireReachable() {
    const objection = webhookObjection(baseUrl(), isOwnServer)
    if (objection) throw invalid(objection, { field: 'transport', rule: 'not_allowed' })
  }

  /** Ensures that the bot's messages arrive here. Resolves with what was removed for that. */
  async function takeOverWebhook(
    bot: BotRow,
    api: BotApi,
    { takeOver }: { takeOver: boolean },
  ): Promise<string[]> {
    if (bot.transport === 'webhook') requireReachable()
    const { url } = await api.getWebhookInfo().catch(refuse)
    if (!isForeignWebhook(url, bot)) return []
    if (!takeOver)
      throw conflict(`${ownedBy(url)}. Take it over, or use another bot`, {
        rule: 'taken',
        code: 'bot_in_use',
      })
    await api.deleteWebhook().catch(refuse)
    return [`the webhook at ${hostOf(url)} was removed`]
  }

  return { identify, isOurs, requireReachable, takeOverWebhook }
}

const SHAPE = 'the token from BotFather, such as 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'

const ownedBy = (url: string) =>
  `another system receives the messages of this bot, through a webhook at ${hostOf(url)}`

const hostOf = (url: string): string => URL.parse(url)?.host ?? 'an invalid URL'

/** Telegram's description is passed on to the operator. */
function refuse(error: unknown): never {
  if (!(error instanceof MessengerError)) throw error
  if (error.reason === 'unauthorized')
    throw invalid('is not the token of a Telegram bot', { field: 'token', rule: 'unknown' })
  throw conflict(error.message, { within: 'Telegram', code: 'messenger_unavailable' })
}
