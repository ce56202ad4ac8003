import { createBuckets } from '../../../platform/buckets.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import { rateLimited } from '../../../platform/errors.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { AddressRow } from '../identities/addresses-store.ts'

/** When to retry after an address has received too many mails of all kinds. */
const PESTERED_MS = 10 * MINUTE_MS

/**
 * Mails per hour requested by a tenant's operators. They are not metered, and an operator may be a
 * stranger with their own tenant, who creates identities with any address.
 */
const MAX_BY_OPERATORS_PER_HOUR = 100
/** More than the number of tenants that send at the same time. */
const MAX_BUCKETS = 20_000

export type MailAllowance = ReturnType<typeof createMailAllowance>

/** Limits mails to users who have not requested them themselves. */
export function createMailAllowance({ clock, mail }: { clock: Clock; mail: Mail }) {
  const byOperators = createBuckets({
    clock,
    perHour: MAX_BY_OPERATORS_PER_HOUR,
    most: MAX_BUCKETS,
  })

  /**
   * Counts one mail, within the commit that posts it. Throws `rate_limited` if the address has
   * received too many mails requested by others, or if a tenant's operators have sent too many.
   */
  function spend(
    { tenantId, actor }: Caller,
    { value }: Pick<AddressRow, 'value'>,
    kind: string,
  ): void {
    const now = clock.now()
    const allowance = mail.allowance(tenantId, value, now, kind)
    if (!allowance.allowed) throw tooMany(allowance.retryAfterMs)
    if (mail.isPestered(tenantId, value, now)) throw tooMany(PESTERED_MS)
    const waitMs = actor.kind === 'operator' ? byOperators.take(tenantId) : 0
    if (waitMs > 0)
      throw rateLimited('your team has sent too many emails; try again later', {
        retryAfterMs: waitMs,
      })
  }

  return { spend }
}

const tooMany = (retryAfterMs: number) =>
  rateLimited('too many emails to this address; try again later', { retryAfterMs })
