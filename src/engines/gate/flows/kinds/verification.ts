import type { Db } from '../../../../db/open.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Mail } from '../../../../platform/mail/index.ts'
import type { ContinueWith } from '../../model/flows.ts'
import type { People } from '../../people.ts'
import { traitsOf } from '../../present.ts'
import type { FlowRow } from '../../store/flows.ts'
import type { IdentityRow } from '../../store/identities.ts'
import type { Store } from '../../store/index.ts'
import { byThemselves } from '../actor.ts'
import type { Client } from '../client.ts'
import type { CodeSteps } from '../code-steps.ts'
import type { Codes, Sending } from '../codes.ts'
import type { Completion } from '../completion.ts'
import { complain } from '../failure.ts'
import type { FlowKeeper } from '../flow.ts'
import { addressIn } from '../identifiers.ts'
import type { Submission } from '../submission.ts'
import type { Throttle } from '../throttle.ts'
import { type Say, verificationCodeSent, verificationDone, verificationStart } from '../ui/index.ts'
import { type Kind, methodIn, type Outcome, type Stepped } from './kind.ts'

/** Of the mail that comes with a new account. */
const WELCOME = 'welcome'
/** Of a mail to an address that is to take the place of another. */
const CHANGE = 'address_change'

export type Verifying = ReturnType<typeof createVerifying>

/** Proof that an address is somebody's own, by a code that goes there. Always within a commit. */
export function createVerifying(parts: {
  store: Store
  clock: Clock
  mail: Mail
  keeper: FlowKeeper
  codes: Codes
  hostedUrl: (flow: FlowRow) => string
}) {
  const { store, clock, mail, keeper, codes, hostedUrl } = parts

  /** Writes to somebody whose address is not proven; codes of earlier mails die. */
  function ask(
    flow: FlowRow,
    person: IdentityRow,
    special: Pick<Sending, 'kind' | 'expiresAt'> = {},
  ): FlowRow {
    const { tenantId, id, email } = person
    const address = store.addresses.of(tenantId, id)
    store.codes.removeOfKind(tenantId, id, 'verification')
    const sent = codes.send(flow, {
      address: email,
      person,
      ...special,
      letter: (letters, about) => letters.verification(about),
    })
    if (address) store.addresses.put({ ...address, status: 'sent', updatedAt: clock.now() })
    return sent
  }

  /** To whoever has just signed up, beside the sign-in; not if they have had mails enough. */
  function askNewcomer(from: FlowRow, person: IdentityRow): ContinueWith[] {
    if (!mail.allowance(from.tenantId, person.email, clock.now(), WELCOME).allowed) return []
    const flow = keeper.begin({
      tenantId: from.tenantId,
      kind: 'verification',
      language: from.language,
      identityId: person.id,
      returnTo: from.returnTo,
    })
    return [showVerification(ask(flow, person, { kind: WELCOME }))]
  }

  /** The person keeps their address until the code came back from the new one. */
  function askForChange(from: FlowRow, person: IdentityRow, address: string): ContinueWith[] {
    const { tenantId, id: identityId, email: instead, sessionGeneration: generation } = person
    store.flows.removeOfKind(tenantId, identityId, 'verification')
    const flow = keeper.begin({
      tenantId,
      kind: 'verification',
      language: from.language,
      identityId,
      returnTo: from.returnTo,
      internal: { addressChange: { address, instead, generation } },
    })
    return [showVerification(sendForChange(flow, person, address))]
  }

  /** Whether somebody else has the address is for its owner alone to know. */
  function sendForChange(flow: FlowRow, person: IdentityRow, address: string): FlowRow {
    const isTaken = store.identities.byEmail(flow.tenantId, address) !== undefined
    return codes.send(flow, {
      kind: CHANGE,
      address,
      person,
      withheld: isTaken ? 'somebody else has this address' : undefined,
      letter: (letters, about) => letters.emailChange(about),
    })
  }

  const showVerification = (flow: FlowRow): ContinueWith => ({
    action: 'show_verification_ui',
    flow: { id: flow.id, url: hostedUrl(flow), verifiable_address: flow.address ?? '' },
  })

  return { ask, askNewcomer, askForChange, sendForChange }
}

/** The form for the code: contract/gate, self-service flows. */
export function createVerificationKind(parts: {
  db: Db
  store: Store
  people: People
  keeper: FlowKeeper
  codes: Codes
  codeSteps: CodeSteps
  completion: Completion
  verifying: Verifying
  throttle: Throttle
}): Kind {
  const { db, store, people, keeper, codes, codeSteps, completion, verifying, throttle } = parts

  function nodes(flow: FlowRow, say: Say, code?: string) {
    if (flow.state === 'passed_challenge')
      return verificationDone(say, { ...(flow.returnTo !== null && { continueTo: flow.returnTo }) })
    if (flow.state === 'sent_email')
      return verificationCodeSent(say, { email: flow.address ?? '', code })
    return verificationStart(say)
  }

  async function submit(flow: FlowRow, input: Submission, client: Client): Promise<Outcome> {
    methodIn(input, 'verification', ['code'])
    return input.has('code') ? confirm(flow, input, client) : send(flow, input, client)
  }

  async function send(flow: FlowRow, input: Submission, client: Client): Promise<Stepped> {
    const address = addressIn(input, 'email')
    throttle.counted(client)
    const sent = await db.commit(() => {
      const current = keeper.open(flow.id)
      if (keeper.internalOf(current).addressChange) return sendChangeAgain(current, address)
      const person = store.identities.byEmail(flow.tenantId, address)
      const proven = person && store.addresses.of(flow.tenantId, person.id)?.verifiedAt !== null
      if (person && !proven && person.state === 'active') return verifying.ask(current, person)
      return codes.send(current, {
        address,
        person,
        withheld: proven ? 'the address is verified already' : 'nobody here has this address',
        letter: (letters, about) => letters.verification(about),
      })
    })
    return { is: 'flow', flow: sent }
  }

  /**
   * To the address that was asked for, and to no other: that takes a new change. What ends the
   * sessions of a person ends what was asked for in them.
   */
  function sendChangeAgain(flow: FlowRow, address: string): FlowRow {
    const { addressChange: change } = keeper.internalOf(flow)
    const person = flow.identityId && store.identities.find(flow.tenantId, flow.identityId)
    if (!person || !change || address !== change.address) throw complain(4070005)
    const { generation, instead } = change
    if (person.sessionGeneration !== generation || person.email !== instead) throw complain(4070005)
    return verifying.sendForChange(flow, person, address)
  }

  const confirm = (flow: FlowRow, input: Submission, client: Client): Promise<Stepped> =>
    codeSteps.redeemOwn(flow, { input, client }, (current, person, { address }) => {
      const owner = keeper.internalOf(current).addressChange ? moved(person, address) : person
      if (owner.email === address) completion.prove(owner)
      return { is: 'flow', flow: keeper.complete(current, { state: 'passed_challenge' }) }
    })

  /** The address was free when the code went out, which may be a while ago. */
  function moved(person: IdentityRow, email: string): IdentityRow {
    if (store.identities.byEmail(person.tenantId, email)) throw complain(4900010)
    const traits = { ...traitsOf(person), email }
    return people.change(person, byThemselves(person), { traits })
  }

  return { nodes, submit }
}
