import { AppError } from '../../../platform/errors.ts'
import type { JsonObject } from '../documents/json.ts'
import { normaliseEmail } from '../email.ts'
import { checkTraits, type Traits } from '../traits.ts'
import { complain } from './failure.ts'
import type { Submission } from './submission.ts'

/** What somebody signs in with, in the spelling of accounts; undefined for what is no address. */
export function emailOrNone(identifier: string): string | undefined {
  try {
    return normaliseEmail(identifier, 'identifier')
  } catch {
    return undefined
  }
}

/** An address to which something is to be sent. */
export function addressIn(input: Submission, field: string): string {
  const email = emailOrNone(input.required(field))
  if (email === undefined) throw complain(4000040, { field })
  return email
}

/** The traits of a form, as they are to be stored. */
export function traitsIn(input: Submission): Traits {
  const given = input.object('traits')
  const { email } = given
  if (email === undefined || email === null || email === '')
    throw complain(4000002, { field: 'traits.email', context: { property: 'email' } })
  try {
    return checkTraits(given as JsonObject)
  } catch (error) {
    throw error instanceof AppError ? asComplaint(error) : error
  }
}

const asComplaint = ({ message }: AppError) =>
  message.startsWith('traits.email')
    ? complain(4000040, { field: 'traits.email' })
    : complain(4000001, { context: { reason: message } })
