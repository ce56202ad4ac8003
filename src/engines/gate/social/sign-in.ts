import type { AnyProvider } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import type { Clock } from '../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../platform/crypto.ts'
import type { AddressProof } from '../flows/address-proof.ts'
import type { Client } from '../flows/client.ts'
import { type Completed, type Completion, EXCHANGE_MS } from '../flows/completion.ts'
import { complain } from '../flows/failure.ts'
import type { FlowKeeper, PendingAccount } from '../flows/flow.ts'
import { emailOrNone } from '../flows/identifiers.ts'
import type { Outcome, Stepped } from '../flows/kinds/kind.ts'
import type { Verifying } from '../flows/kinds/verification.ts'
import type { Offers } from '../flows/offers.ts'
import { withQuery } from '../flows/return-to.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import type { ContinueWith } from '../model/flows.ts'
import type { People } from '../people.ts'
import type { Sessions } from '../sessions.ts'
import type { FlowRow } from '../store/flows.ts'
import type { IdentityRow } from '../store/identities.ts'
import type { Store } from '../store/index.ts'
import type { Traits } from '../traits.ts'
import type { SocialProfile } from './index.ts'
import type { Linking } from './linking.ts'

export type SocialSignIn = ReturnType<typeof createSocialSignIn>

/** Who came back from a provider, and whether in the browser that was sent there. */
interface Arrival {
  provider: AnyProvider
  profile: SocialProfile
  isOwnBrowser: boolean
}

/**
 * Whose account here an account elsewhere stands for. The subject decides, never the address; an
 * address that both have in common is a reason to ask, not to link (research: arXiv 2205.10174).
 */
export function createSocialSignIn(parts: {
  db: Db
  store: Store
  clock: Clock
  people: People
  sessions: Sessions
  keeper: FlowKeeper
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
    keeper,
    linking,
    completion,
    proof,
    verifying,
    hostedUrl,
  } = parts

  /** What comes of a way back from a provider, within one commit. */
  const arrive = (
    { id: flowId, tenantId }: Pick<FlowRow, 'id' | 'tenantId'>,
    { provider, profile, isOwnBrowser }: Arrival,
    client: Client,
  ): Promise<Outcome> =>
    db.commitFor(tenantId, () => {
      const flow = keeper.open(flowId)
      // It may have been switched off while the browser was away.
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

  /** One more account for somebody who is signed in. */
  function connect(flow: FlowRow, account: PendingAccount): Stepped {
    const session = sessions.alive(flow.tenantId, flow.sessionId ?? '')
    if (!session) throw complain(4050001)
    linking.link(people.existing(flow.tenantId, session.identity_id), account)
    const done = keeper.complete(flow, { state: 'success', active: 'oidc' })
    return { is: 'flow', flow: done, next: hostedUrl(keeper.renew(flow, [{ id: 1050001 }])) }
  }

  /** Whoever came back may be somebody else, and gets a code for the app that they are signed in at. */
  function handBack(flow: FlowRow, account: PendingAccount): Stepped {
    const code = mintSecret()
    const waiting = keeper.save(flow, {
      active: 'oidc',
      exchangeHash: sha256(code),
      exchangeExpiresAt: clock.now() + EXCHANGE_MS,
      internalParts: { ...keeper.internalOf(flow), pendingAccount: account },
    })
    return {
      is: 'flow',
      flow: waiting,
      next: withQuery(flow.returnTo ?? hostedUrl(flow), { flow: flow.id, code }),
    }
  }

  /** An account that is nobody's yet. */
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
   * Without one nobody can be written to: a form asks for it. It is one of the browser that came
   * back, whoever began: the account must not end up with somebody else's address.
   */
  function askForAddress(flow: FlowRow, account: PendingAccount, client: Client): Stepped {
    const { tenantId, language, returnTo } = flow
    const asking = keeper.begin({
      tenantId,
      kind: 'registration',
      language,
      returnTo,
      browserHash: client.browserHash,
      internal: { pendingAccount: account },
      notices: [{ id: 1900003, context: aboutProvider(account.provider) }],
    })
    keeper.complete(flow)
    return { is: 'flow', flow: asking, next: hostedUrl(asking) }
  }

  /** The holder of the address signs in as ever, and has the account connected by that. */
  function askForProof(
    flow: FlowRow,
    account: PendingAccount,
    holder: IdentityRow,
    client: Client,
  ): Stepped {
    linking.requireRoom(holder, account.provider)
    const { tenantId, language, returnTo } = flow
    const about = { ...aboutProvider(account.provider), duplicate_identifier: holder.email }
    const login = keeper.begin({
      tenantId,
      kind: 'login',
      language,
      returnTo,
      browserHash: client.browserHash,
      identityId: holder.id,
      internal: { pendingAccount: account },
      notices: [{ id: 1010016, context: about }],
    })
    keeper.complete(flow)
    return { is: 'flow', flow: login, next: hostedUrl(login) }
  }

  /**
   * The provider vouches for the address, and here nobody ever proved it: whoever made the account
   * may have been somebody else, so that nothing of what they could come back by is left.
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
