import type { Caller } from '../../../platform/caller.ts'
import { createCursor, type Page, sortedPage } from '../../../platform/cursor.ts'
import type { Store } from '../store.ts'
import type { IdentitySearch } from './search/index.ts'
import { nameIn } from './search/terms.ts'
import { type IdentityRow, SORT_KEYS, type State } from './store.ts'

/** A user as lists show them. */
export interface UserSummary {
  id: string
  email: string
  /** Empty if the custom data has none. */
  name: string
  state: State
  isVerified: boolean
  /** Types of credentials, such as `password`. */
  credentials: readonly string[]
  createdAt: number
  lastSignInAt: number | null
}

interface UserQuery {
  /** Words, each in any part of the email or name. Matches are sorted by creation. */
  search?: string | undefined
  state?: State | undefined
  by: keyof typeof SORT_KEYS
  isDescending: boolean
  /** Limit the time that sorts. */
  since?: number | undefined
  until?: number | undefined
  cursor?: string | undefined
  limit: number
}

/** Lists a tenant's users for the console: searched, or sorted. A page of a search can be short. */
export function createUserSummaries(parts: { store: Store; search: IdentitySearch }) {
  const { store, search } = parts

  function list({ tenantId }: Caller, query: UserQuery): Page<UserSummary> {
    const found = query.search === undefined ? sorted(tenantId, query) : searched(tenantId, query)
    return { ...found, data: found.data.map(present) }
  }

  function sorted(tenantId: string, query: UserQuery): Page<IdentityRow> {
    const of = { list: `users of ${tenantId}`, keys: SORT_KEYS, keyOf }
    return sortedPage(of, query, (range) =>
      store.identities.sorted(tenantId, { ...query, ...range }),
    )
  }

  function searched(tenantId: string, query: UserQuery): Page<IdentityRow> {
    const { search: text = '', state, cursor, limit } = query
    const cursors = createCursor(`found users of ${tenantId}`)
    const before = cursors.positionOf(cursor)
    const { rows, next } = search.find(tenantId, text, { state, before, limit })
    return {
      data: rows,
      has_more: next !== undefined,
      next_cursor: next === undefined ? null : cursors.encode(next),
    }
  }

  /** A user by ID; undefined for one of another tenant. */
  function find({ tenantId }: Caller, id: string): UserSummary | undefined {
    const row = store.identities.find(tenantId, id)
    return row && present(row)
  }

  function present(row: IdentityRow): UserSummary {
    const { tenantId, id, email, state, createdAt, lastSignInAt } = row
    const address = store.addresses.of(tenantId, id)
    const types = store.credentials.headsOf(tenantId, id).map(({ type }) => type as string)
    const isLinked = store.socialLinks.of(tenantId, id).length > 0
    return {
      ...{ id, email, state, createdAt },
      name: nameIn(JSON.parse(row.traits)),
      isVerified: (address?.verifiedAt ?? null) !== null,
      credentials: isLinked ? [...types, 'oidc'] : types,
      lastSignInAt: lastSignInAt === 0 ? null : lastSignInAt,
    }
  }

  return { list, find }
}

const keyOf = {
  created: ({ createdAt }: IdentityRow) => createdAt,
  email: ({ email }: IdentityRow) => email,
  signed_in: ({ lastSignInAt }: IdentityRow) => lastSignInAt,
}
