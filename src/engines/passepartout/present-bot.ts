import { isoTime } from '../../platform/clock.ts'
import type { Environment } from '../../platform/engines.ts'
import type { MessengerPlatform } from './messenger.ts'
import type { BotRow } from './store/bots.ts'

/** A bot as the command line and the console show it, without its token. */
export interface Bot {
  id: string
  tenant_id: string
  environment: Environment
  platform: MessengerPlatform
  /** Null without a token. */
  username: string | null
  name: string | null
  url: string | null
  /** The beginning of the token, to recognize it. */
  token: string | null
  enabled: boolean
  match: BotRow['match']
  transport: BotRow['transport'] | null
  status: 'not_configured' | 'disabled' | BotRow['health']
  /** A description of the current problem. */
  issue: string | null
  created_at: string
  updated_at: string
}

export const presentBot = (bot: BotRow): Bot => ({
  id: bot.id,
  tenant_id: bot.tenantId,
  environment: bot.environment,
  platform: bot.platform,
  ...identityOf(bot),
  enabled: bot.isEnabled,
  match: bot.match,
  transport: bot.platform === 'telegram' ? bot.transport : null,
  status: statusOf(bot),
  issue: bot.issue,
  created_at: isoTime(bot.createdAt),
  updated_at: isoTime(bot.updatedAt),
})

function identityOf({ username, name, token, platformBotId }: BotRow) {
  if (token === null) return { username: null, name: null, url: null, token: null }
  return { username, name, url: `https://t.me/${username}`, token: `${platformBotId}:…` }
}

function statusOf({ platform, token, isEnabled, health }: BotRow): Bot['status'] {
  if (platform === 'telegram' && token === null) return 'not_configured'
  return isEnabled ? health : 'disabled'
}
