import type { Db } from '../../db/open.ts'
import type { Audit } from '../../platform/audit/index.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { fail, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { MessengerPlatform, Person } from './messenger.ts'
import type { User } from './model.ts'
import type { Store } from './store/index.ts'
import type { PersonRow } from './store/people.ts'

export type People = ReturnType<typeof createPeople>

/** Users who have signed in: contract/passepartout-relay, user. */
export function createPeople(parts: { db: Db; clock: Clock; audit: Audit; store: Store }) {
  const { db, clock, audit, store } = parts

  /** Creates or updates the user with the messenger's current data, in the sign-in's commit. */
  function recognise(tenantId: string, platform: MessengerPlatform, account: Person): PersonRow {
    const now = clock.now()
    const { id: platformUserId, ...profile } = account
    return store.people.put({
      id: newId(),
      tenantId,
      platform,
      platformUserId,
      ...profile,
      createdAt: now,
      updatedAt: now,
    })
  }

  /**
   * Deletes a user and their tokens. A later sign-in with the same account creates a new user.
   * Their attempts are kept without the name until retention deletes them.
   */
  async function remove(caller: Caller, id: string): Promise<void> {
    const { tenantId } = caller
    await db.commitFor(tenantId, () => {
      read(caller, id)
      store.people.remove(tenantId, id)
      store.tokens.removeOf(tenantId, id)
      audit.record({
        tenantId,
        actor: caller.actor,
        action: 'login_user.deleted',
        object: `passepartout:user:${id}`,
      })
    })
  }

  /** With a `test` key, users of the sandbox; with a `live` key, all others. */
  function read({ tenantId, environment }: Caller, id: string): User {
    const user = find(tenantId, id)
    const isVisible = user && (user.platform === 'sandbox') === (environment === 'test')
    return isVisible ? user : fail(notFound('user not found'))
  }

  function find(tenantId: string, id: string): User | undefined {
    const row = store.people.find(tenantId, id)
    return row && present(row)
  }

  return { recognise, find, read, remove }
}

const present = (row: PersonRow): User => ({
  id: row.id,
  platform: row.platform,
  platform_user_id: row.platformUserId,
  username: row.username,
  first_name: row.firstName,
  last_name: row.lastName,
  language_code: row.languageCode,
  created_at: isoTime(row.createdAt),
})
