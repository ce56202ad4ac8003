import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import type { AddressRow } from '../identities/addresses-store.ts'
import { foldEmail } from '../identities/email.ts'
import type { IdentityRow, State } from '../identities/store.ts'
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
}

/** A page of the list, starting after the last entry of the previous page. */
export interface OperatorScan {
  state?: State | undefined
  /** The beginning of an address; the list is then sorted by address. */
  search?: string | undefined
  after?: { seq: number; email: string } | undefined
  limit: number
}

export type OperatorList = ReturnType<typeof createOperatorList>

/** Queries for operators. */
export function createOperatorList({ store: { identities, addresses } }: { store: Store }) {
  /** Newest first; sorted by address if searched by its beginning. */
  function page({ search, state, after, limit }: OperatorScan): (Operator & { seq: number })[] {
    const rows =
      search === undefined
        ? identities.page(SYSTEM_TENANT_ID, state, { before: after?.seq, limit })
        : identities.beginningWith(SYSTEM_TENANT_ID, foldEmail(search), {
            state,
            after: after?.email,
            limit,
          })
    return rows.map((row) => ({ ...of(row), seq: row.seq }))
  }

  function find(id: string): Operator | undefined {
    const row = identities.find(SYSTEM_TENANT_ID, id)
    return row && of(row)
  }

  /** The operator for a row that the caller has read. */
  function of({ id, email, traits, state, createdAt }: OperatorRow): Operator {
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

const isProven = (address: AddressRow | undefined): boolean =>
  (address?.verifiedAt ?? null) !== null

type OperatorRow = Pick<IdentityRow, 'id' | 'email' | 'traits' | 'state' | 'createdAt'>
