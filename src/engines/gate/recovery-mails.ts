import type { Db } from '../../db/open.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import { invalid } from '../../platform/errors.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { Codes } from './flows/codes.ts'
import type { FlowKeeper } from './flows/flow.ts'
import type { MailAllowance } from './mail-allowance.ts'
import type { People } from './people.ts'
import type { Store } from './store/index.ts'

/** Counted apart from mails that people ask for themselves. */
const BY_HAND = 'recovery_by_hand'

export type RecoveryMails = ReturnType<typeof createRecoveryMails>

/** A way back in for somebody who has asked those who run the app for one. */
export function createRecoveryMails(parts: {
  db: Db
  audit: Audit
  store: Store
  people: People
  mailAllowance: MailAllowance
  keeper: FlowKeeper
  codes: Codes
  metering: Metering
}) {
  const { db, audit, store, people, mailAllowance, keeper, codes, metering } = parts

  /**
   * A mail with a code and a link, good for as long as the flow that it begins. It goes to the
   * address of the person alone: whoever orders it gets to see neither.
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
      const flow = keeper.begin({ tenantId, kind: 'recovery', language: 'en' })
      codes.send(flow, {
        address: person.email,
        person,
        kind: BY_HAND,
        expiresAt: flow.expiresAt,
        link: 'this flow',
        letter: (letters, about) => letters.recovery(about),
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
