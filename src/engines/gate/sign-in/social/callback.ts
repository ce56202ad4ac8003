import type { AnyProvider } from '../../../../config/index.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { People } from '../../identities/people.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { Client } from '../flows/client.ts'
import type { EnabledMethods } from '../flows/enabled-methods.ts'
import { newExchangeCode } from '../flows/exchange.ts'
import { fieldError } from '../flows/failure.ts'
import type { FlowRepository, PendingAccount } from '../flows/flow.ts'
import type { Outcome, Stepped } from '../flows/kinds/kind.ts'
import { withQuery } from '../flows/return-to.ts'
import type { FlowRow } from '../flows/store.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import type { Linking } from './linking.ts'
import type { OAuthStates } from './oauth-states.ts'
import type { SocialSignIn } from './sign-in.ts'

export type SocialCallback = ReturnType<typeof createSocialCallback>

/** Browsers that return from a provider: to sign in, or to connect an account in the settings. */
export function createSocialCallback(parts: {
  clock: Clock
  people: People
  sessions: Sessions
  enabledMethods: EnabledMethods
  repository: FlowRepository
  oauthStates: OAuthStates
  linking: Linking
  socialSignIn: SocialSignIn
  hostedUrl: (flow: FlowRow) => string
}) {
  const { clock, people, sessions, enabledMethods, repository, hostedUrl } = parts
  const { oauthStates, linking, socialSignIn } = parts

  /**
   * The flow that the browser left for the provider, and how to complete it: within one commit,
   * once the provider has confirmed the user.
   */
  return async function receive(provider: AnyProvider, params: URLSearchParams, client: Client) {
    const { flow, isOwnBrowser, profile } = await oauthStates.end(provider, params, client)

    async function complete(): Promise<Outcome> {
      const account = linking.pending(provider, await profile())
      return repository.advance(flow, (current): Outcome => {
        // The tenant may have disabled the provider in the meantime.
        if (!enabledMethods.providers(current).includes(provider))
          throw fieldError(4900009, { context: aboutProvider(provider) })
        if (current.kind !== 'settings') return socialSignIn.signIn(current, account, client)
        return isOwnBrowser ? connect(current, account) : returnCode(current, account)
      })
    }

    return { flow, complete }
  }

  /** Connects another account to a signed-in identity. */
  function connect(flow: FlowRow, account: PendingAccount): Stepped {
    const session = sessions.alive(flow.tenantId, flow.sessionId ?? '')
    if (!session) throw fieldError(4050001)
    linking.link(people.existing(flow.tenantId, session.identity_id), account)
    const done = repository.complete(flow, { state: 'success', active: 'oidc' })
    return { is: 'flow', flow: done, next: hostedUrl(repository.renew(flow, [{ id: 1050001 }])) }
  }

  /** The browser may be someone else's, so it gets only a code for the signed-in user's app. */
  function returnCode(flow: FlowRow, pendingAccount: PendingAccount): Stepped {
    const { code, columns } = newExchangeCode(clock.now())
    const internalParts = { ...repository.internalOf(flow), pendingAccount }
    const waiting = repository.save(flow, { active: 'oidc', ...columns, internalParts })
    const next = withQuery(flow.returnTo ?? hostedUrl(flow), { flow: flow.id, code })
    return { is: 'flow', flow: waiting, next }
  }
}
