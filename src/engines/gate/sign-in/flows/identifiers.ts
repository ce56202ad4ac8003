import { AppError } from '../../../../platform/errors.ts'
import { type JsonObject, jsonBytes } from '../../identities/documents/json.ts'
import { normaliseEmail } from '../../identities/email.ts'
import {
  checkTraits,
  MAX_DISPLAY_NAME_LENGTH,
  schemaOf,
  type Traits,
} from '../../identities/traits.ts'
import { MAX_SIGN_UP_DATA_BYTES } from '../../limits.ts'
import { fieldError } from './failure.ts'
import type { FlowRow } from './store.ts'
import type { Submission } from './submission.ts'

/** The normalized address to sign in with; undefined if the text is not an address. */
export function emailOrNone(identifier: string): string | undefined {
  try {
    return normaliseEmail(identifier, 'identifier')
  } catch {
    return undefined
  }
}

/** The address in a field, to which a mail will be sent. */
export function addressIn(input: Submission, field: string): string {
  const email = emailOrNone(input.required(field))
  if (email === undefined) throw fieldError(4000040, { field })
  return email
}

/** The traits in a form, as they are stored for the tenant. */
export function traitsIn(input: Submission, { tenantId }: { tenantId: string }): Traits {
  const given = input.object('traits')
  const { email } = given
  if (email === undefined || email === null || email === '')
    throw fieldError(4000002, { field: 'traits.email', context: { property: 'email' } })
  try {
    return checkTraits(given as JsonObject, schemaOf(tenantId))
  } catch (error) {
    throw error instanceof AppError ? fieldErrorOf(error) : error
  }
}

/** The traits of a new identity; its locale is the language of the form. */
export function newcomerIn(input: Submission, flow: FlowRow): Traits {
  const traits = traitsIn(input, flow)
  if (jsonBytes(traits.custom_data ?? {}) > MAX_SIGN_UP_DATA_BYTES)
    throw fieldError(4000001, { context: { reason: TOO_MUCH_DATA } })
  if (schemaOf(flow.tenantId) === 'user') return traits
  return { locale: flow.language, ...traits }
}

const TOO_MUCH_DATA = `traits.custom_data: must be at most ${MAX_SIGN_UP_DATA_BYTES} bytes as JSON in a sign-up`

function fieldErrorOf({ field, rule, message }: AppError) {
  if (field === 'traits.email') return fieldError(4000040, { field })
  if (field === 'traits.display_name' && rule === 'too_long')
    return fieldError(4000017, { field, context: { max_length: MAX_DISPLAY_NAME_LENGTH } })
  if (field === 'traits.display_name' && rule === 'characters')
    return fieldError(4000004, { field })
  return fieldError(4000001, { context: { reason: message } })
}
