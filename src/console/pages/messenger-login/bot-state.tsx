import type { ComponentChildren } from 'preact'
import type { Tone } from '../../../../views/ui/status.tsx'
import { LongText } from '../../../../views/ui/text.tsx'
import type { Bot } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'

export const BOT_TITLES: Record<Environment, string> = { live: 'Live bot', test: 'Test bot' }

interface BotState {
  tone: Tone
  sentence: ComponentChildren
}

/** State of a bot in a sentence. */
export function stateOf(environment: Environment, bot: Bot | undefined): BotState {
  const which = environment === 'live' ? 'The live bot' : 'The test bot'
  if (!isSetUp(environment, bot))
    return { tone: 'quiet', sentence: "No live bot yet. Users can't sign in with a messenger." }
  if (!bot?.enabled)
    return { tone: 'quiet', sentence: `${which} is disabled. Users can't sign in with it.` }
  if (bot.status === 'ok') return { tone: 'good', sentence: `${which} is working` }
  const why = bot.issue ?? ISSUES[bot.status] ?? bot.status
  return { tone: 'bad', sentence: <LongText text={`${which} is not working: ${why}.`} /> }
}

const ISSUES: Partial<Record<Bot['status'], string>> = {
  invalid_token: 'Telegram rejects its token',
  conflict: 'another system receives its messages',
  unreachable: "Gatehouse can't reach Telegram",
}

export const isSetUp = (environment: Environment, bot: Bot | undefined): boolean =>
  environment === 'test' || (bot !== undefined && bot.status !== 'not_configured')
