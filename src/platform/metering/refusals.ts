import { AppError } from '../errors.ts'
import type { TenantStatus } from '../tenants.ts'
import type { Terms } from './allowance.ts'

/** Throws `payment_required` for a tenant in arrears. */
export function requireGoodStanding(status: TenantStatus) {
  if (status === 'suspended')
    throw new AppError('payment_required', 'the account is suspended', 'account_suspended')
  if (status === 'renewal_unpaid')
    throw new AppError('payment_required', 'the renewal is unpaid', 'renewal_unpaid')
}

/** Nothing is left of the month, which ends in `retryAfterMs`. */
export const usedUp = ({ plan }: Terms, retryAfterMs: number) =>
  plan === 'metered'
    ? new AppError(
        'rate_limited',
        'the spend cap of this month is reached; a higher one, or the next month, lets new work in',
        'spend_cap_reached',
        retryAfterMs,
      )
    : new AppError(
        'rate_limited',
        'the allowance of this month is spent; another plan, or the next month, lets new work in',
        'allowance_exhausted',
        retryAfterMs,
      )
