import type { AnyProvider } from '../../../../config/index.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Traits } from '../../identities/traits.ts'
import type { Store } from '../../store.ts'
import type { AddressProof } from '../flows/address-proof.ts'
import type { Client } from '../flows/client.ts'
import type { Completed, Completion } from '../flows/completion.ts'
import type { EnabledMethods } from '../flows/enabled-methods.ts'
import { fieldError } from '../flows/failure.ts'
import type { FlowRepository, NewFlow, PendingAccount } from '../flows/flow.ts'
import { emailOrNone } from '../flows/identifiers.ts'
import type { Outcome, Stepped } from '../flows/kinds/kind.ts'
import type { SignUp } from '../flows/sign-up.ts'
import type { FlowRow } from '../flows/store.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import type { Linking } from './linking.ts'

export type SocialSignIn = ReturnType<typeof createSocialSignIn>

/** The subject decides, not the address, which only prompts for proof (arXiv 2205.10174). */
export function createSocialSignIn(parts: {
  store: Store
  enabledMethods: EnabledMethods
  repository: FlowRepository
  linking: Linking
  addressProof: AddressProof
  completion: Completion
  signUp: SignUp
  hostedUrl: (flow: FlowRow) => string
}) {
  const { store, enabledMethods, repository, linking, addressProof } = parts
  const { completion, hostedUrl } = parts

  /** Signs in the identity that the account is connected to. */
  function signIn(flow: FlowRow, account: PendingAccount, client: Client): Outcome {
    const owner = linking.ownerOf(flow.tenantId, account.provider, account.subject)
    const person = owner === undefined ? undefined : store.identities.find(flow.tenantId, owner)
    if (person) return completion.signIn(flow, person, proofOf(account.provider), client)
    return signInUnknown(flow, account, client)
  }

  /** Handles an account that is not connected to an identity. */
  function signInUnknown(flow: FlowRow, account: PendingAccount, client: Client): Outcome {
    if (flow.sessionId !== null) throw fieldError(4000006)
    const email = account.email === null ? undefined : emailOrNone(account.email)
    const holder = email === undefined ? undefined : store.identities.byEmail(flow.tenantId, email)
    if (!holder && !enabledMethods.allowsFlow({ ...flow, kind: 'registration' }))
      throw fieldError(4900013, { context: aboutProvider(account.provider) })
    if (email === undefined) return askForAddress(flow, account, client)
    if (!holder) {
      const known = { traits: { email }, isVerified: account.isEmailVerified }
      return signUp(flow, account, known, client)
    }
    if (!account.isEmailVerified)
      throw fieldError(4900005, { context: aboutProvider(account.provider) })
    return addressProof.isProven(holder)
      ? askForProof(flow, account, holder, client)
      : takeOver(flow, account, holder, client)
  }

  const signUp = (
    flow: FlowRow,
    account: PendingAccount,
    { traits, isVerified }: { traits: Traits; isVerified: boolean },
    client: Client,
  ): Completed =>
    parts.signUp.signUp(
      flow,
      {
        traits: { ...account.traits, ...traits },
        isVerified,
        proof: proofOf(account.provider),
        addCredential: (person) => linking.link(person, account),
      },
      client,
    )

  /** Asks for an address if the provider shared none. */
  const askForAddress = (flow: FlowRow, account: PendingAccount, client: Client): Stepped =>
    continueIn(flow, account, client, {
      kind: 'registration',
      notices: [{ id: 1900003, context: aboutProvider(account.provider) }],
    })

  /** The owner of the address signs in as usual, which connects the account. */
  function askForProof(
    flow: FlowRow,
    account: PendingAccount,
    { id, tenantId, email }: IdentityRow,
    client: Client,
  ): Stepped {
    linking.requireRoom({ id, tenantId }, account.provider)
    const context = { ...aboutProvider(account.provider), duplicate_identifier: email }
    const notices = [{ id: 1010016 as const, context }]
    return continueIn(flow, account, client, { kind: 'login', identityId: id, notices })
  }

  /**
   * Keeps the account for another flow, bound to the browser that returned, so that it cannot end
   * up with someone else's address.
   */
  function continueIn(
    flow: FlowRow,
    pendingAccount: PendingAccount,
    { browserHash }: Client,
    special: Pick<NewFlow, 'kind' | 'identityId' | 'notices'>,
  ): Stepped {
    const { tenantId, language, returnTo } = flow
    const internal = { pendingAccount }
    const next = repository.begin({
      tenantId,
      language,
      returnTo,
      browserHash,
      internal,
      ...special,
    })
    repository.complete(flow)
    return { is: 'flow', flow: next, next: hostedUrl(next) }
  }

  /** The provider confirms an address never verified here; a stranger's credentials are removed. */
  function takeOver(
    flow: FlowRow,
    account: PendingAccount,
    holder: IdentityRow,
    client: Client,
  ): Outcome {
    if (holder.state === 'inactive') throw fieldError(4010011)
    const person = addressProof.proveByMailbox(holder)
    linking.link(person, account)
    return completion.signIn(flow, person, proofOf(account.provider), client)
  }

  return { signIn, signUp }
}

const proofOf = (provider: AnyProvider) => ({
  method: 'oidc' as const,
  aal: 'aal1' as const,
  provider,
})
