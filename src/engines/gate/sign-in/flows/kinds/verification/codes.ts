import type { Clock } from '../../../../../../platform/clock.ts'
import type { Mail } from '../../../../../../platform/mail/index.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import type { Store } from '../../../../store.ts'
import type { ContinueWith } from '../../../model.ts'
import { holderOf } from '../../account-holder.ts'
import type { AddressProof } from '../../address-proof.ts'
import type { Client } from '../../client.ts'
import type { CodeMails, Sending } from '../../code-mails.ts'
import { fieldError } from '../../failure.ts'
import type { FlowRepository, Internal } from '../../flow.ts'
import type { FlowRow } from '../../store.ts'

/** Mail kind of the verification sent after registration. */
const WELCOME = 'welcome'
/** Mail kind of the verification of a new address for an existing account. */
const CHANGE = 'address_change'

export type VerificationCodes = ReturnType<typeof createVerificationCodes>

/** Codes that verify addresses, sent within the caller's commit. */
export function createVerificationCodes(parts: {
  store: Store
  clock: Clock
  mail: Mail
  repository: FlowRepository
  codeMails: CodeMails
  addressProof: AddressProof
  hostedUrl: (flow: FlowRow) => string
}) {
  const { store, clock, mail, repository, codeMails, addressProof, hostedUrl } = parts

  /** Sends a code to an unverified address; earlier codes become invalid. */
  function send(
    flow: FlowRow,
    person: IdentityRow,
    special: Pick<Sending, 'kind' | 'expiresAt' | 'now' | 'client'> = {},
  ): FlowRow {
    const { tenantId, id, email } = person
    const address = store.addresses.of(tenantId, id)
    const sent = codeMails.send(flow, {
      address: email,
      person,
      link: 'own flow',
      latestWorks: true,
      replacesEarlier: true,
      ...special,
      write: (mailTemplates, values) => mailTemplates.verification(values),
    })
    if (address) store.addresses.put({ ...address, status: 'sent', updatedAt: clock.now() })
    return sent
  }

  /** Sends a code after registration, if there is a mail server and the address may receive more. */
  function sendToNewcomer(from: FlowRow, person: IdentityRow, client: Client): ContinueWith[] {
    const { tenantId } = from
    if (!mail.hasServer || !mail.allowance(tenantId, person.email, clock.now(), WELCOME).allowed)
      return []
    const flow = begin(from, person, { holder: holderOf(client) })
    return [showVerification(send(flow, person, { kind: WELCOME }))]
  }

  /** Sends a code to the new address; the account keeps its own until the code is entered. */
  function sendToNewAddress(
    from: FlowRow,
    person: IdentityRow,
    { address, client }: { address: string; client: Client },
  ): ContinueWith[] {
    const { tenantId, id, email: instead, sessionGeneration: generation } = person
    store.flows.removeOfKind(tenantId, id, 'verification')
    const addressChange = { address, instead, generation }
    const flow = begin(from, person, { addressChange, holder: holderOf(client) })
    return [showVerification(sendChangeCode(flow, person, { address, client }))]
  }

  const begin = (from: FlowRow, { tenantId, id }: IdentityRow, internal: Internal): FlowRow =>
    repository.begin({
      tenantId,
      kind: 'verification',
      language: from.language,
      identityId: id,
      returnTo: from.returnTo,
      internal,
    })

  /** Only the owner of an address may learn whether another account has it. */
  function sendChangeCode(
    flow: FlowRow,
    person: IdentityRow,
    { address, client }: { address: string; client: Client },
  ): FlowRow {
    const isTaken = store.identities.byEmail(flow.tenantId, address) !== undefined
    return codeMails.send(flow, {
      kind: CHANGE,
      address,
      person,
      client,
      link: 'own flow',
      withheld: isTaken ? 'another account has this address' : undefined,
      write: (mailTemplates, values) => mailTemplates.emailChange(values),
    })
  }

  /** Sends a code to the address that a user enters. The response is the same for any address. */
  function sendTo(address: string, flow: FlowRow, client: Client): FlowRow {
    if (repository.internalOf(flow).addressChange) return resendChangeCode(flow, address, client)
    const person = store.identities.byEmail(flow.tenantId, address)
    const isProven = person && addressProof.isProven(person)
    if (person?.state === 'active' && !isProven) return send(flow, person, { client })
    return codeMails.send(flow, {
      address,
      person,
      client,
      link: 'own flow',
      latestWorks: true,
      withheld: isProven ? 'the address is already verified' : 'no account has this address',
      write: (mailTemplates, values) => mailTemplates.verification(values),
    })
  }

  /** Resends to the requested address only. Ending an identity's sessions also ends its changes. */
  function resendChangeCode(flow: FlowRow, address: string, client: Client): FlowRow {
    const { addressChange: change } = repository.internalOf(flow)
    const person = flow.identityId && store.identities.find(flow.tenantId, flow.identityId)
    if (!person || !change || address !== change.address) throw fieldError(4070005)
    const { generation, instead } = change
    if (person.sessionGeneration !== generation || person.email !== instead)
      throw fieldError(4070005)
    return sendChangeCode(flow, person, { address, client })
  }

  const showVerification = (flow: FlowRow): ContinueWith => ({
    action: 'show_verification_ui',
    flow: { id: flow.id, url: hostedUrl(flow), verifiable_address: flow.address ?? '' },
  })

  return { send, sendTo, sendToNewcomer, sendToNewAddress }
}
