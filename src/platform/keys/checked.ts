import { DAY_MS } from '../durations.ts'
import {
  ENGINE_SCOPES,
  ENGINES,
  ENVIRONMENTS,
  type Engine,
  type Environment,
  hasEnvironments,
  type KeyEngine,
} from '../engines.ts'
import { invalid } from '../errors.ts'
import { UNSAFE_IN_LINE } from '../unsafe-characters.ts'

export interface NewKey {
  tenantId: string
  name?: string | undefined
  note?: string | undefined
  /** Any order; a key of several engines has a format of its own. */
  engines: readonly Engine[]
  environment?: Environment | undefined
  /** All scopes of the engines if absent. */
  scopes?: string[] | undefined
  /** Never expires if absent. */
  expiry?: Expiry | undefined
}

/** A key of the installation, which has no tenant, engines or environment. */
export type NewInstallationKey = Omit<NewKey, 'tenantId' | 'engines' | 'environment'>

/** A lifetime, which rotation renews, or a fixed end, which it keeps. */
export type Expiry = { afterMs: number } | { at: number }

/** What can change after a key was issued. Null removes a value. */
export interface KeyChange {
  name?: string | null | undefined
  note?: string | null | undefined
  expiry?: Expiry | null | undefined
  scopes?: string[] | undefined
}

/** The columns of a key that its creator chooses. */
export interface KeyTerms {
  engines: KeyEngine[]
  environment: Environment | null
  scopes: string[]
}

const MAX_NAME = 100
const MAX_NOTE = 500
const MAX_SCOPES = 100
const SCOPE = /^[a-z0-9][a-z0-9_.:-]{0,63}$/
const MAX_LIFETIME_MS = 10 * 366 * DAY_MS

/** Validates engines, environment and scopes together. Throws `invalid`. */
export function checkedTerms({
  engines: named,
  environment: given,
  scopes,
}: Pick<NewKey, 'engines' | 'environment' | 'scopes'>): KeyTerms {
  const engines = ENGINES.filter((engine) => named.includes(engine))
  if (engines.length === 0)
    throw invalid('must name at least one engine', { field: 'engines', rule: 'required' })
  const environment = checkedEnvironment(engines, given)
  return { engines, environment, scopes: checkedScopes(engines, scopes) }
}

/** The terms of a key of the installation. Throws `invalid`. */
export const installationTerms = ({ scopes }: Pick<NewKey, 'scopes'>): KeyTerms => ({
  engines: ['installation'],
  environment: null,
  scopes: checkedScopes(['installation'], scopes),
})

function checkedEnvironment(engines: Engine[], given?: Environment): Environment | null {
  if (!engines.some(hasEnvironments)) {
    if (given === undefined) return null
    throw invalid('must not be set: clockwork keys have no environment', {
      field: 'environment',
      rule: 'not_allowed',
    })
  }
  if (engines.includes('clockwork') && given === 'test')
    throw invalid('must be live: clockwork has no test jobs, so a test key would run live ones', {
      field: 'environment',
      rule: 'not_allowed',
    })
  return given ?? ENVIRONMENTS[0]
}

/** Validates scopes. A key can also have scopes that the tenant defined. */
function checkedScopes(engines: KeyEngine[], scopes?: string[]): string[] {
  if (scopes === undefined) return engines.flatMap((engine) => [...ENGINE_SCOPES[engine]])
  if (scopes.length === 0)
    throw invalid('must name at least one scope', { field: 'scopes', rule: 'required' })
  if (scopes.length > MAX_SCOPES)
    throw invalid(`must be at most ${MAX_SCOPES}`, { field: 'scopes', rule: 'too_many' })
  const malformed = scopes.find((scope) => !SCOPE.test(scope))
  if (malformed !== undefined)
    throw invalid(
      `must be lowercase letters, digits and _ . : -, unlike ${JSON.stringify(malformed)}`,
      { field: 'scopes', rule: 'format' },
    )
  const unused = engines.length > 1 && engines.find((engine) => !hasScopeOf(engine, scopes))
  if (unused)
    throw invalid(`must include one of ${unused}: ${ENGINE_SCOPES[unused].join(', ')}`, {
      field: 'scopes',
      rule: 'mismatch',
    })
  return [...new Set(scopes)]
}

const hasScopeOf = (engine: KeyEngine, scopes: readonly string[]): boolean =>
  ENGINE_SCOPES[engine].some((scope: string) => scopes.includes(scope))

/** Trims a name; null if it is empty. Throws `invalid` unless it is one short line. */
export const checkedKeyName = (given: string | null | undefined): string | null =>
  given ? checkedText('name', given.trim(), MAX_NAME) : null

/** Trims a note, which may have several lines; null if it is empty. Throws `invalid`. */
export const checkedNote = (given: string | null | undefined): string | null =>
  given ? checkedText('note', given.replaceAll('\r\n', '\n').trim(), MAX_NOTE) : null

function checkedText(field: 'name' | 'note', text: string, limit: number): string | null {
  const isNote = field === 'note'
  if ((isNote ? text.replaceAll('\n', ' ') : text).search(UNSAFE_IN_LINE) !== -1)
    throw invalid(`must be ${isNote ? 'text' : 'one line'} without control characters`, {
      field,
      rule: 'characters',
    })
  if (text.length > limit)
    throw invalid(`must have at most ${limit} characters`, { field, rule: 'too_long' })
  return text.toWellFormed() || null
}

/** The columns of an expiry. Throws `invalid` unless it is in the future. */
export function checkedExpiry(expiry: Expiry | null | undefined, now: number) {
  if (!expiry) return { expiresAt: null, lifetimeMs: null }
  const isFixed = 'at' in expiry
  const expiresAt = isFixed ? expiry.at : now + expiry.afterMs
  if (!(expiresAt > now && expiresAt - now <= MAX_LIFETIME_MS))
    throw invalid('must be in the future, within 10 years', { field: 'expires', rule: 'range' })
  return { expiresAt, lifetimeMs: isFixed ? null : expiry.afterMs }
}
