import { AppError } from './errors.ts'
import type { Caller } from './keys.ts'

/** Throws `payment_required` where new work is asked for by a tenant in arrears. */
export function requireGoodStanding({ tenantStatus }: Pick<Caller, 'tenantStatus'>): void {
  if (tenantStatus === 'suspended')
    throw new AppError('payment_required', 'the account is suspended', 'account_suspended')
  if (tenantStatus === 'renewal_unpaid')
    throw new AppError('payment_required', 'the renewal is unpaid', 'renewal_unpaid')
}
