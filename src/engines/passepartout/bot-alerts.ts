import type { NewAlert } from '../../platform/alerts/index.ts'
import type { BotRow } from './store/bots.ts'

/** The same for the next bot of an environment, which has another id. */
export const botSubject = ({ environment }: Pick<BotRow, 'environment'>) => `bot:${environment}`

/** The alert that a bot doesn't receive messages. */
export const botAlert = (bot: BotRow, issue: string | null): NewAlert => ({
  tenantId: bot.tenantId,
  kind: 'bot.failing',
  subject: botSubject(bot),
  name: bot.username === null ? `of ${bot.environment}` : `@${bot.username}`,
  text: `${issue ?? 'Unknown'}.`,
  path: `/${bot.environment}/bots`,
})
