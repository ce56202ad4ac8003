import type { Actor } from '../../../platform/audit/index.ts'
import type { Flows } from '../flows/index.ts'
import type { Throttle } from '../flows/throttle.ts'
import type { Language } from '../model/flows.ts'
import type { SessionDetail } from '../model/sessions.ts'
import { createHouseAccounts } from './accounts.ts'
import { houseCaller } from './caller.ts'
import { createHouseRoster } from './roster.ts'
import { createHouseSignIns } from './sign-ins.ts'
import { createHouseStanding } from './standing.ts'
import { createHouseWays } from './ways.ts'

/** What the console asks for with a new flow. */
interface Beginning {
  kind: 'login' | 'registration' | 'recovery' | 'settings' | 'verification'
  /** Where the browser goes on: an address of the console itself, which nobody else may choose. */
  returnTo: string
  /** Undefined for the language of the browser. */
  language?: Language
  /** Of whoever is signed in: for settings, and to be asked for more. */
  sessionToken?: string
  requestedAal?: 'aal1' | 'aal2'
  isRefresh?: boolean
  /** Of whoever asks without a session, who may not ask without end. */
  ipAddress?: string | null
}

export type House = ReturnType<typeof createHouse>

/** Operators and their ways in, for the console, which has no key: nothing of it is counted. */
export function createHouse(
  parts: Parameters<typeof createHouseAccounts>[0] &
    Parameters<typeof createHouseSignIns>[0] &
    Parameters<typeof createHouseStanding>[0] &
    Parameters<typeof createHouseWays>[0] & { flows: Flows; throttle: Pick<Throttle, 'admit'> },
) {
  const { flows, throttle } = parts
  const { create, find } = createHouseAccounts(parts)
  const { open, verify, changePassword, removeSecondFactor, ...sessions } =
    createHouseSignIns(parts)

  /** The page on which somebody goes on. Throws `FlowRefusal`, and `rate_limited` for strangers. */
  async function begin({ kind, language, ipAddress, ...request }: Beginning): Promise<string> {
    const origin = ipAddress === undefined ? undefined : { ipAddress, hasKey: false }
    const flow = await flows.start(houseCaller(SYSTEM), kind, {
      ...request,
      language,
      ...(origin && { origin }),
    })
    return flow.hosted_url
  }

  /** Counts a form that has a password hashed before anybody is signed in. Throws `rate_limited`. */
  const admit = (ipAddress: string | null): void => throttle.admit({ ipAddress, hasKey: false })

  /** The session for what a browser brought back to `returnTo`: once, and soon. */
  async function exchange(brought: {
    flow: string
    code: string
  }): Promise<{ token: string; session: SessionDetail }> {
    const { session_token: token } = await flows.exchange(houseCaller(SYSTEM), brought)
    return { token, session: parts.sessions.whoami(token, houseCaller(SYSTEM)) }
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
    roster: createHouseRoster(parts),
    standing: createHouseStanding(parts),
    waysOf: createHouseWays(parts),
  }
}

const SYSTEM: Actor = { kind: 'system' }
