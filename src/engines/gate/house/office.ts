import type { Config } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCredentials } from '../credentials.ts'
import { createNewCredential } from '../new-credential.ts'
import { createHashing } from '../passwords/index.ts'
import { createPeople } from '../people.ts'
import { createStore } from '../store/index.ts'
import { createTokenGenerations } from '../token-generations.ts'
import { createHouseAccounts } from './accounts.ts'
import { createHouseRoster } from './roster.ts'
import { createHouseStanding } from './standing.ts'

export type HouseOffice = ReturnType<typeof createHouseOffice>

/** Operator accounts for the command line, with or without a running server. */
export function createHouseOffice(
  parts: { db: Db; clock: Clock; audit: Audit },
  { gate: { password } }: Pick<Config, 'gate'>,
) {
  const store = createStore(parts.db)
  const generations = createTokenGenerations({ ...parts, store })
  // There are no webhooks for operators.
  const people = createPeople({ ...parts, store, generations, events: () => {} })
  const newCredential = createNewCredential({ hashing: createHashing(password) })
  const { minLength } = password
  return {
    ...createHouseAccounts({ ...parts, store, people, newCredential, minLength }),
    roster: createHouseRoster({ store }),
    standing: createHouseStanding({
      ...parts,
      store,
      people,
      credentials: createCredentials({ ...parts, store }),
    }),
  }
}
