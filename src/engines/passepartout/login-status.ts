import type { Caller } from '../../platform/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { sha256 } from '../../platform/crypto.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { Sealing } from '../../platform/sealing/index.ts'
import type { LoginStatus } from './model.ts'
import { ownerOf } from './owner.ts'
import type { People } from './people.ts'
import { openToken } from './sealed-token.ts'
import type { AskedAttempt } from './store/attempts.ts'
import type { Store } from './store/index.ts'
import type { Tokens } from './tokens.ts'
import type { Waiting } from './waiting.ts'

export type StatusOf = ReturnType<typeof createLoginStatus>

/** Reads how a sign-in of an app stands: contract/passepartout-relay, login status. */
export function createLoginStatus(parts: {
  clock: Clock
  sealing: Sealing
  store: Store
  people: People
  tokens: Tokens
  waiting: Waiting
}) {
  const { clock, sealing, store, people, tokens, waiting } = parts

  /** With `waitMs`, holds the response until the attempt changes, up to that time. */
  async function status(
    caller: Caller,
    nonce: string,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<LoginStatus> {
    const until = clock.monotonic() + waitMs
    for (;;) {
      const attempt = existing(caller, nonce)
      const shown = present(caller, attempt)
      const left = Math.min(until - clock.monotonic(), attempt.expires_at - clock.now())
      if (
        shown.status !== 'pending' ||
        left <= 0 ||
        !waiting.hasRoom(caller.tenantId) ||
        signal.aborted
      )
        return shown
      await waiting.news({ tenantId: caller.tenantId, attemptId: attempt.id }, left, signal)
    }
  }

  const existing = (caller: Caller, nonce: string): AskedAttempt =>
    store.attempts.asked(ownerOf(caller), sha256(nonce)) ?? fail(UNKNOWN)

  function present(caller: Caller, attempt: AskedAttempt): LoginStatus {
    const { state } = attempt
    if (state === 'denied' || state === 'mismatched') throw DENIED
    if (clock.now() >= attempt.expires_at) throw EXPIRED
    if (state !== 'approved') return { status: 'pending' }
    const { id, access_token: sealed, person_id: personId } = attempt
    const user = personId === null ? undefined : people.find(caller.tenantId, personId)
    if (sealed === null || !user) throw EXPIRED
    const token = openToken(sealing, id, sealed)
    if (!tokens.introspect(caller, token).active) throw EXPIRED
    return { status: 'completed', access_token: token, user }
  }

  return status
}

const gone = (message: string, code: string) => notFound(message, { code })
const UNKNOWN = gone('sign-in not found', 'not_found')
const EXPIRED = gone('the sign-in has expired', 'nonce_expired')
const DENIED = gone('the user denied the sign-in', 'login_denied')
