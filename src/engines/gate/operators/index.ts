import type { Actor } from '../../../platform/audit/index.ts'
import type { SessionDetail } from '../sessions/model.ts'
import type { Flows } from '../sign-in/flows/index.ts'
import type { Throttle } from '../sign-in/flows/throttle.ts'
import type { Language } from '../sign-in/model.ts'
import { createAccountState } from './account-state.ts'
import { createOperatorAccounts } from './accounts.ts'
import { systemTenantCaller } from './caller.ts'
import { createOperatorList } from './list.ts'
import { createSignInMethodsOf } from './sign-in-methods.ts'
import { createOperatorSignIns } from './sign-ins.ts'

/** The console's request for a new flow. */
interface Beginning {
  kind: 'login' | 'registration' | 'recovery' | 'settings' | 'verification'
  /** URL of the console where the browser continues. Never taken from a request. */
  returnTo: string
  /** The browser's language if undefined. */
  language?: Language
  /** The session that settings and a second factor act for. */
  sessionToken?: string
  requestedAal?: 'aal1' | 'aal2'
  isRefresh?: boolean
  /** The client's IP address, for the rate limit of requests without a session. */
  ipAddress?: string | null
}

export type GateOperators = ReturnType<typeof createGateOperators>

/** Operator accounts and sign-in for the console, which has no API key, so nothing is counted. */
export function createGateOperators(
  parts: Parameters<typeof createOperatorAccounts>[0] &
    Parameters<typeof createOperatorSignIns>[0] &
    Parameters<typeof createAccountState>[0] &
    Parameters<typeof createSignInMethodsOf>[0] & {
      flows: Flows
      throttle: Pick<Throttle, 'admit'>
    },
) {
  const { flows, throttle } = parts
  const { create, find } = createOperatorAccounts(parts)
  const { open, verify, changePassword, removeSecondFactor, ...sessions } =
    createOperatorSignIns(parts)

  /** Returns the page's URL. Throws `FlowRefusal`; `rate_limited` for clients with no session. */
  async function begin({ kind, language, ipAddress, ...request }: Beginning): Promise<string> {
    const origin = ipAddress === undefined ? undefined : { ipAddress, hasKey: false }
    const flow = await flows.start(systemTenantCaller(SYSTEM), kind, {
      ...request,
      language,
      ...(origin && { origin }),
    })
    return flow.hosted_url
  }

  /** Limits forms that hash a password before sign-in. Throws `rate_limited`. */
  const admit = (ipAddress: string | null): void => throttle.admit({ ipAddress, hasKey: false })

  /** Exchanges what the browser brought to `returnTo`; works once and only for a short time. */
  async function exchange(brought: {
    flow: string
    code: string
  }): Promise<{ token: string; session: SessionDetail }> {
    const { session_token: token } = await flows.exchange(systemTenantCaller(SYSTEM), brought)
    return { token, session: parts.sessions.whoami(token, systemTenantCaller(SYSTEM)) }
  }

  return {
    begin,
    admit,
    exchange,
    create,
    find,
    open,
    verify,
    changePassword,
    removeSecondFactor,
    sessions,
    operatorList: createOperatorList(parts),
    accountState: createAccountState(parts),
    signInMethodsOf: createSignInMethodsOf(parts),
  }
}

const SYSTEM: Actor = { kind: 'system' }
