import type { Bot, BotOutcome } from '../engines/passepartout/index.ts'
import { ENVIRONMENTS } from '../platform/engines.ts'
import {
  type Answer,
  type Command,
  type Configured,
  type Invocation,
  type Option,
  oneOf,
  table,
  UsageError,
} from './command.ts'
import { withServices } from './open.ts'

const WHOSE: Record<string, Option> = {
  tenant: {
    type: 'string',
    value: 'ID',
    help: 'The tenant that the bot belongs to.',
    required: true,
  },
  env: {
    type: 'string',
    value: 'ENV',
    help: 'live for a Telegram bot, test for the sandbox bot.',
    required: true,
  },
}

export const botSet: Command = {
  name: 'bot set',
  summary: 'Set up or change the bot for sign-in.',
  options: {
    ...WHOSE,
    'token-stdin': { type: 'boolean', help: 'Read the BotFather token from standard input.' },
    match: {
      type: 'string',
      value: 'WHEN',
      help: 'When users pick a number: required (always) or optional (only if the app sends client details, the default).',
    },
    transport: {
      type: 'string',
      value: 'HOW',
      help: 'polling (the default) works anywhere. With webhook, Telegram calls [server] base_url.',
    },
  },
  run: async ({ config, io, options }) => {
    const owner = ownerIn(options)
    const change = {
      token: options['token-stdin'] ? (await io.in()).trim() : undefined,
      match: wordIn(options, 'match', ['optional', 'required']),
      transport: wordIn(options, 'transport', ['polling', 'webhook']),
    }
    if (Object.values(change).every((value) => value === undefined))
      throw new UsageError('bot set: nothing to set. Use --token-stdin, --match or --transport')
    return withServices(config, async ({ bots, actor }) => {
      const outcome = await (await bots()).set(actor, owner, change)
      return answerOf(outcome, `Set ${nameOf(outcome.bot)}.`)
    })
  },
}

export const botEnable: Command = {
  name: 'bot enable',
  summary: 'Enable sign-in with the bot.',
  options: {
    ...WHOSE,
    'take-over': {
      type: 'boolean',
      help: 'Take over the messages from another system that receives them by webhook.',
    },
  },
  run: ({ config, options }) => {
    const owner = ownerIn(options)
    const takeOver = options['take-over'] === true
    return withServices(config, async ({ bots, actor }) => {
      const outcome = await (await bots()).enable(actor, owner, { takeOver })
      return answerOf(outcome, `Enabled ${nameOf(outcome.bot)}.`)
    })
  },
}

export const botDisable: Command = {
  name: 'bot disable',
  summary: 'Disable sign-in with the bot.',
  options: WHOSE,
  run: (given) => changed(given, 'disable', 'Disabled'),
}

export const botRemove: Command = {
  name: 'bot remove',
  summary: 'Delete the token of the bot. Users are kept.',
  options: WHOSE,
  run: (given) => changed(given, 'remove', 'Removed'),
}

export const botList: Command = {
  name: 'bot list',
  summary: 'List bots and their problems.',
  options: { tenant: { type: 'string', value: 'ID', help: 'Only bots of this tenant.' } },
  run: ({ config, options }) =>
    withServices(config, async ({ bots }) => {
      const list = (await bots()).list(options.tenant as string | undefined)
      const head = ['TENANT', 'ENV', 'BOT', 'STATUS', 'MATCH', 'TRANSPORT', 'TROUBLE']
      const text = list.length === 0 ? 'No bots yet.' : table([head, ...list.map(row)])
      return { json: { bots: list }, text }
    }),
}

const changed = (
  { config, options }: Configured,
  verb: 'disable' | 'remove',
  done: string,
): Promise<Answer> => {
  const owner = ownerIn(options)
  return withServices(config, async ({ bots, actor }) => {
    const bot = await (await bots())[verb](actor, owner)
    return { json: bot, text: `${done} the ${bot.environment} bot.` }
  })
}

const ownerIn = (options: Invocation['options']) => ({
  tenantId: `${options.tenant}`,
  environment: oneOf(ENVIRONMENTS, 'env', options.env),
})

const wordIn = <const T extends string>(
  options: Invocation['options'],
  name: string,
  words: readonly T[],
): T | undefined => (options[name] === undefined ? undefined : oneOf(words, name, options[name]))

function answerOf({ bot, warnings }: BotOutcome, done: string): Answer {
  const hint = bot.enabled
    ? []
    : [`Enable it with: bot enable --tenant ${bot.tenant_id} --env ${bot.environment}`]
  const lines = [done, ...warnings.map((warning) => `Warning: ${warning}.`), ...hint]
  return { json: { ...bot, warnings }, text: lines.join('\n') }
}

const nameOf = ({ username, environment }: Bot): string =>
  username === null ? `the ${environment} bot` : `@${username}`

const row = (bot: Bot): string[] => [
  bot.tenant_id,
  bot.environment,
  bot.username === null ? '-' : `@${bot.username}`,
  bot.status,
  bot.match,
  bot.transport ?? '-',
  bot.issue ?? '-',
]
