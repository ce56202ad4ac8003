import type { Db } from '../../db/open.ts'
import { type Audit, actorOf } from '../../platform/audit.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { randomDigits } from '../../platform/crypto.ts'
import { fail, invalid, notFound, rateLimited } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Caller } from '../../platform/keys.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { Sealing } from '../../platform/sealing.ts'
import { requireGoodStanding } from '../../platform/standing.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { verificationLetter } from './letters.ts'
import type { StartedFlow } from './model/identities.ts'
import type { People } from './people.ts'
import type { AddressRow } from './store/addresses.ts'
import type { Store } from './store/index.ts'

const CODE_DIGITS = 6
const SEALED = 'gate codes'

export type Verification = ReturnType<typeof createVerification>

/** Proof that an address is somebody's own: a code goes there by mail. */
export function createVerification(parts: {
  db: Db
  clock: Clock
  audit: Audit
  sealing: Sealing
  store: Store
  people: People
  mail: Mail
  tenants: Tenants
  baseUrl: () => string
  flowLifetimeMs: number
}) {
  const { db, clock, audit, sealing, store, people, mail, tenants, baseUrl, flowLifetimeMs } = parts

  /** A new mail to somebody whose address is not proven; codes of earlier ones die. */
  const resend = (caller: Caller, identityId: string): Promise<StartedFlow> =>
    db.commit(() => {
      const { tenantId } = caller
      const person = people.existing(tenantId, identityId)
      const address =
        store.addresses.of(tenantId, identityId) ?? fail(notFound('the identity has no address'))
      if (address.verifiedAt !== null) throw invalid('the address is verified already')
      if (person.state === 'inactive') throw invalid('the identity is inactive')
      requireGoodStanding(caller)
      requireAllowance(address)
      const flow = start(address)
      audit.record({
        tenantId,
        actor: actorOf(caller),
        action: 'verification.sent',
        object: `identity:${identityId}`,
      })
      return { flow }
    })

  function requireAllowance({ tenantId, value }: AddressRow) {
    const allowance = mail.allowance(tenantId, value, clock.now())
    if (!allowance.allowed)
      throw rateLimited('too many mails to this address; try again later', allowance.retryAfterMs)
  }

  /** The code is good for as long as the flow, so that the link in the mail is, too. */
  function start(address: AddressRow): StartedFlow['flow'] {
    const { tenantId, identityId, value } = address
    const now = clock.now()
    const expiresAt = now + flowLifetimeMs
    const flow = { id: newId(), tenantId, identityId, issuedAt: now, expiresAt }
    const code = randomDigits(CODE_DIGITS)
    store.flows.removeCodesOf(tenantId, identityId)
    store.flows.insert({ ...flow, kind: 'verification', state: 'sent_email' })
    store.flows.insertCode({
      id: newId(),
      tenantId,
      identityId,
      flowId: flow.id,
      address: value,
      hash: sealing.fingerprint(SEALED, `${flow.id} ${code}`),
      issuedAt: now,
      expiresAt,
    })
    store.addresses.put({ ...address, status: 'sent', updatedAt: now })
    const letter = verificationLetter({
      tenantName: tenants.find(tenantId).name,
      code,
      link: linkTo(flow.id, code),
      lifetimeMs: flowLifetimeMs,
    })
    const kind = 'verification'
    mail.post({ tenantId, about: identityId, kind, recipient: value, expiresAt, ...letter }, now)
    return { id: flow.id, expires_at: isoTime(expiresAt) }
  }

  const linkTo = (flowId: string, code: string) =>
    `${baseUrl()}/auth/self-service/verification?${new URLSearchParams({ flow: flowId, code })}`

  return { resend }
}
