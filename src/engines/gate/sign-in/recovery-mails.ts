import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { invalid } from '../../../platform/errors.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import type { People } from '../identities/people.ts'
import type { Store } from '../store.ts'
import type { Codes } from './flows/codes.ts'
import type { FlowRepository } from './flows/flow.ts'
import type { MailAllowance } from './mail-allowance.ts'

/** Counted separately from mails that users request themselves. */
const BY_HAND = 'recovery_by_hand'

export type RecoveryMails = ReturnType<typeof createRecoveryMails>

/** Recovery mails that a tenant's server requests for an identity. */
export function createRecoveryMails(parts: {
  db: Db
  audit: Audit
  store: Store
  people: People
  mailAllowance: MailAllowance
  repository: FlowRepository
  codes: Codes
  metering: Metering
}) {
  const { db, audit, store, people, mailAllowance, repository, codes, metering } = parts

  /**
   * Sends a mail with a code and a link that are valid as long as their flow. It goes only to the
   * identity's address; the requesting server sees neither.
   */
  const send = (caller: Caller, identityId: string): Promise<void> =>
    db.commitFor(caller.tenantId, () => {
      const { tenantId } = caller
      const person = people.existing(tenantId, identityId)
      if (person.state === 'inactive')
        throw invalid('the identity is inactive', { rule: 'not_allowed' })
      metering.reserve(caller)
      mailAllowance.spend(caller, { value: person.email }, BY_HAND)
      store.codes.removeOfKind(tenantId, identityId, { kind: 'recovery' })
      const flow = repository.begin({ tenantId, kind: 'recovery', language: 'en' })
      codes.send(flow, {
        address: person.email,
        person,
        kind: BY_HAND,
        expiresAt: flow.expiresAt,
        link: 'this flow',
        letter: (mailTemplates, about) => mailTemplates.recovery(about),
      })
      audit.record({
        tenantId,
        actor: caller.actor,
        action: 'identity.recovery_sent',
        object: `identity:${identityId}`,
      })
    })

  return { send }
}
