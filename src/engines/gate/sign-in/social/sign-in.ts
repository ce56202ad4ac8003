import type { AnyProvider } from '../../../../config/index.ts'
import type { Db } from '../../../../db/open.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../../platform/crypto.ts'
import type { People } from '../../identities/people.ts'
import type { IdentityRow } from '../../identities/store.ts'
import type { Traits } from '../../identities/traits.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { Store } from '../../store.ts'
import type { AddressProof } from '../flows/address-proof.ts'
import type { Client } from '../flows/client.ts'
import { type Completed, type Completion, EXCHANGE_MS } from '../flows/completion.ts'
import { complain } from '../flows/failure.ts'
import type { FlowRepository, PendingAccount } from '../flows/flow.ts'
import { emailOrNone } from '../flows/identifiers.ts'
import type { Outcome, Stepped } from '../flows/kinds/kind.ts'
import type { Verifying } from '../flows/kinds/verification.ts'
import type { Offers } from '../flows/offers.ts'
import { withQuery } from '../flows/return-to.ts'
import type { FlowRow } from '../flows/store.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import type { ContinueWith } from '../model.ts'
import type { SocialProfile } from './index.ts'
import type { Linking } from './linking.ts'

export type SocialSignIn = ReturnType<typeof createSocialSignIn>

/** The user who returned from a provider, and whether the browser is the one that was sent. */
interface Arrival {
  provider: AnyProvider
  profile: SocialProfile
  isOwnBrowser: boolean
}

/**
 * Decides which identity a social account belongs to. The subject decides, never the address: a
 * shared address is a reason to ask for proof, not to connect (research: arXiv 2205.10174).
 */
