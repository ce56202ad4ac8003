import { invalid } from '../../../platform/errors.ts'
import { checkNewPassword, type PolicyFailure } from '../passwords/index.ts'

/**
 * Enforces the rules for passwords that operators choose. Throws `invalid` with the broken rule.
 */
export function requireChosenPassword(
  password: string,
  of: { identifier: string; minLength: number },
) {
  const failure = checkNewPassword(password, of)
  if (failure) throw invalid(`password: ${ruleOf(failure)}`)
}

function ruleOf(failure: PolicyFailure): string {
  switch (failure.rule) {
    case 'too_short':
      return `at least ${failure.minLength} characters`
    case 'too_long':
      return `at most ${failure.maxLength} characters`
    case 'like_identifier':
      return 'too much like the address'
    case 'common':
      return 'many people have this one, so it is soon guessed'
  }
}
