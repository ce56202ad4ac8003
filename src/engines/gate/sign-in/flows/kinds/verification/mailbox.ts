import type { Credentials } from '../../../../credentials/index.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import type { Store } from '../../../../store.ts'
import type { AccountHolder } from '../../account-holder.ts'
import type { AddressProof } from '../../address-proof.ts'
import type { Client } from '../../client.ts'
import type { CompleteRecovery } from '../../complete-recovery.ts'
import { fieldError } from '../../failure.ts'
import type { FlowRepository, Mailbox } from '../../flow.ts'
import type { FlowRow } from '../../store.ts'
import type { Form, Submission } from '../../submission.ts'
import type { Stepped } from '../kind.ts'

export type ProvenMailbox = ReturnType<typeof createProvenMailbox>

/**
 * A user who has proven a mailbox, but not ownership of the account: they choose between signing in
 * and recovering the account. Always runs within a commit.
 */
export function createProvenMailbox(parts: {
  store: Store
  credentials: Credentials
  repository: FlowRepository
  addressProof: AddressProof
  accountHolder: AccountHolder
  completeRecovery: CompleteRecovery
  hostedUrl: (flow: FlowRow) => string
}) {
  const {
    store,
    credentials,
    repository,
    addressProof,
    accountHolder,
    completeRecovery,
    hostedUrl,
  } = parts

  /** Verifies the address, or requires a choice if ownership of the account is not proven. */
  function confirm(form: Form, person: IdentityRow, address: string): Stepped {
    const { flow, client } = form
    const confirmed = () => stepped(addressProof.confirm(flow, person, address))
    if (accountHolder.isHolder(flow, person, client)) return confirmed()
    const isMoving = repository.internalOf(flow).addressChange !== undefined
    if (isMoving) return askForChoice(form, person, address)
    if (addressProof.isProven(person)) return confirmed()
    if (credentials.hasSignInMethod(person)) return askForChoice(form, person, address)
    addressProof.proveByMailbox(person)
    return confirmed()
  }

  /** Carries out the choice if it came with the code. */
  function askForChoice(form: Form, person: IdentityRow, address: string): Stepped {
    const { flow, input, client } = form
    const { id: identityId, sessionGeneration: generation } = person
    const mailbox = { identityId, address, generation }
    if (input.has('confirm_by')) return carryOut(form, choiceIn(input), mailbox)
    // Throws, so that the code stays unused and a program can send it with a session token.
    if (client.wants === 'json') throw fieldError(4900014)
    const internalParts = { ...repository.internalOf(flow), mailbox }
    return stepped(repository.save(flow, { browserHash: client.browserHash, internalParts }))
  }

  /** The choice on a page after the code, reached only by the browser that entered it. */
  function choose(form: Form, choice: Choice): Stepped {
    const { mailbox } = repository.internalOf(form.flow)
    if (!mailbox) throw fieldError(4010006)
    return carryOut(form, choice, mailbox)
  }

  function carryOut({ flow, client }: Form, choice: Choice, mailbox: Mailbox): Stepped {
    const person = store.identities.find(flow.tenantId, mailbox.identityId)
    if (person?.sessionGeneration !== mailbox.generation) throw fieldError(4070005)
    if (choice === 'sign_in') return signInFirst(flow, person, mailbox, client)
    // The mailbox of a requested address proves nothing about the account.
    if (person.email !== mailbox.address) throw fieldError(4900014)
    return completeRecovery(flow, person, client)
  }

  /** Starts a sign-in that returns to this flow and then verifies the address. */
  function signInFirst(
    flow: FlowRow,
    person: IdentityRow,
    { address }: Mailbox,
    client: Client,
  ): Stepped {
    if (client.wants === 'json') throw fieldError(4900014)
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

  /** Proof of one mailbox is not proof of another. */
  function forget(flow: FlowRow): FlowRow {
    const { mailbox, ...internalParts } = repository.internalOf(flow)
    return mailbox === undefined ? flow : repository.save(flow, { internalParts })
  }

  return { confirm, choose, forget }
}

const stepped = (flow: FlowRow): Stepped => ({ is: 'flow', flow })

const CHOICES = ['sign_in', 'recovery'] as const

type Choice = (typeof CHOICES)[number]

export function choiceIn(input: Submission): Choice {
  const named = input.required('confirm_by')
  const choice = CHOICES.find((one) => one === named)
  if (choice === undefined) throw fieldError(4010006)
  return choice
}
