import type { AnyProvider } from '../../../../../../config/index.ts'
import type { Clock } from '../../../../../../platform/clock.ts'
import { isSame, sha256 } from '../../../../../../platform/crypto.ts'
import type { Credentials } from '../../../../credentials/index.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import type { Store } from '../../../../store.ts'
import type { Node } from '../../../model.ts'
import type { Linking } from '../../../social/linking.ts'
import type { OAuthStates } from '../../../social/oauth-states.ts'
import { complain } from '../../failure.ts'
import type { FlowRepository } from '../../flow.ts'
import type { Offers } from '../../offers.ts'
import type { FlowRow } from '../../store.ts'
import { aboutProvider, type Say, socialSettings } from '../../ui/index.ts'
import { type Outcome, providerIn } from '../kind.ts'
import type { Changes, Wish } from './change.ts'

/** Settings of connected social accounts. */
export function createConnectionSettings(parts: {
  store: Store
  clock: Clock
  repository: FlowRepository
  credentials: Credentials
  offers: Offers
  linking: Linking
  oauthStates: OAuthStates
  changes: Changes
}) {
  const { store, clock, repository, credentials, offers, linking, oauthStates, changes } = parts

  function nodes(flow: FlowRow, person: IdentityRow, say: Say): Node[] {
    const linked = linkedOf(person)
    const unlinked = offers.providers(flow).filter((provider) => !linked.includes(provider))
    const removable = linked.filter((provider) => hasOtherWay(person, provider))
    return socialSettings(say, { unlinked, removable })
  }

  const linkedOf = ({ tenantId, id }: IdentityRow): AnyProvider[] =>
    store.socialLinks.of(tenantId, id).map(({ provider }) => provider)

  async function change(wish: Wish, person: IdentityRow): Promise<Outcome> {
    await changes.requireFresh(wish)
    const { input } = wish
    if (input.has('unlink')) return disconnect(wish, person)
    return input.has('code') ? finish(wish, input.required('code')) : begin(wish, person)
  }

  async function begin({ flow, input, client }: Wish, person: IdentityRow): Promise<Outcome> {
    const linked = linkedOf(person)
    const free = offers.providers(flow).filter((provider) => !linked.includes(provider))
    const provider = providerIn(input, input.has('link') ? 'link' : 'provider', free)
    if (client.wants === 'json' && flow.returnTo === null)
      throw complain(4000001, {
        context: { reason: 'X-Return-To: is required to connect an account' },
      })
    return oauthStates.begin(flow, { provider, input, client })
  }

  /**
   * Completes a connection that a program started: the browser that was at the provider brought a
   * code, and only its owner also has the session. Without this check, anyone could send others to
   * the provider and have their social account connected.
   */
  const finish = (wish: Wish, code: string): Promise<Outcome> =>
    changes.change(wish, 'oidc', ({ flow, person }) => {
      const { pendingAccount } = repository.internalOf(flow)
      const { exchangeHash, exchangeExpiresAt } = flow
      const isGood =
        exchangeHash !== null &&
        isSame(exchangeHash, sha256(code)) &&
        clock.now() < (exchangeExpiresAt ?? 0)
      if (!isGood || !pendingAccount) throw complain(4000001, { context: { reason: 'code' } })
      linking.link(person, pendingAccount)
      return undefined
    })

  async function disconnect(wish: Wish, person: IdentityRow): Promise<Outcome> {
    const provider = providerIn(wish.input, 'unlink', linkedOf(person))
    return changes.change(wish, 'oidc', (scene) => {
      if (!hasOtherWay(scene.person, provider)) throw complain(4900011)
      store.socialLinks.removeProvider(person.tenantId, person.id, provider)
      changes.record(person, 'identity.account_disconnected', aboutProvider(provider))
      return undefined
    })
  }

  /** Whether the identity could still sign in without its account at a provider. */
  function hasOtherWay(person: IdentityRow, without: AnyProvider): boolean {
    if (credentials.passwordOf(person) !== undefined || offers.byCode(person)) return true
    const offered = offers.providers(person)
    return linkedOf(person).some((provider) => provider !== without && offered.includes(provider))
  }

  return { nodes, change }
}
