import { invalid } from '../../platform/errors.ts'
import { checkJsonObject, type JsonObject } from './documents/json.ts'
import { normaliseEmail } from './email.ts'
import { LARGEST_DOCUMENT } from './limits.ts'

/** What is known of a person, as it is stored: the tenant stands in a column of its own. */
export interface Traits {
  email: string
  custom_data?: JsonObject
}

const NAMES = new Set(['email', 'custom_data', 'tenant_id'])

/**
 * Traits as they are to be stored. A `tenant_id` is dropped, whatever it says: it follows from the
 * key. Throws `invalid` for a missing address, for members there are not, and for data that would
 * not come back as it was sent.
 */
export function checkTraits(traits: JsonObject): Traits {
  const unknown = Object.keys(traits).find((name) => !NAMES.has(name))
  if (unknown !== undefined)
    throw invalid(
      `traits.${unknown.slice(0, 100)}: no such trait; fields of your own belong in traits.custom_data`,
    )
  const { email, custom_data: customData } = traits
  if (typeof email !== 'string') throw invalid('traits.email: required, a string')
  const normalised = normaliseEmail(email, 'traits.email')
  if (customData === undefined) return { email: normalised }
  checkCustomData(customData)
  return { email: normalised, custom_data: customData }
}

function checkCustomData(value: unknown): asserts value is JsonObject {
  checkJsonObject(value, 'traits.custom_data', { mostBytes: LARGEST_DOCUMENT })
}

export function checkMetadata(value: unknown): asserts value is JsonObject {
  checkJsonObject(value, 'metadata_public', { mostBytes: LARGEST_DOCUMENT })
}
