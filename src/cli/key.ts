import { parseDuration } from '../config/durations.ts'
import { ENGINES, ENVIRONMENTS } from '../platform/engines.ts'
import type { ApiKey, IssuedKey } from '../platform/keys.ts'
import { type Answer, type Command, oneOf, table, UsageError } from './command.ts'
import { withServices } from './open.ts'

export const keyCreate: Command = {
  name: 'key create',
  summary: 'Create an API key. It is shown only once.',
  options: {
    tenant: {
      type: 'string',
      value: 'ID',
      help: 'The tenant that the key belongs to.',
      required: true,
    },
    engine: {
      type: 'string',
      value: 'ENGINE',
      help: `One of ${ENGINES.join(', ')}.`,
      required: true,
    },
    env: {
      type: 'string',
      value: 'ENV',
      help: 'live (the default) or test. Clockwork keys have none.',
    },
    scope: {
      type: 'string',
      value: 'SCOPE',
      multiple: true,
      help: 'A scope to grant. Default: all scopes of the engine.',
    },
  },
  run: ({ config, options }) => {
    const key = {
      tenantId: `${options.tenant}`,
      engine: oneOf(ENGINES, 'engine', options.engine),
      environment: options.env === undefined ? undefined : oneOf(ENVIRONMENTS, 'env', options.env),
      scopes: options.scope as string[] | undefined,
    }
    return withServices(config, async ({ keys, actor }) => issued(await keys.issue(actor, key)))
  },
}

export const keyList: Command = {
  name: 'key list',
  summary: 'List API keys, without their secrets.',
  options: { tenant: { type: 'string', value: 'ID', help: 'Only keys of this tenant.' } },
  run: ({ config, options }) =>
    withServices(config, ({ keys }) => {
      const list = keys.list(options.tenant as string | undefined)
      const head = ['ID', 'TENANT', 'ENGINE', 'ENV', 'SECRET', 'STATE', 'LAST USED']
      const text = list.length === 0 ? 'No keys yet.' : table([head, ...list.map(row)])
      return { json: { keys: list }, text }
    }),
}

export const keyRotate: Command = {
  name: 'key rotate',
  summary: 'Replace a key. The old one keeps working for a grace period.',
  positionals: ['ID'],
  options: {
    grace: {
      type: 'string',
      value: 'TIME',
      help: 'How long the old key keeps working. Default: 24h.',
    },
  },
  run: ({ config, options, args }) => {
    const graceMs = grace(`${options.grace ?? '24h'}`)
    return withServices(config, async ({ keys, actor }) =>
      issued(await keys.rotate(actor, args[0] ?? '', graceMs)),
    )
  },
}

export const keyRevoke: Command = {
  name: 'key revoke',
  summary: 'Revoke a key immediately.',
  positionals: ['ID'],
  run: ({ config, args }) =>
    withServices(config, async ({ keys, actor }) => {
      const key = await keys.revoke(actor, args[0] ?? '')
      return { json: key, text: `Revoked ${key.id}.` }
    }),
}

function grace(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new UsageError('--grace: must be a duration such as 90m or 24h')
  return ms
}

const issued = (key: IssuedKey): Answer => ({
  json: key,
  text: `${key.key}\n\nCopy it now: it is not shown again. Key id ${key.id}, scopes ${key.scopes.join(' ')}.`,
})

const row = (key: ApiKey): string[] => [
  key.id,
  key.tenant_id,
  key.engine,
  key.environment ?? '-',
  key.hint,
  stateOf(key),
  key.last_used_at ?? 'never',
]

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at) return `revoked ${revoked_at}`
  return expires_at ? `until ${expires_at}` : 'active'
}
