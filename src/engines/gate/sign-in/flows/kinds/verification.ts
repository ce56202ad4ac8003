import type { Db } from '../../../../../db/open.ts'
import type { Clock } from '../../../../../platform/clock.ts'
import type { Mail } from '../../../../../platform/mail/index.ts'
import type { Credentials } from '../../../credentials/index.ts'
import type { IdentityRow } from '../../../identities/store.ts'
import type { Store } from '../../../store.ts'
import type { ContinueWith } from '../../model.ts'
import type { AddressProof } from '../address-proof.ts'
import type { Client } from '../client.ts'
import type { CodeSteps } from '../code-steps.ts'
import type { Codes, Sending } from '../codes.ts'
import type { Completion } from '../completion.ts'
import { complain } from '../failure.ts'
import type { FlowRepository, Mailbox } from '../flow.ts'
import { type Holders, holderOf } from '../holders.ts'
import { addressIn } from '../identifiers.ts'
import type { Recovered } from '../recovered.ts'
import type { FlowRow } from '../store.ts'
import type { Submission } from '../submission.ts'
import type { Throttle } from '../throttle.ts'
import {
  confirmChoice,
  type Say,
  verificationCodeSent,
  verificationDone,
  verificationStart,
} from '../ui/index.ts'
import { type Kind, methodIn, type Outcome, type Stepped } from './kind.ts'

/** Mail kind of the verification sent after registration. */
const WELCOME = 'welcome'
/** Mail kind of the verification of a new address for an existing account. */
const CHANGE = 'address_change'

export type Verifying = ReturnType<typeof createVerifying>

/** Verifies addresses by emailed codes. Always runs within a commit. */
export function createVerifying(parts: {
  store: Store
  clock: Clock
  mail: Mail
  repository: FlowRepository
  codes: Codes
  hostedUrl: (flow: FlowRow) => string
}) {
  const { store, clock, mail, repository, codes, hostedUrl } = parts

  /** Sends a code to an unverified address; earlier codes become invalid. */
  function ask(
    flow: FlowRow,
    person: IdentityRow,
    special: Pick<Sending, 'kind' | 'expiresAt' | 'client'> = {},
  ): FlowRow {
    const { tenantId, id, email } = person
    const address = store.addresses.of(tenantId, id)
    const sent = codes.send(flow, {
      address: email,
      person,
      link: 'own flow',
      latestWorks: true,
      replacesEarlier: true,
      ...special,
      letter: (mailTemplates, about) => mailTemplates.verification(about),
    })
    if (address) store.addresses.put({ ...address, status: 'sent', updatedAt: clock.now() })
    return sent
  }

  /** Sends a code after registration, unless the address has received enough mails. */
  function askNewcomer(from: FlowRow, person: IdentityRow, client: Client): ContinueWith[] {
    if (!mail.allowance(from.tenantId, person.email, clock.now(), WELCOME).allowed) return []
    const flow = repository.begin({
      tenantId: from.tenantId,
      kind: 'verification',
      language: from.language,
      identityId: person.id,
      returnTo: from.returnTo,
      internal: { holder: holderOf(client) },
    })
    return [showVerification(ask(flow, person, { kind: WELCOME }))]
  }

  /**
   * Sends a code to a new address. The account keeps its current address until the code was
   * entered.
   */
  function askForChange(
    from: FlowRow,
    person: IdentityRow,
    { address, client }: { address: string; client: Client },
  ): ContinueWith[] {
    const { tenantId, id: identityId, email: instead, sessionGeneration: generation } = person
    store.flows.removeOfKind(tenantId, identityId, 'verification')
    const flow = repository.begin({
      tenantId,
      kind: 'verification',
      language: from.language,
      identityId,
      returnTo: from.returnTo,
      internal: {
        addressChange: { address, instead, generation },
        holder: holderOf(client),
      },
    })
    return [showVerification(sendForChange(flow, person, { address, client }))]
  }

  /** Only the owner of an address may learn whether another account has it. */
  function sendForChange(
    flow: FlowRow,
    person: IdentityRow,
    { address, client }: { address: string; client: Client },
  ): FlowRow {
    const isTaken = store.identities.byEmail(flow.tenantId, address) !== undefined
    return codes.send(flow, {
      kind: CHANGE,
      address,
      person,
      client,
      link: 'own flow',
      withheld: isTaken ? 'another account has this address' : undefined,
      letter: (mailTemplates, about) => mailTemplates.emailChange(about),
    })
  }

  const showVerification = (flow: FlowRow): ContinueWith => ({
    action: 'show_verification_ui',
    flow: { id: flow.id, url: hostedUrl(flow), verifiable_address: flow.address ?? '' },
  })

  return { ask, askNewcomer, askForChange, sendForChange }
}

/**
 * The verification form: contract/gate, self-service flows. A code proves control of the mailbox,
 * not ownership of the account, which someone else may have created with that address. So the code
 * alone verifies the address only for the holder of the account; others have to sign in first.
 */
