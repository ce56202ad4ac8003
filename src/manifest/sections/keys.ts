import { t } from 'elysia'
import { formatDuration, parseDuration } from '../../config/durations.ts'
import { oneOf } from '../../http/schemas.ts'
import type { Clock } from '../../platform/clock.ts'
import { ENGINE_SCOPES, ENGINES, ENVIRONMENTS, hasEnvironments } from '../../platform/engines.ts'
import { conflict } from '../../platform/errors.ts'
import { endOfDay } from '../../platform/keys/expiry.ts'
import { type ApiKey, type Expiry, type Keys, stateOf } from '../../platform/keys/index.ts'
import { type Created, collection, readOnly } from '../section.ts'

const Key = t.Object(
  {
    name: t.String({
      maxLength: 100,
      // The service trims names, by which a manifest couldn't find its key again.
      pattern: '^\\S(.*\\S)?$',
      expected: 'one line of 1 to 100 characters without a space at either end',
    }),
    note: t.Optional(t.Nullable(t.String({ maxLength: 500 }))),
    engines: t.Array(oneOf(ENGINES), {
      minItems: 1,
      expected: `a list of at least 1 of ${ENGINES.join(', ')}`,
    }),
    environment: t.Optional(oneOf(ENVIRONMENTS)),
    scopes: t.Optional(t.Array(t.String(), { expected: 'a list of scopes' })),
    expires: t.Optional(
      t.String({
        expected: 'a lifetime such as 90d, a date such as 2027-01-31, or never',
        examples: ['90d'],
      }),
    ),
  },
  { additionalProperties: false },
)
type Key = typeof Key.static

const NEVER = 'never'

/** API keys that work, by their name. Their values are only in the answer that creates them. */
export const keysSection = ({ keys, clock }: { keys: Keys; clock: Clock }) => {
  const current = (tenantId: string): ApiKey[] =>
    keys.list(tenantId).filter((key) => ['active', 'expiring'].includes(stateOf(key, clock.now())))

  return collection<Key>({
    name: 'keys',
    noun: 'key',
    key: 'name',
    schema: Key,
    defaultsOf: ({ engines }) => defaultsOf(engines as Key['engines']),
    initial: { expires: NEVER },
    list: ({ tenantId }) =>
      current(tenantId).map((key) => ({
        id: key.id,
        item: { ...key, name: key.name ?? key.hint, expires: expiresOf(key) },
      })),
    create: ({ tenantId, actor }, { note, environment, expires, ...key }) =>
      keys
        .issue(actor, {
          ...key,
          tenantId,
          note: note ?? undefined,
          environment: environment ?? undefined,
          expiry: expiryIn(expires) ?? undefined,
        })
        .then(({ id, key: secret }): Created => ({ id, secret })),
    async update({ tenantId, actor }, id, { engines, environment, expires, ...change }) {
      if (engines !== undefined && !isOneSet(engines, keys.find(tenantId, id).engines))
        throw readOnly('engines', 'key')
      if (environment !== undefined) throw readOnly('environment', 'key')
      return keys.change(actor, id, {
        ...change,
        ...(expires !== undefined && { expiry: expiryIn(expires) }),
      })
    },
    async remove({ actor }, id) {
      if (actor.kind === 'key' && actor.id === id)
        throw conflict('would revoke the key of this request: add it to the manifest', {
          field: 'keys',
          rule: 'mismatch',
        })
      return keys.revoke(actor, id)
    },
  })
}

const defaultsOf = (engines: Key['engines']) => ({
  note: null,
  environment: engines.some(hasEnvironments) ? ENVIRONMENTS[0] : null,
  scopes: ENGINES.filter((engine) => engines.includes(engine)).flatMap((engine) => [
    ...ENGINE_SCOPES[engine],
  ]),
})

/** As a manifest has it: the lifetime, or the last day of a fixed end. */
function expiresOf({ lifetime_ms: lifetimeMs, expires_at: end }: ApiKey): string {
  if (lifetimeMs !== null) return formatDuration(lifetimeMs)
  return end === null ? NEVER : new Date(Date.parse(end) - 1).toISOString().slice(0, 10)
}

/** Throws `invalid` unless it is a lifetime, a date or `never`. */
function expiryIn(text: string | undefined): Expiry | null {
  if (text === undefined || text === NEVER) return null
  const afterMs = parseDuration(text)
  return afterMs === undefined ? endOfDay(text) : { afterMs }
}

const isOneSet = (one: readonly string[], other: readonly string[]): boolean =>
  new Set(one).symmetricDifference(new Set(other)).size === 0
