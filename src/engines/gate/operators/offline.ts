import type { Config } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import type { Audit } from '../../../platform/audit/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCredentials } from '../credentials/index.ts'
import { createNewCredential } from '../credentials/new-credential.ts'
import { createHashing } from '../credentials/passwords/index.ts'
import { createPeople } from '../identities/people.ts'
import { createStore } from '../store.ts'
import { createTokenGenerations } from '../tokens/generations.ts'
import { createAccountState } from './account-state.ts'
import { createOperatorAccounts } from './accounts.ts'
import { createOperatorList } from './list.ts'

export type OfflineOperators = ReturnType<typeof createOfflineOperators>

/** Operator accounts for the command line, with or without a running server. */
export function createOfflineOperators(
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
    ...createOperatorAccounts({ ...parts, store, people, newCredential, minLength }),
    operatorList: createOperatorList({ store }),
    accountState: createAccountState({
      ...parts,
      store,
      people,
      credentials: createCredentials({ ...parts, store }),
    }),
  }
}
