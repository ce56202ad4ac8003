import type { Db } from '../../../db/open.ts'
import { addressKey } from '../../../platform/address-key.ts'
import { createBuckets } from '../../../platform/buckets.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import { rateLimited } from '../../../platform/errors.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { Siblings } from '../../../platform/siblings.ts'
import type { Client } from './flows/client.ts'

/** When to retry after an address has received too many mails of all kinds. */
const PESTERED_MS = 10 * MINUTE_MS
/** Mails per hour of one kind to one address, requested from one network. */
const MAX_BY_CLIENT_PER_HOUR = 5
/** Unmetered mails; the operator may be a stranger who creates identities with any address. */
const MAX_BY_OPERATORS_PER_HOUR = 100
/** More than the number of clients or tenants that send at the same time; each is 400 bytes. */
const MAX_BUCKETS = 20_000

/** The kind and the address of a mail. */
interface Mailing {
  tenantId: string
  kind: string
  address: string
}

export type MailAllowance = ReturnType<typeof createMailAllowance>

/** Limits the mails that users and tenants' servers request. Runs within a commit. */
export function createMailAllowance(parts: {
  db: Db
  clock: Clock
  mail: Mail
  siblings: Siblings
}) {
  const { db, clock, mail, siblings } = parts
  const byClients = createBuckets({
    clock,
    perHour: MAX_BY_CLIENT_PER_HOUR,
    most: MAX_BUCKETS,
    shared: { siblings, limit: 'mails to clients of an address' },
  })
  const byOperators = createBuckets({
    clock,
    perHour: MAX_BY_OPERATORS_PER_HOUR,
    most: MAX_BUCKETS,
    shared: { siblings, limit: 'mails by operators' },
  })

  /**
   * How long to wait for another mail, in milliseconds. A stranger reaches the limit of their
   * network before the owner of the address does. The limit of the address is checked first, so
   * that a rejected client keeps its own allowance.
   */
  function waitMs(mailing: Mailing, client: Client | undefined): number {
    const { tenantId, kind, address } = mailing
    const allowance = mail.sharedAllowance(tenantId, address, clock.now(), kind)
    if (!allowance.allowed) return allowance.retryAfterMs
    return client && !client.hasKey ? byClients.peek(keyOf(mailing, client)) : 0
  }

  /** Counts a mail once its commit is on disk. */
  function count(mailing: Mailing, client: Client | undefined) {
    if (client && !client.hasKey) db.afterCommit(() => byClients.take(keyOf(mailing, client)))
  }

  /**
   * Counts a mail that a tenant's server requests. Throws `rate_limited` if the address has
   * received too many mails requested by others, or if a tenant's operators have sent too many.
   */
  function spend({ tenantId, actor }: Caller, address: string, kind: string): void {
    const now = clock.now()
    const allowance = mail.allowance(tenantId, address, now, kind)
    if (!allowance.allowed) throw tooMany(allowance.retryAfterMs)
    if (mail.isPestered(tenantId, address, now)) throw tooMany(PESTERED_MS)
    if (actor.kind === 'operator')
      byOperators.admit(tenantId, 'your team has sent too many emails; try again later')
  }

  return { waitMs, count, spend }
}

const keyOf = ({ tenantId, kind, address }: Mailing, { ipAddress }: Client): string =>
  JSON.stringify([addressKey(ipAddress ?? undefined), tenantId, kind, address])

const tooMany = (retryAfterMs: number) =>
  rateLimited('too many emails to this address; try again later', { retryAfterMs })
