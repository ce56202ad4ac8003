import type { AnyProvider } from '../../../../../../config/index.ts'
import type { Clock } from '../../../../../../platform/clock.ts'
import type { Credentials } from '../../../../credentials/index.ts'
import type { IdentityRow } from '../../../../identities/store.ts'
import type { Store } from '../../../../store.ts'
import type { Node } from '../../../model.ts'
import type { Linking } from '../../../social/linking.ts'
import type { OAuthStates } from '../../../social/oauth-states.ts'
import type { EnabledMethods } from '../../enabled-methods.ts'
import { acceptsExchangeCode } from '../../exchange.ts'
import { fieldError } from '../../failure.ts'
import type { FlowRepository } from '../../flow.ts'
import type { FlowRow } from '../../store.ts'
import { aboutProvider, type Say, socialSettings } from '../../ui/index.ts'
import { type Outcome, providerIn } from '../kind.ts'
import type { Changes, SettingsForm } from './change.ts'

/** Settings of connected social accounts. */
export function createConnectionSettings(parts: {
  store: Store
  clock: Clock
  repository: FlowRepository
  credentials: Credentials
  enabledMethods: EnabledMethods
  linking: Linking
  oauthStates: OAuthStates
  changes: Changes
}) {
  const { store, clock, repository, credentials, enabledMethods, linking, oauthStates, changes } =
    parts

  function nodes(flow: FlowRow, person: IdentityRow, say: Say): Node[] {
    const linked = linkedOf(person)
    const unlinked = enabledMethods.providers(flow).filter((provider) => !linked.includes(provider))
    const removable = linked.filter((provider) => hasOtherSignInMethod(person, provider))
    return socialSettings(say, { unlinked, removable })
  }

  const linkedOf = ({ tenantId, id }: IdentityRow): AnyProvider[] =>
    store.socialLinks.of(tenantId, id).map(({ provider }) => provider)

  async function change(form: SettingsForm, person: IdentityRow): Promise<Outcome> {
    await changes.requireFresh(form)
    const { input } = form
    if (input.has('unlink')) return disconnect(form, person)
    return input.has('code') ? finish(form, input.required('code')) : begin(form, person)
  }

  async function begin(form: SettingsForm, person: IdentityRow): Promise<Outcome> {
    const { flow, input, client } = form
    const linked = linkedOf(person)
    const free = enabledMethods.providers(flow).filter((provider) => !linked.includes(provider))
    const provider = providerIn(input, input.has('link') ? 'link' : 'provider', free)
    if (client.wants === 'json' && flow.returnTo === null)
      throw fieldError(4000001, {
        context: { reason: 'X-Return-To: is required to connect an account' },
      })
    return oauthStates.begin(form, provider)
  }

  /**
   * Completes a connection that a program started: requires the browser's code as well as the
   * session. Otherwise, others could be sent to the provider and have their account connected.
   */
  const finish = (form: SettingsForm, code: string): Promise<Outcome> =>
    changes.change(form, 'oidc', ({ flow, person }) => {
      const { pendingAccount } = repository.internalOf(flow)
      if (!pendingAccount || !acceptsExchangeCode(flow, code, clock.now()))
        throw fieldError(4000001, { context: { reason: 'code' } })
      linking.link(person, pendingAccount)
      return undefined
    })

  async function disconnect(form: SettingsForm, person: IdentityRow): Promise<Outcome> {
    const provider = providerIn(form.input, 'unlink', linkedOf(person))
    return changes.change(form, 'oidc', (target) => {
      if (!hasOtherSignInMethod(target.person, provider)) throw fieldError(4900011)
      store.socialLinks.removeProvider(person.tenantId, person.id, provider)
      changes.record(person, 'identity.account_disconnected', aboutProvider(provider))
      return undefined
    })
  }

  /** Whether the identity could still sign in without its account at a provider. */
  function hasOtherSignInMethod(person: IdentityRow, without: AnyProvider): boolean {
    if (credentials.passwordOf(person) !== undefined || enabledMethods.byCode(person)) return true
    const offered = enabledMethods.providers(person)
    return linkedOf(person).some((provider) => provider !== without && offered.includes(provider))
  }

  return { nodes, change }
}
