import { HOUSE_ID } from '../../../platform/house.ts'
import { foldEmail } from '../email.ts'
import type { AddressRow } from '../store/addresses.ts'
import type { IdentityRow, State } from '../store/identities.ts'
import type { Store } from '../store/index.ts'

/** An operator, as lists and their own page have them. */
export interface Operator {
  id: string
  email: string
  /** When the account got the address. */
  emailSince: number
  /** Empty for who has not said one. */
  name: string
  /** Whether the operator has shown that mail to the address reaches them. */
  isVerified: boolean
  state: State
  createdAt: number
}

/** A part of the list, from behind what the one before ended with. */
export interface RosterScan {
  state?: State | undefined
  /** The beginning of an address; such a list is in the order of addresses. */
  search?: string | undefined
  after?: { seq: number; email: string } | undefined
  limit: number
}

export type HouseRoster = ReturnType<typeof createHouseRoster>

/** Who the operators are. */
export function createHouseRoster({ store: { identities, addresses } }: { store: Store }) {
  /** Newest first, or by address where its beginning is searched for. */
  function page({ search, state, after, limit }: RosterScan): (Operator & { seq: number })[] {
    const rows =
      search === undefined
        ? identities.page(HOUSE_ID, state, { before: after?.seq, limit })
        : identities.beginningWith(HOUSE_ID, foldEmail(search), {
            state,
            after: after?.email,
            limit,
          })
    return rows.map((row) => ({ ...of(row), seq: row.seq }))
  }

  function find(id: string): Operator | undefined {
    const row = identities.find(HOUSE_ID, id)
    return row && of(row)
  }

  /** The operator of a row that was read elsewhere. */
  function of({ id, email, traits, state, createdAt }: OperatorRow): Operator {
    const { display_name: name = '' }: { display_name?: string } = JSON.parse(traits)
    const address = addresses.of(HOUSE_ID, id)
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

  const isVerified = (id: string): boolean => isProven(addresses.of(HOUSE_ID, id))

  return {
    page,
    find,
    of,
    isVerified,
    /** Of no more than `most`. */
    count: (state: State, most: number): number => identities.count(HOUSE_ID, state, most),
  }
}

const isProven = (address: AddressRow | undefined): boolean =>
  (address?.verifiedAt ?? null) !== null

type OperatorRow = Pick<IdentityRow, 'id' | 'email' | 'traits' | 'state' | 'createdAt'>
