import { parseDuration } from '../config/durations.ts'
import { ENGINES, ENVIRONMENTS } from '../platform/engines.ts'
import { endOfDay } from '../platform/keys/expiry.ts'
import {
  type ApiKey,
  type Expiry,
  type IssuedKey,
  type KeyChange,
  type NewInstallationKey,
  stateOf,
} from '../platform/keys/index.ts'
import { openSystemTenant } from '../platform/system-tenant.ts'
import { type Answer, type Command, type Configured, oneOf, table, UsageError } from './command.ts'
import { withNewServices, withServices } from './open.ts'

const expires = 'Lifetime such as 90d, or the last day such as 2027-01-31 (UTC).'

export const keyCreate: Command = {
  name: 'key create',
  summary: 'Create an API key. It is shown only once.',
  options: {
    tenant: { type: 'string', value: 'ID', help: 'The tenant that the key belongs to.' },
    engine: {
      type: 'string',
      value: 'ENGINE',
      multiple: true,
      help: `One of ${ENGINES.join(', ')}. Repeat it for a key of several engines.`,
    },
    installation: {
      type: 'boolean',
      help: 'Instead of --tenant and --engine: a key for the API of the installation.',
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
      help: 'A scope to grant. Default: all scopes of the engines or the installation.',
    },
    name: { type: 'string', value: 'NAME', help: 'Name, such as the app that uses the key.' },
    note: { type: 'string', value: 'TEXT', help: 'Note for your team.' },
    expires: { type: 'string', value: 'WHEN', help: `${expires} Default: never.` },
  },
  run: (invocation) => {
    const { config, options } = invocation
    const terms = {
      scopes: options.scope as string[] | undefined,
      name: options.name as string | undefined,
      note: options.note as string | undefined,
      expiry: options.expires === undefined ? undefined : expiryIn(`${options.expires}`),
    }
    if (options.installation) return createForInstallation(invocation, terms)
    if (options.tenant === undefined || options.engine === undefined)
      throw new UsageError('key create: add --tenant and --engine, or --installation')
    const key = {
      ...terms,
      tenantId: `${options.tenant}`,
      engines: [options.engine].flat().map((engine) => oneOf(ENGINES, 'engine', engine)),
      environment: options.env === undefined ? undefined : oneOf(ENVIRONMENTS, 'env', options.env),
    }
    return withServices(config, async ({ keys, actor }) => issued(await keys.issue(actor, key)))
  },
}

/** Also before the first start, so that a script can set up everything else by API. */
function createForInstallation(
  { config, options }: Configured,
  terms: NewInstallationKey,
): Promise<Answer> {
  const wrong = ['tenant', 'engine', 'env'].find((name) => options[name] !== undefined)
  if (wrong) throw new UsageError(`--${wrong}: remove it, because of --installation`)
  return withNewServices(config, async ({ db, clock, keys, actor }) => {
    await openSystemTenant({ db, clock })
    return issued(await keys.issueForInstallation(actor, terms))
  })
}

export const keyList: Command = {
  name: 'key list',
  summary: 'List API keys, without their secrets.',
  options: { tenant: { type: 'string', value: 'ID', help: 'Only keys of this tenant.' } },
  run: ({ config, options }) =>
    withServices(config, ({ keys, clock }) => {
      const list = keys.list(options.tenant as string | undefined)
      const text =
        list.length === 0
          ? 'No keys yet.'
          : table([HEAD, ...list.map((key) => row(key, clock.now()))])
      return { json: { keys: list }, text }
    }),
}

export const keySet: Command = {
  name: 'key set',
  summary: 'Change the name, note or expiry of a key.',
  positionals: ['ID'],
  options: {
    name: { type: 'string', value: 'NAME', help: 'New name; empty to remove it.' },
    note: { type: 'string', value: 'TEXT', help: 'New note; empty to remove it.' },
    expires: { type: 'string', value: 'WHEN', help: `${expires} Or never.` },
  },
  run: ({ config, options, args }) => {
    const change = changeIn(options)
    if (Object.keys(change).length === 0)
      throw new UsageError('key set: nothing to change. Use --name, --note or --expires')
    return withServices(config, async ({ keys, actor }) => {
      const key = await keys.change(actor, args[0] ?? '', change)
      return { json: key, text: `Changed ${key.id}.` }
    })
  },
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

function changeIn({ name, note, expires }: Record<string, unknown>): KeyChange {
  return {
    ...(name !== undefined && { name: `${name}` }),
    ...(note !== undefined && { note: `${note}` }),
    ...(expires !== undefined && { expiry: expires === 'never' ? null : expiryIn(`${expires}`) }),
  }
}

function expiryIn(text: string): Expiry {
  const afterMs = parseDuration(text)
  if (afterMs !== undefined) return { afterMs }
  if (/^\d{4}-/.test(text)) return endOfDay(text)
  throw new UsageError('--expires: must be a lifetime such as 90d or a date such as 2027-01-31')
}

const issued = (key: IssuedKey): Answer => ({
  json: key,
  text: `${key.key}\n\nCopy it now: it is not shown again. Key id ${key.id}, scopes ${key.scopes.join(' ')}${key.expires_at === null ? '' : `, expires ${key.expires_at}`}.`,
})

const HEAD = [
  'ID',
  'TENANT',
  'NAME',
  'ENGINES',
  'ENV',
  'SECRET',
  'STATE',
  'CREATED BY',
  'LAST USED',
]

const row = (key: ApiKey, now: number): string[] => [
  key.id,
  key.tenant_id ?? '-',
  key.name ?? '-',
  key.engines.join(','),
  key.environment ?? '-',
  key.hint,
  stateText(key, now),
  key.created_by?.kind ?? '-',
  key.last_used_at ?? 'never',
]

/** The state with its time, such as `until 2027-02-01T00:00:00.000Z`. */
function stateText(key: ApiKey, now: number): string {
  const state = stateOf(key, now)
  if (state === 'revoked') return `revoked ${key.revoked_at}`
  if (state === 'expired') return `expired ${key.expires_at}`
  return key.expires_at === null ? 'active' : `until ${key.expires_at}`
}