export function createSocialSignIn(parts: {
  db: Db
  store: Store
  clock: Clock
  people: People
  sessions: Sessions
  repository: FlowRepository
  offers: Offers
  linking: Linking
  completion: Completion
  proof: AddressProof
  verifying: Verifying
  hostedUrl: (flow: FlowRow) => string
}) {
  const {
    db,
    store,
    clock,
    offers,
    people,
    sessions,
    repository,
    linking,
    completion,
    proof,
    verifying,
    hostedUrl,
  } = parts

  /** Handles the return from a provider, within one commit. */
  const arrive = (
    { id: flowId, tenantId }: Pick<FlowRow, 'id' | 'tenantId'>,
    { provider, profile, isOwnBrowser }: Arrival,
    client: Client,
  ): Promise<Outcome> =>
    db.commitFor(tenantId, () => {
      const flow = repository.open(flowId)
      // The tenant may have disabled the provider in the meantime.
      if (!offers.providers(flow).includes(provider))
        throw complain(4900009, { context: aboutProvider(provider) })
      const account = linking.pending(provider, profile)
      const owner = linking.ownerOf(flow.tenantId, provider, profile.subject)
      if (flow.kind === 'settings')
        return isOwnBrowser ? connect(flow, account) : handBack(flow, account)
      const known = owner === undefined ? undefined : store.identities.find(flow.tenantId, owner)
      if (known) return completion.signIn(flow, known, proofOf(provider), client)
      return meet(flow, account, client)
    })

  /** Connects another account to a signed-in identity. */
  function connect(flow: FlowRow, account: PendingAccount): Stepped {
    const session = sessions.alive(flow.tenantId, flow.sessionId ?? '')
    if (!session) throw complain(4050001)
    linking.link(people.existing(flow.tenantId, session.identity_id), account)
    const done = repository.complete(flow, { state: 'success', active: 'oidc' })
    return { is: 'flow', flow: done, next: hostedUrl(repository.renew(flow, [{ id: 1050001 }])) }
  }

  /**
   * The browser that returned may belong to another user, so it only receives a code, for the app
   * that the user is signed in to.
   */
  function handBack(flow: FlowRow, account: PendingAccount): Stepped {
    const code = mintSecret()
    const waiting = repository.save(flow, {
      active: 'oidc',
      exchangeHash: sha256(code),
      exchangeExpiresAt: clock.now() + EXCHANGE_MS,
      internalParts: { ...repository.internalOf(flow), pendingAccount: account },
    })
    return {
      is: 'flow',
      flow: waiting,
      next: withQuery(flow.returnTo ?? hostedUrl(flow), { flow: flow.id, code }),
    }
  }

  /** Handles an account that is not connected to an identity. */
  function meet(flow: FlowRow, account: PendingAccount, client: Client): Outcome {
    if (flow.sessionId !== null) throw complain(4000006)
    const email = account.email === null ? undefined : emailOrNone(account.email)
    const holder = email === undefined ? undefined : store.identities.byEmail(flow.tenantId, email)
    if (!holder && !offers.flow({ ...flow, kind: 'registration' }))
      throw complain(4900013, { context: aboutProvider(account.provider) })
    if (email === undefined) return askForAddress(flow, account, client)
    if (!holder)
      return register(
        flow,
        account,
        { traits: { email }, isVerified: account.isEmailVerified },
        client,
      )
    if (!account.isEmailVerified)
      throw complain(4900005, { context: aboutProvider(account.provider) })
    const isProven = store.addresses.of(flow.tenantId, holder.id)?.verifiedAt != null
    return isProven
      ? askForProof(flow, account, holder, client)
      : takeOver(flow, account, holder, client)
  }

  function register(
    flow: FlowRow,
    account: PendingAccount,
    { traits, isVerified }: { traits: Traits; isVerified: boolean },
    client: Client,
  ): Completed {
    const known = { ...account.traits, ...traits }
    const person = people.addByThemselves(flow.tenantId, known, 'oidc')
    linking.link(person, account)
    if (isVerified) proof.prove(person)
    const continueWith: ContinueWith[] = isVerified
      ? []
      : verifying.askNewcomer(flow, person, client)
    const done = completion.signUp(flow, person, proofOf(account.provider), client)
    return { ...done, continueWith }
  }

  /**
   * Asks for an address if the provider shared none. The new flow is bound to the browser that
   * returned, so that the account cannot end up with someone else's address.
   */
  function askForAddress(flow: FlowRow, account: PendingAccount, client: Client): Stepped {
    const { tenantId, language, returnTo } = flow
    const asking = repository.begin({
      tenantId,
      kind: 'registration',
      language,
      returnTo,
      browserHash: client.browserHash,
      internal: { pendingAccount: account },
      notices: [{ id: 1900003, context: aboutProvider(account.provider) }],
    })
    repository.complete(flow)
    return { is: 'flow', flow: asking, next: hostedUrl(asking) }
  }

  /** The owner of the address signs in as usual, which connects the account. */
  function askForProof(
    flow: FlowRow,
    account: PendingAccount,
    holder: IdentityRow,
    client: Client,
  ): Stepped {
    linking.requireRoom(holder, account.provider)
    const { tenantId, language, returnTo } = flow
    const about = { ...aboutProvider(account.provider), duplicate_identifier: holder.email }
    const login = repository.begin({
      tenantId,
      kind: 'login',
      language,
      returnTo,
      browserHash: client.browserHash,
      identityId: holder.id,
      internal: { pendingAccount: account },
      notices: [{ id: 1010016, context: about }],
    })
    repository.complete(flow)
    return { is: 'flow', flow: login, next: hostedUrl(login) }
  }

  /**
   * The provider confirms the address, which was never verified here. Someone else may have created
   * the identity, so all its credentials are removed.
   */
  function takeOver(
    flow: FlowRow,
    account: PendingAccount,
    holder: IdentityRow,
    client: Client,
  ): Outcome {
    if (holder.state === 'inactive') throw complain(4010011)
    const person = completion.proveByMailbox(holder)
    linking.link(person, account)
    return completion.signIn(flow, person, proofOf(account.provider), client)
  }

  return { arrive, register }
}

const proofOf = (provider: AnyProvider) => ({
  method: 'oidc' as const,
  aal: 'aal1' as const,
  provider,
})
