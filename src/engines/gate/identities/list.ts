import type { Caller } from '../../../platform/caller.ts'
import { createCursor, type Page, page } from '../../../platform/cursor.ts'
import { invalid } from '../../../platform/errors.ts'
import type { Store } from '../store.ts'
import { foldEmail, normaliseEmail } from './email.ts'
import type { IdentityDetail } from './model.ts'
import type { IdentityRow, State } from './store.ts'

interface IdentityQuery {
  limit: number
  cursor?: string | undefined
  state?: State | undefined
  /** A complete address. */
  email?: string | undefined
  /** The beginning of an address. */
  search?: string | undefined
}

/** Error code for invalid query parameters. */
const IN_QUERY = 'invalid_request'

/** Lists a tenant's identities, newest first, or by address if searched by its beginning. */
export function createIdentityList(parts: {
  store: Store
  present: (row: IdentityRow) => IdentityDetail
}) {
  const { store, present } = parts

  function list(caller: Caller, query: IdentityQuery): Page<IdentityDetail> {
    const listed = rowsOf(caller, query)
    return { ...listed, data: listed.data.map(present) }
  }

  function rowsOf(caller: Caller, query: IdentityQuery): Page<IdentityRow> {
    if (query.email !== undefined) return exactly(caller, query.email, query)
    if (query.search === undefined) return newest(caller, query)
    return search(caller, query.search, query)
  }

  /** Finds one address; the result has at most one identity and no next page. */
  function exactly({ tenantId }: Caller, email: string, { state, search, cursor }: IdentityQuery) {
    createCursor(`gate identity of ${tenantId}`).positionOf(cursor)
    const start = search === undefined ? '' : startOf(search)
    const row = store.identities.byEmail(tenantId, normaliseEmail(email, 'email'))
    const isInState = state === undefined || row?.state === state
    const data = row && isInState && row.email.startsWith(start) ? [row] : []
    return { data, has_more: false, next_cursor: null }
  }

  function newest({ tenantId }: Caller, { state, cursor, limit }: IdentityQuery) {
    const cursors = createCursor(`gate identities of ${tenantId}`)
    const before = cursors.positionOf(cursor)
    const rows = store.identities.page(tenantId, state, { before, limit: limit + 1 })
    return page(rows, limit, ({ seq }) => cursors.encode(seq))
  }

  function search({ tenantId }: Caller, text: string, { state, cursor, limit }: IdentityQuery) {
    const cursors = createCursor(`gate identities of ${tenantId} by address`, 'string')
    const of = { state, after: cursors.positionOf(cursor), limit: limit + 1 }
    const rows = store.identities.beginningWith(tenantId, startOf(text), of)
    return page(rows, limit, ({ email }) => cursors.encode(email))
  }

  return list
}

function startOf(search: string): string {
  const start = foldEmail(search)
  if (start === '')
    throw invalid('must be the beginning of an address', {
      field: 'search',
      rule: 'required',
      code: IN_QUERY,
    })
  return start
}
