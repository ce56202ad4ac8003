import { invalid } from '../../../platform/errors.ts'
import { UNSAFE_IN_LINE } from '../../../platform/unsafe-characters.ts'
import { MAX_DOCUMENT_BYTES } from '../limits.ts'
import { isOperatorTenant } from '../operators/tenant.ts'
import { checkJsonObject, type JsonObject } from './documents/json.ts'
import { normaliseEmail } from './email.ts'

/** The traits of an identity as stored; the tenant has a separate column. */
export interface Traits {
  email: string
  /** For tenants' identities only. */
  custom_data?: JsonObject
  /** For operators only, like `locale`. */
  display_name?: string
  /** A language as two letters. */
  locale?: string
}

export type SchemaId = 'user' | 'operator'

/** Operators have the schema `operator`, all other identities `user`. */
export const schemaOf = (tenantId: string): SchemaId =>
  isOperatorTenant(tenantId) ? 'operator' : 'user'

/**
 * Validates traits for storage. `tenant_id` is dropped, because it follows from the key. Throws
 * `invalid` for a missing address, for unknown members, and for data that JSON would not preserve.
 * A blank name is returned as undefined, which removes the previous one.
 */
export const checkTraits = (traits: JsonObject, schemaId: SchemaId = 'user'): Traits =>
  schemaId === 'operator' ? operatorTraits(traits) : userTraits(traits)

const USER = new Set(['email', 'custom_data', 'tenant_id'])
const OPERATOR = new Set(['email', 'display_name', 'locale', 'tenant_id'])

function userTraits(traits: JsonObject): Traits {
  requireKnown(traits, USER, 'Put your own fields in traits.custom_data')
  const email = emailIn(traits)
  const { custom_data: customData } = traits
  if (customData === undefined) return { email }
  checkCustomData(customData)
  return { email, custom_data: customData }
}

function operatorTraits(traits: JsonObject): Traits {
  requireKnown(traits, OPERATOR)
  const { display_name: name, locale } = traits
  return {
    email: emailIn(traits),
    ...(name !== undefined && { display_name: displayName(name) }),
    ...(locale !== undefined && { locale: checkedLocale(locale) }),
  }
}

function requireKnown(traits: JsonObject, known: ReadonlySet<string>, hint?: string) {
  const unknown = Object.keys(traits).find((name) => !known.has(name))
  if (unknown === undefined) return
  const field = `traits.${unknown.slice(0, 100)}`
  throw invalid(hint ? `is not a known trait. ${hint}` : 'is not a known trait', {
    field,
    rule: 'unknown',
  })
}

function emailIn({ email }: JsonObject): string {
  if (typeof email !== 'string')
    throw invalid('is required and must be a string', { field: 'traits.email', rule: 'required' })
  return normaliseEmail(email, 'traits.email')
}

/** In characters. */
export const MAX_DISPLAY_NAME_LENGTH = 200

const DISPLAY_NAME = 'traits.display_name'

function displayName(value: unknown): string | undefined {
  const name = typeof value === 'string' && value.isWellFormed() ? value.trim() : undefined
  if (name === undefined || name.search(UNSAFE_IN_LINE) !== -1)
    throw invalid('must be one line without control characters', {
      field: DISPLAY_NAME,
      rule: 'characters',
    })
  if ([...name].length > MAX_DISPLAY_NAME_LENGTH)
    throw invalid(`must have at most ${MAX_DISPLAY_NAME_LENGTH} characters`, {
      field: DISPLAY_NAME,
      rule: 'too_long',
    })
  return name === '' ? undefined : name
}

function checkedLocale(value: unknown): string {
  if (typeof value === 'string' && /^[a-z]{2}$/.test(value)) return value
  throw invalid('must be two lowercase letters, such as en', {
    field: 'traits.locale',
    rule: 'format',
  })
}

function checkCustomData(value: unknown): asserts value is JsonObject {
  checkJsonObject(value, 'traits.custom_data', { mostBytes: MAX_DOCUMENT_BYTES })
}

export function checkMetadata(value: unknown): asserts value is JsonObject {
  checkJsonObject(value, 'metadata_public', { mostBytes: MAX_DOCUMENT_BYTES })
}