export function createVerificationKind(parts: {
  db: Db
  store: Store
  repository: FlowRepository
  codes: Codes
  codeSteps: CodeSteps
  completion: Completion
  credentials: Credentials
  holders: Holders
  proof: AddressProof
  recovered: Recovered
  verifying: Verifying
  throttle: Throttle
  hostedUrl: (flow: FlowRow) => string
}): Kind {
  const { db, store, repository, codes, codeSteps, completion, credentials, holders } = parts
  const { proof, recovered, verifying, throttle, hostedUrl } = parts

  function nodes(flow: FlowRow, say: Say, code?: string) {
    if (flow.state === 'passed_challenge')
      return verificationDone(say, { ...(flow.returnTo !== null && { continueTo: flow.returnTo }) })
    const { mailbox, addressChange } = repository.internalOf(flow)
    if (mailbox) return confirmChoice(say, { mayRecover: addressChange === undefined })
    if (flow.state === 'sent_email')
      return verificationCodeSent(say, { email: flow.address ?? '', code })
    return verificationStart(say)
  }

  async function submit(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    methodIn(input, 'verification', ['code'])
    if (input.has('code')) return bringCode(flow, input, client)
    return input.has('confirm_by')
      ? choose(flow, confirmBy(input), client)
      : send(flow, input, client)
  }

  async function send(flow: FlowRow, input: Submission, client: Client): Promise<Stepped> {
    const address = addressIn(input, 'email')
    throttle.counted(client)
    const sent = await db.commitFor(flow.tenantId, () => {
      const current = withoutMailbox(repository.open(flow.id))
      if (repository.internalOf(current).addressChange)
        return sendChangeAgain(current, address, client)
      const person = store.identities.byEmail(flow.tenantId, address)
      const proven = person && proof.isProven(person)
      if (person && !proven && person.state === 'active')
        return verifying.ask(current, person, { client })
      return codes.send(current, {
        address,
        person,
        client,
        link: 'own flow',
        latestWorks: true,
        withheld: proven ? 'the address is already verified' : 'no account has this address',
        letter: (mailTemplates, about) => mailTemplates.verification(about),
      })
    })
    return { is: 'flow', flow: sent }
  }

  /** Proof of one mailbox is not proof of another. */
  function withoutMailbox(flow: FlowRow): FlowRow {
    const { mailbox, ...internalParts } = repository.internalOf(flow)
    return mailbox === undefined ? flow : repository.save(flow, { internalParts })
  }

  /**
   * Resends the code to the requested address only; another address requires a new change. Ending
   * the sessions of an identity also ends the changes requested in them.
   */
  function sendChangeAgain(flow: FlowRow, address: string, client: Client): FlowRow {
    const { addressChange: change } = repository.internalOf(flow)
    const person = flow.identityId && store.identities.find(flow.tenantId, flow.identityId)
    if (!person || !change || address !== change.address) throw complain(4070005)
    const { generation, instead } = change
    if (person.sessionGeneration !== generation || person.email !== instead) throw complain(4070005)
    return verifying.sendForChange(flow, person, { address, client })
  }

  const bringCode = (flow: FlowRow, input: Submission, client: Client): Promise<Stepped> =>
    codeSteps.redeemOwn(flow, { input, client }, (current, person, { address }) => {
      const done = () => stepped(proof.confirm(current, person, address))
      if (holders.isHolder(current, person, client)) return done()
      const isMoving = repository.internalOf(current).addressChange !== undefined
      if (!isMoving && proof.isProven(person)) return done()
      if (!isMoving && !credentials.hasWayIn(person)) {
        completion.proveByMailbox(person)
        return done()
      }
      const mailbox = mailboxOf(person, address)
      if (input.has('confirm_by')) return chosen(current, mailbox, confirmBy(input), client)
      // A program may send the code again with a session token: throwing rolls back that it was
      // used.
      if (client.wants === 'json') throw complain(4900014)
      const internalParts = { ...repository.internalOf(current), mailbox }
      return stepped(repository.save(current, { browserHash: client.browserHash, internalParts }))
    })

  /** The choice on a page after the code, reached only by the browser that entered it. */
  async function choose(flow: FlowRow, by: ConfirmBy, client: Client): Promise<Stepped> {
    throttle.counted(client)
    return db.commitFor(flow.tenantId, () => {
      const current = repository.open(flow.id)
      const { mailbox } = repository.internalOf(current)
      if (!mailbox) throw complain(4010006)
      return chosen(current, mailbox, by, client)
    })
  }

  function chosen(flow: FlowRow, mailbox: Mailbox, by: ConfirmBy, client: Client): Stepped {
    const person = store.identities.find(flow.tenantId, mailbox.identityId)
    if (person?.sessionGeneration !== mailbox.generation) throw complain(4070005)
    if (by === 'sign_in') return signInFirst(flow, person, mailbox, client)
    // The mailbox of a requested address proves nothing about the account.
    if (person.email !== mailbox.address) throw complain(4900014)
    return recovered(flow, person, client)
  }

  /** Starts a sign-in that returns to this flow and then verifies the address. */
  function signInFirst(
    flow: FlowRow,
    person: IdentityRow,
    { address }: Mailbox,
    client: Client,
  ): Stepped {
    if (client.wants === 'json') throw complain(4900014)
    const { tenantId, language, returnTo, id: nextFlowId } = flow
    const login = repository.begin({
      tenantId,
      kind: 'login',
      language,
      returnTo,
      nextFlowId,
      browserHash: client.browserHash,
      // The owner of the new mailbox does not need to learn the current address.
      identityId: person.email === address ? person.id : null,
      notices: [{ id: 1900005, context: { address } }],
    })
    return { is: 'flow', flow, next: hostedUrl(login) }
  }

  return { nodes, submit }
}

const stepped = (flow: FlowRow): Stepped => ({ is: 'flow', flow })

const mailboxOf = (
  { id: identityId, sessionGeneration: generation }: IdentityRow,
  address: string,
): Mailbox => ({ identityId, address, generation })

/** How a user who has proven a mailbox, but not ownership of the account, can continue. */
const WAYS_ON = ['sign_in', 'recovery'] as const
type ConfirmBy = (typeof WAYS_ON)[number]

function confirmBy(input: Submission): ConfirmBy {
  const named = input.required('confirm_by')
  const known = WAYS_ON.find((way) => way === named)
  if (known === undefined) throw complain(4010006)
  return known
}
