import type { Bot } from './fixture.ts'
import { flagOf, kindsOf, type Params, textOf } from './params.ts'
import type { Webhook } from './push.ts'
import { badRequest, conflict } from './wire.ts'

const PORTS = ['', '80', '88', '443', '8443']

/** Where a webhook's address really is, as if by DNS. */
export type Reach = (url: string) => string

export function setWebhook(bot: Bot, params: Params, reach: Reach) {
  const url = textOf(params, 'url')
  if (url === '') return deleteWebhook(bot, params)
  const goesTo = checkedAddress(url, reach)
  const secret = checkedSecret(textOf(params, 'secret_token'))

  if (flagOf(params, 'drop_pending_updates')) bot.queue.clear()
  bot.allowedKinds = kindsOf(params) ?? bot.allowedKinds
  useWebhook(bot, { url, secret, goesTo })
  return { result: true, description: 'Webhook was set' }
}

/** Ends polling. */
export function useWebhook({ poll, push }: Bot, webhook: Webhook) {
  push.set(webhook)
  poll.refuse(conflict('terminated by setWebhook request'))
}

export function deleteWebhook(bot: Bot, params: Params) {
  const wasSet = bot.push.webhook() !== undefined
  if (flagOf(params, 'drop_pending_updates')) bot.queue.clear()
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

/** Of plain HTTP and other ports takes those of this machine alone, and reaches no other machine. */
function checkedAddress(url: string, reach: Reach): string {
  const parsed = URL.parse(url)
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol))
    throw badRequest('invalid webhook URL specified')
  if (!isLocal(parsed)) {
    if (parsed.protocol !== 'https:')
      throw badRequest('bad webhook: An HTTPS URL must be provided for webhook')
    if (!PORTS.includes(parsed.port))
      throw badRequest('bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443')
  }
  const goesTo = reach(url)
  if (!isLocal(new URL(goesTo)))
    throw badRequest('bad webhook: Failed to resolve host: Name or service not known')
  return goesTo
}

const isLocal = ({ hostname }: URL) => ['127.0.0.1', 'localhost'].includes(hostname)

function checkedSecret(secret: string): string | undefined {
  if (secret === '') return undefined
  if (secret.length > 256) throw badRequest('secret token is too long')
  if (!/^[\w-]+$/.test(secret)) throw badRequest('secret token contains unallowed characters')
  return secret
}
