import type { Bot } from './fixture.ts'
import { kindsOf, type Params, textOf } from './params.ts'
import type { Webhook } from './push.ts'
import { badRequest, conflict } from './wire.ts'

export function setWebhook(bot: Bot, params: Params) {
  const url = textOf(params, 'url')
  const goesTo = checkedAddress(url)
  const secret = checkedSecret(textOf(params, 'secret_token'))
  bot.allowedKinds = kindsOf(params) ?? bot.allowedKinds
  useWebhook(bot, { url, secret, goesTo })
  return { result: true, description: 'Webhook was set' }
}

/** Ends polling. */
export function useWebhook({ poll, push }: Bot, webhook: Webhook) {
  push.set(webhook)
  poll.refuse(conflict('terminated by setWebhook request'))
}

export function deleteWebhook(bot: Bot) {
  const wasSet = bot.push.webhook() !== undefined
  bot.push.set(undefined)
  return {
    result: true,
    description: wasSet ? 'Webhook was deleted' : 'Webhook is already deleted',
  }
}

export function webhookInfo({ push, queue, allowedKinds }: Bot) {
  const webhook = push.webhook()
  return {
    result: {
      url: webhook?.url ?? '',
      has_custom_certificate: false,
      pending_update_count: queue.size(),
      ...(webhook && { max_connections: 40 }),
      ...(webhook?.lastError && {
        last_error_date: webhook.lastError.date,
        last_error_message: webhook.lastError.message,
      }),
      ...(allowedKinds?.length && { allowed_updates: allowedKinds }),
    },
  }
}

/** Reaches no other machine. */
function checkedAddress(url: string): string {
  if (['127.0.0.1', 'localhost'].includes(URL.parse(url)?.hostname ?? '')) return url
  throw badRequest('bad webhook: Failed to resolve host: Name or service not known')
}

function checkedSecret(secret: string): string | undefined {
  if (secret === '') return undefined
  if (secret.length > 256) throw badRequest('secret token is too long')
  if (!/^[\w-]+$/.test(secret)) throw badRequest('secret token contains unallowed characters')
  return secret
}
