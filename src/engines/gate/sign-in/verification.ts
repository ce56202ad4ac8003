import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { isoTime } from '../../../platform/clock.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import type { StartedFlow } from '../identities/model.ts'
import type { People } from '../identities/people.ts'
import type { Store } from '../store.ts'
import type { FlowRepository } from './flows/flow.ts'
import type { Verifying } from './flows/kinds/verification.ts'
import type { MailAllowance } from './mail-allowance.ts'

/** Mails requested by a tenant's server, counted separately from those that users request. */
const RESENT = 'resend'

export type Verification = ReturnType<typeof createVerification>

/** Verification mails requested by a tenant's server. */
export function createVerification(parts: {
  db: Db
  audit: Audit
  store: Store
  people: People
  mailAllowance: MailAllowance
  repository: FlowRepository
  verifying: Verifying
  metering: Metering
}) {
  const { db, audit, store, people, mailAllowance, repository, verifying, metering } = parts

  /**
   * Sends a new mail to an unverified address; earlier codes become invalid. Its code and link are
   * valid as long as the flow.
   */
  const resend = (caller: Caller, identityId: string): Promise<StartedFlow> =>
    db.commitFor(caller.tenantId, () => {
      const { tenantId } = caller
      const person = people.existing(tenantId, identityId)
      const address =
        store.addresses.of(tenantId, identityId) ?? fail(notFound('the identity has no address'))
      if (address.verifiedAt !== null)
        throw invalid('the address is already verified', { rule: 'not_allowed' })
      if (person.state === 'inactive')
        throw invalid('the identity is inactive', { rule: 'not_allowed' })
      metering.reserve(caller)
      mailAllowance.spend(caller, address, RESENT)
      const flow = repository.begin({
        tenantId,
        kind: 'verification',
        language: 'en',
        identityId,
        internal: { holder: 'program' },
      })
      verifying.ask(flow, person, { kind: RESENT, expiresAt: flow.expiresAt })
      audit.record({
        tenantId,
        actor: caller.actor,
        action: 'verification.sent',
        object: `identity:${identityId}`,
      })
      return { flow: { id: flow.id, expires_at: isoTime(flow.expiresAt) } }
    })

  return { resend }
}
