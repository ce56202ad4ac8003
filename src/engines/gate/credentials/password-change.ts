import type { Clock } from '../../../platform/clock.ts'
import type { IdentityRow } from '../identities/store.ts'
import type { Sessions } from '../sessions/index.ts'
import type { Store } from '../store.ts'
import type { Events } from '../webhooks/events.ts'
import type { Credentials } from './index.ts'

export type ChangePassword = ReturnType<typeof createPasswordChange>

/** Within a commit. Voids earlier codes and ends all sessions except for `keptSessionId`. */
export const createPasswordChange =
  (parts: {
    store: Store
    clock: Clock
    credentials: Credentials
    sessions: Sessions
    events: Events
  }) =>
  (person: IdentityRow, hash: string, keptSessionId?: string) => {
    const { store, clock, credentials, sessions, events } = parts
    const { tenantId, id } = person
    credentials.setPassword(person, hash)
    store.codes.removeOfIdentity(tenantId, id)
    if (keptSessionId === undefined) sessions.endAll(person)
    else sessions.endOthers(person, keptSessionId)
    const payload = { method: 'password' }
    events(tenantId, { type: 'identity.password_changed', identityId: id, payload }, clock.now())
  }
