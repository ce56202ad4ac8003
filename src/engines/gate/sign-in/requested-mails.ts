import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { isoTime } from '../../../platform/clock.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import type { StartedFlow } from '../identities/model.ts'
import type { People } from '../identities/people.ts'
import type { IdentityRow } from '../identities/store.ts'
import type { Store } from '../store.ts'
import type { CodeMails } from './flows/code-mails.ts'
import type { FlowRepository } from './flows/flow.ts'
import type { VerificationCodes } from './flows/kinds/verification/codes.ts'
import type { MailAllowance } from './mail-allowance.ts'

/** Mail kinds, counted separately from the mails that users request. */
const VERIFICATION = 'resend'
const RECOVERY = 'recovery_by_hand'

export type RequestedMails = ReturnType<typeof createRequestedMails>

/** Mails to a user that a tenant's server requests. Code and link are valid as long as the flow. */
export function createRequestedMails(parts: {
  db: Db
  audit: Audit
  metering: Metering
  store: Store
  people: People
  mailAllowance: MailAllowance
  repository: FlowRepository
  verificationCodes: VerificationCodes
  codeMails: CodeMails
}) {
  const { db, audit, metering, store, people, mailAllowance, repository } = parts
  const { verificationCodes, codeMails } = parts

  /** Sends a new mail to an unverified address; earlier codes become invalid. */
  const resend = (caller: Caller, identityId: string): Promise<StartedFlow> =>
    db.commitFor(caller.tenantId, () => {
      const { tenantId } = caller
      const person = people.existing(tenantId, identityId)
      const address =
        store.addresses.of(tenantId, identityId) ?? fail(notFound('the identity has no address'))
      if (address.verifiedAt !== null)
        throw invalid('the address is already verified', { rule: 'not_allowed' })
      admit(caller, person, VERIFICATION)
      const flow = repository.begin({
        tenantId,
        kind: 'verification',
        language: 'en',
        identityId,
        internal: { holder: 'program' },
      })
      const { issuedAt: now, expiresAt } = flow
      verificationCodes.send(flow, person, { kind: VERIFICATION, expiresAt, now })
      record(caller, 'verification.sent', identityId)
      return { flow: { id: flow.id, expires_at: isoTime(flow.expiresAt) } }
    })

  /** Goes only to the identity's address; the requesting server sees neither code nor link. */
  const send = (caller: Caller, identityId: string): Promise<void> =>
    db.commitFor(caller.tenantId, () => {
      const { tenantId } = caller
      const person = people.existing(tenantId, identityId)
      admit(caller, person, RECOVERY)
      store.codes.removeOfKind(tenantId, identityId, { kind: 'recovery' })
      const flow = repository.begin({ tenantId, kind: 'recovery', language: 'en' })
      codeMails.send(flow, {
        address: person.email,
        person,
        kind: RECOVERY,
        expiresAt: flow.expiresAt,
        now: flow.issuedAt,
        link: 'this flow',
        write: (mailTemplates, values) => mailTemplates.recovery(values),
      })
      record(caller, 'identity.recovery_sent', identityId)
    })

  /** Throws unless the identity may receive a mail; counts it. */
  function admit(caller: Caller, { state, email }: IdentityRow, kind: string) {
    if (state === 'inactive') throw invalid('the identity is inactive', { rule: 'not_allowed' })
    metering.reserve(caller)
    mailAllowance.spend(caller, email, kind)
  }

  const record = ({ tenantId, actor }: Caller, action: string, identityId: string) =>
    audit.record({ tenantId, actor, action, object: `identity:${identityId}` })

  return { verification: { resend }, recoveryMails: { send } }
}
