import type { ComponentChildren } from 'preact'
import type { Bot } from '../../../../../src/engines/passepartout/index.ts'
import type { Fields } from '../../../../../src/http/body.ts'
import type { Environment } from '../../../../../src/platform/engines.ts'
import type { FormError } from '../../../form/error-summary.tsx'
import { LongText } from '../../../text.tsx'
import type { Tone } from '../../../tone.ts'
import { url } from '../../../url.ts'

/** What somebody may do to bots. */
export interface BotRights {
  mayChange: boolean
  mayRemove: boolean
}

/** A form of a bot that came back. */
export interface BotTrial {
  form: 'token' | 'settings' | 'enable' | 'try'
  typed: Fields
  errors: readonly FormError[]
}

export const BOT_TITLES: Record<Environment, string> = { live: 'Live bot', test: 'Test bot' }

export const ABOUT: Record<Environment, string> = {
  live: 'People meet it in Telegram.',
  test: 'Built in, on a page of this server: for trying a sign-in without a messenger.',
}

interface BotState {
  tone: Tone
  sentence: ComponentChildren
}

/** How a bot stands, and why; what is wrong is told in the words of others. */
export function stateOf(environment: Environment, bot: Bot | undefined): BotState {
  const which = environment === 'live' ? 'The live bot' : 'The test bot'
  if (!isSetUp(environment, bot))
    return {
      tone: 'quiet',
      sentence: 'There is no live bot yet: nobody can sign in by messenger.',
    }
  if (!bot?.enabled)
    return { tone: 'quiet', sentence: `${which} is not enabled: nobody signs in through it.` }
  if (bot.status === 'ok')
    return { tone: 'good', sentence: `${which} works: people sign in through it.` }
  const why = bot.trouble ?? TROUBLES[bot.status] ?? bot.status
  return { tone: 'bad', sentence: <LongText text={`${which} does not work: ${why}.`} /> }
}

const TROUBLES: Partial<Record<Bot['status'], string>> = {
  invalid_token: 'Telegram no longer accepts its token',
  conflict: 'another system receives its messages',
  unreachable: 'Telegram cannot be reached',
}

export const isSetUp = (environment: Environment, bot: Bot | undefined): boolean =>
  environment === 'test' || (bot !== undefined && bot.status !== 'not_configured')

export const pathOf = (base: string, environment: Environment, verb?: string): string =>
  url(base, `/console/bots/${environment}${verb === undefined ? '' : `/${verb}`}`)
