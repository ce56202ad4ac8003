import type { AnyProvider } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import { testSignInContent } from '../sealed.ts'
import {
  type OAuthSecrets,
  type SignInCheck,
  type Social,
  SocialError,
} from '../sign-in/social/index.ts'
import type { Store } from '../store.ts'
import type { TestSignInRow } from './test-sign-ins-store.ts'

const { purpose: PURPOSE, boundTo } = testSignInContent
/** How long an admin may take at the provider, and how long the result is kept, in milliseconds. */
export const KEPT_MS = 30 * MINUTE_MS

/** What is kept while the browser is at the provider. */
interface Departure {
  secrets: OAuthSecrets
  actor: Actor
  returnTo: string
}

/** A test sign-in of an admin. */
export interface TestSignIn {
  /** When the browser left, or came back. */
  at: number
  /** Undefined until the browser is back. */
  result: SignInCheck | undefined
}

export type TestSignIns = ReturnType<typeof createTestSignIns>

/**
 * Test sign-ins: an admin signs in at a provider as users do, to see whether its configuration works.
 * The result is shown and nothing else happens: no identity, session or connected account.
 */
export function createTestSignIns(parts: {
  db: Db
  store: Store
  clock: Clock
  audit: Audit
  sealing: Sealing
  social: Social
  callbackUrl: (provider: AnyProvider) => string
}) {
  const { db, clock, audit, sealing, social, callbackUrl } = parts
  const store = parts.store.testSignIns

  /** The provider's URL to send the browser to; undefined if the configuration isn't enough for one. */
  async function begin(
    provider: AnyProvider,
    { sessionId, ...of }: { sessionId: string } & Omit<Departure, 'secrets'>,
  ): Promise<string | undefined> {
    const state = mintSecret()
    const redirectUri = callbackUrl(provider)
    const begun = await social.begin(provider, { redirectUri, state }).catch(undefinedFor)
    if (!begun) return undefined
    const departure: Departure = { ...of, secrets: begun.secrets }
    await db.commitFor(SYSTEM_TENANT_ID, () =>
      put({ sessionId, provider, stateHash: sha256(state) }, departure),
    )
    return begun.url
  }

  /**
   * Completes the test that a browser comes back from, and returns where it continues. Undefined unless
   * the state is of such a test, of the same provider and session, and was not used yet.
   */
  async function complete(
    provider: AnyProvider,
    params: URLSearchParams,
    adminSessionId: () => string | undefined,
  ): Promise<string | undefined> {
    const state = params.get('state') ?? ''
    const row = store.byState(sha256(state))
    if (row?.provider !== provider || isOver(row) || row.sessionId !== adminSessionId())
      return undefined
    const taken = await db.commitFor(SYSTEM_TENANT_ID, () => store.take(sha256(state)))
    if (!taken) return undefined
    const { secrets, actor, returnTo } = contentOf<Departure>(taken)
    const redirectUri = callbackUrl(provider)
    const result = await social.checkSignIn(provider, { redirectUri, params, state, secrets })
    await db.commitFor(SYSTEM_TENANT_ID, () => {
      put({ ...taken, stateHash: null }, result)
      audit.recordForOperators({
        actor,
        action: 'provider.tested',
        object: `provider:${provider}`,
        detail: { by: 'sign_in', results: result.checks.map((check) => check.result) },
      })
    })
    return returnTo
  }

  /** The latest test of a session at a provider. */
  function of(sessionId: string, provider: AnyProvider): TestSignIn | undefined {
    const row = store.find(sessionId, provider)
    if (!row || isOver(row)) return undefined
    const result = row.stateHash === null ? contentOf<SignInCheck>(row) : undefined
    return { at: row.at, result }
  }

  /** Discards the latest test, whose result is about another configuration. */
  const discard = (sessionId: string, provider: AnyProvider): Promise<void> =>
    db.commitFor(SYSTEM_TENANT_ID, () => store.remove(sessionId, provider))

  const put = (
    row: Pick<TestSignInRow, 'sessionId' | 'provider' | 'stateHash'>,
    content: Departure | SignInCheck,
  ) =>
    store.put({
      ...row,
      content: sealing.seal(PURPOSE, boundTo(row), JSON.stringify(content)),
      at: clock.now(),
    })

  const contentOf = <T>(row: TestSignInRow): T =>
    JSON.parse(sealing.open(PURPOSE, boundTo(row), row.content))

  const isOver = ({ at }: TestSignInRow): boolean => clock.now() >= at + KEPT_MS

  return { begin, complete, of, discard }
}

function undefinedFor(error: unknown): undefined {
  if (error instanceof SocialError) return undefined
  throw error
}
