const PATH = '/v1/passepartout/telegram/'

/** The webhook URL of a bot. */
export const webhookUrl = (baseUrl: string, botId: string): string => `${baseUrl}${PATH}${botId}`

/** Whether a webhook URL leads to this server, or led to this bot before the server moved. */
export const isOurWebhook = (url: string, botId: string | undefined, baseUrl: string): boolean =>
  url.startsWith(webhookUrl(baseUrl, '')) ||
  (botId !== undefined && (URL.parse(url)?.pathname.endsWith(PATH + botId) ?? false))

/** Ports that Telegram calls; empty for the default port. */
const PORTS = ['', '443', '80', '88', '8443']

/** Why Telegram would not call this server; self-hosted Bot API servers are less strict. */
export function webhookObjection(baseUrl: string, isOwnServer: boolean): string | undefined {
  const { protocol, port } = new URL(baseUrl)
  if (isOwnServer || (protocol === 'https:' && PORTS.includes(port))) return undefined
  return (
    `must be polling: Telegram calls https on port 443, 80, 88 or 8443, and [server] base_url is ` +
    baseUrl
  )
}

/** Whether the Bot API is Telegram's own, not self-hosted. */
export const isTelegramItself = (apiRoot: string): boolean =>
  new URL(apiRoot).hostname === 'api.telegram.org'
