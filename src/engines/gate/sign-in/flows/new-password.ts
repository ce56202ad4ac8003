import { checkNewPassword, type PolicyFailure } from '../../credentials/passwords/index.ts'
import { complain } from './failure.ts'

/** Enforces the rules for passwords that users choose; throws `FlowFailure`. */
export function requireGoodPassword(password: string, identifier: string, minLength: number) {
  const failure = checkNewPassword(password, { identifier, minLength })
  if (failure)
    throw complain(POLICY[failure.rule], { field: 'password', context: lengthsOf(failure) })
}

const POLICY = {
  too_short: 4000032,
  too_long: 4000033,
  like_identifier: 4000031,
  common: 4900006,
} as const

const lengthsOf = (failure: PolicyFailure): Record<string, unknown> => {
  if (failure.rule === 'too_short')
    return { min_length: failure.minLength, actual_length: failure.actual }
  if (failure.rule === 'too_long')
    return { max_length: failure.maxLength, actual_length: failure.actual }
  return {}
}
