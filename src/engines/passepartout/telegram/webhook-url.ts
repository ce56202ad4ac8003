const PATH = '/v1/passepartout/telegram/'

/** Where Telegram brings the messages of a bot that is not polled. */
export const webhookUrl = (baseUrl: string, botId: string): string => `${baseUrl}${PATH}${botId}`

/** Whether a webhook leads here, or led to this bot before this server moved. */
export const isOurWebhook = (url: string, botId: string | undefined, baseUrl: string): boolean =>
  url.startsWith(webhookUrl(baseUrl, '')) ||
  (botId !== undefined && (URL.parse(url)?.pathname.endsWith(PATH + botId) ?? false))

/** Those that Telegram calls, besides the usual one. */
const PORTS = ['', '443', '80', '88', '8443']

/** Why Telegram would not call this server; a server of one's own is less particular. */
export function webhookObjection(baseUrl: string, isOwnServer: boolean): string | undefined {
  const { protocol, port } = new URL(baseUrl)
  if (isOwnServer || (protocol === 'https:' && PORTS.includes(port))) return undefined
  return (
    `must be polling: Telegram calls https on port 443, 80, 88 or 8443, and [server] base_url is ` +
    baseUrl
  )
}

/** Whether it is Telegram's own Bot API, and not a server of one's own that stands before it. */
export const isTelegramItself = (apiRoot: string): boolean =>
  new URL(apiRoot).hostname === 'api.telegram.org'
