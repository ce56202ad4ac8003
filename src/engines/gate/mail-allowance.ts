import { rateLimited } from '../../platform/errors.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { AddressRow } from './store/addresses.ts'

/** When to try again where the address has had mails of all kinds. */
const PESTERED_MS = 10 * 60_000

/** Throws `rate_limited` where an address has had enough of mails that others ask for. */
export function requireAllowance(
  mail: Mail,
  { tenantId, value }: Pick<AddressRow, 'tenantId' | 'value'>,
  kind: string,
  now: number,
) {
  const allowance = mail.allowance(tenantId, value, now, kind)
  if (!allowance.allowed) throw tooMany(allowance.retryAfterMs)
  if (mail.isPestered(tenantId, value, now)) throw tooMany(PESTERED_MS)
}

const tooMany = (retryAfterMs: number) =>
  rateLimited('too many emails to this address; try again later', { retryAfterMs })
