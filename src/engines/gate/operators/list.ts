import { beginningWith, type Order } from '../../../db/keyset.ts'
import { type Page, sortedPage } from '../../../platform/cursor.ts'
import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import type { AddressRow } from '../identities/addresses-store.ts'
import { foldEmail } from '../identities/email.ts'
import { type IdentityRow, SORT_KEYS, type State } from '../identities/store.ts'
import { keyOf } from '../identities/summaries.ts'
import type { Store } from '../store.ts'

/** An operator, as shown in lists and on the operator's page. */
export interface Operator {
  id: string
  email: string
  /** When the account received its address, in milliseconds. */
  emailSince: number
  /** Empty if the operator has not set one. */
  name: string
  /** Whether the address is verified. */
  isVerified: boolean
  state: State
  createdAt: number
  lastSignInAt: number | null
}

/** Newest first by default. A search for the beginning of an address is in the order of addresses. */
interface OperatorQuery extends Partial<Order<keyof typeof SORT_KEYS>> {
  state?: State | undefined
  search?: string | undefined
  cursor?: string | undefined
  limit: number
}

export type OperatorList = ReturnType<typeof createOperatorList>

/** Queries for operators. */
export function createOperatorList({ store: { identities, addresses } }: { store: Store }) {
  function page({ search, state, cursor, limit, ...order }: OperatorQuery): Page<Operator> {
    const { by = 'created', isDescending = true } = search === undefined ? order : BY_EMAIL
    const range = search === undefined ? {} : beginningWith(foldEmail(search))
    const query = { by, isDescending, cursor, limit }
    const found = sortedPage(LIST, query, (rest) =>
      identities.sorted(SYSTEM_TENANT_ID, { ...query, state, ...range, ...rest }),
    )
    return { ...found, data: found.data.map(of) }
  }

  function find(id: string): Operator | undefined {
    const row = identities.find(SYSTEM_TENANT_ID, id)
    return row && of(row)
  }

  /** The operator for a row that the caller has read. */
  function of({ id, email, traits, state, createdAt, lastSignInAt }: OperatorRow): Operator {
    const { display_name: name = '' }: { display_name?: string } = JSON.parse(traits)
    const address = addresses.of(SYSTEM_TENANT_ID, id)
    return {
      id,
      email,
      emailSince: address?.createdAt ?? createdAt,
      name,
      isVerified: isProven(address),
      state,
      createdAt,
      lastSignInAt: lastSignInAt || null,
    }
  }

  const isVerified = (id: string): boolean => isProven(addresses.of(SYSTEM_TENANT_ID, id))

  return {
    page,
    find,
    of,
    isVerified,
    /** Counts up to `most`. */
    count: (state: State, most: number): number => identities.count(SYSTEM_TENANT_ID, state, most),
  }
}

const LIST = { list: 'operators', keys: SORT_KEYS, keyOf }
const BY_EMAIL = { by: 'email', isDescending: false } as const

const isProven = (address: AddressRow | undefined): boolean =>
  (address?.verifiedAt ?? null) !== null

type OperatorRow = Pick<
  IdentityRow,
  'id' | 'email' | 'traits' | 'state' | 'createdAt' | 'lastSignInAt'
>
