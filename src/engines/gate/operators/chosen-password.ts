import { invalid, type Rule } from '../../../platform/errors.ts'
import { checkNewPassword, type PolicyFailure } from '../credentials/passwords/index.ts'

/**
 * Enforces the rules for passwords that operators choose. Throws `invalid` with the broken rule.
 */
export function requireChosenPassword(
  password: string,
  of: { identifier: string; minLength: number },
) {
  const failure = checkNewPassword(password, of)
  if (failure) throw invalid(problemOf(failure), { field: 'password', rule: RULES[failure.rule] })
}

const RULES: Record<PolicyFailure['rule'], Rule> = {
  too_short: 'too_short',
  too_long: 'too_long',
  like_identifier: 'weak',
  common: 'weak',
}

function problemOf(failure: PolicyFailure): string {
  switch (failure.rule) {
    case 'too_short':
      return `must have at least ${failure.minLength} characters`
    case 'too_long':
      return `must have at most ${failure.maxLength} characters`
    case 'like_identifier':
      return 'is too similar to the email address'
    case 'common':
      return 'is too common'
  }
}
