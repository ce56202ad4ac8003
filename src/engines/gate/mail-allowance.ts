import { createBuckets } from '../../platform/buckets.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { rateLimited } from '../../platform/errors.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { AddressRow } from './store/addresses.ts'

/** When to try again where the address has had mails of all kinds. */
const PESTERED_MS = 10 * 60_000

/**
 * Of one tenant's operators: no plan counts what they do, and an operator may be a stranger with a
 * tenant of their own, who makes people by any address.
 */
const MAX_BY_OPERATORS_PER_HOUR = 100
/** Far more tenants than send at once. */
const MAX_BUCKETS = 20_000

export type MailAllowance = ReturnType<typeof createMailAllowance>

/** How many mails may be sent for people who do not ask for them themselves. */
export function createMailAllowance({ clock, mail }: { clock: Clock; mail: Mail }) {
  const byOperators = createBuckets({
    clock,
    perHour: MAX_BY_OPERATORS_PER_HOUR,
    most: MAX_BUCKETS,
  })

  /**
   * Counts one mail, within the commit that posts it. Throws `rate_limited` where an address has had
   * enough of mails that others ask for, and where a tenant's operators have sent too many.
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
