import { AppError, rateLimited } from '../errors.ts'
import type { TenantStatus } from '../tenants.ts'
import type { Terms } from './allowance.ts'

/** Throws `payment_required` for a tenant in arrears. */
export function requireActiveTenant(status: TenantStatus) {
  if (status === 'suspended')
    throw new AppError('payment_required', 'the account is suspended', {
      code: 'account_suspended',
    })
  if (status === 'renewal_unpaid')
    throw new AppError('payment_required', 'the renewal is unpaid', { code: 'renewal_unpaid' })
}

/** The error for a used-up month, which ends in `retryAfterMs`. */
export const usedUp = ({ plan }: Terms, retryAfterMs: number) =>
  plan === 'metered'
    ? rateLimited('the monthly spend cap is reached; raise the cap, or wait until next month', {
        code: 'spend_cap_reached',
        retryAfterMs,
      })
    : rateLimited('the monthly allowance is used up; change the plan, or wait until next month', {
        code: 'allowance_exhausted',
        retryAfterMs,
      })
