import type { Db } from '../../db/open.ts'
import type { Audit } from '../../platform/audit/index.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { fail, invalid, notFound, rateLimited } from '../../platform/errors.ts'
import type { Caller } from '../../platform/keys.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { FlowKeeper } from './flows/flow.ts'
import type { Verifying } from './flows/kinds/verification.ts'
import type { StartedFlow } from './model/identities.ts'
import type { People } from './people.ts'
import type { AddressRow } from './store/addresses.ts'
import type { Store } from './store/index.ts'

/** Of mails that a tenant's server asks for: counted apart from those that people ask for. */
const RESENT = 'resend'

/** When to try again where the address has had mails of all kinds. */
const PESTERED_MS = 10 * 60_000

export type Verification = ReturnType<typeof createVerification>

/** What a tenant's own server does about addresses that are not proven. */
export function createVerification(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  people: People
  mail: Mail
  keeper: FlowKeeper
  verifying: Verifying
  metering: Metering
}) {
  const { db, clock, audit, store, people, mail, keeper, verifying, metering } = parts

  /**
   * A new mail to somebody whose address is not proven; codes of earlier ones die. Its code is good
   * for as long as the flow, so that the link in the mail is, too.
   */
  const resend = (caller: Caller, identityId: string): Promise<StartedFlow> =>
    db.commit(() => {
      const { tenantId } = caller
      const person = people.existing(tenantId, identityId)
      const address =
        store.addresses.of(tenantId, identityId) ?? fail(notFound('the identity has no address'))
      if (address.verifiedAt !== null) throw invalid('the address is verified already')
      if (person.state === 'inactive') throw invalid('the identity is inactive')
      metering.reserve(caller)
      requireAllowance(address)
      const flow = keeper.begin({ tenantId, kind: 'verification', language: 'en', identityId })
      verifying.ask(flow, person, { kind: RESENT, expiresAt: flow.expiresAt })
      audit.record({
        tenantId,
        actor: caller.actor,
        action: 'verification.sent',
        object: `identity:${identityId}`,
      })
      return { flow: { id: flow.id, expires_at: isoTime(flow.expiresAt) } }
    })

  function requireAllowance({ tenantId, value }: AddressRow) {
    const allowance = mail.allowance(tenantId, value, clock.now(), RESENT)
    if (!allowance.allowed) throw tooMany(allowance.retryAfterMs)
    if (mail.isPestered(tenantId, value, clock.now())) throw tooMany(PESTERED_MS)
  }

  return { resend }
}

const tooMany = (retryAfterMs: number) =>
  rateLimited('too many mails to this address; try again later', retryAfterMs)
