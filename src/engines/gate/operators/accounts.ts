import type { Db } from '../../../db/open.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import type { NewCredential } from '../credentials/new-credential.ts'
import { emailTaken, type People } from '../identities/people.ts'
import type { IdentityRow } from '../identities/store.ts'
import { checkTraits } from '../identities/traits.ts'
import { emailOrNone } from '../sign-in/flows/identifiers.ts'
import type { Store } from '../store.ts'
import { requireChosenPassword } from './chosen-password.ts'

/** The data of a new operator. */
export interface NewOperator {
  email: string
  displayName: string
  locale?: string
  /** Omitted if the operator signs in by other means. */
  password?: string
  /** Whether control of the mailbox was proven, for example by a link sent to it. */
  isVerified: boolean
}

export type OperatorAccounts = ReturnType<typeof createOperatorAccounts>

/** Creates and finds operator accounts on behalf of others. */
export function createOperatorAccounts(parts: {
  db: Db
  store: Store
  audit: Audit
  people: People
  newCredential: NewCredential
  minLength: number
}) {
  const { db, store, audit, people, newCredential, minLength } = parts

  /** Runs `also` in the same commit. Throws `invalid`, and `conflict` if the address is taken. */
  async function create(
    actor: Actor,
    input: NewOperator,
    also: (operator: IdentityRow) => void = () => {},
  ): Promise<IdentityRow> {
    const { email, displayName, locale, password, isVerified } = input
    const traits = checkTraits(
      { email, display_name: displayName, ...(locale !== undefined && { locale }) },
      'operator',
    )
    if (password !== undefined)
      requireChosenPassword(password, { identifier: traits.email, minLength })
    // Checked again within the commit; this early check avoids the cost of a useless hash.
    if (store.identities.byEmail(SYSTEM_TENANT_ID, traits.email)) throw emailTaken()
    const credential = await newCredential(
      SYSTEM_TENANT_ID,
      password === undefined ? undefined : { password: { config: { password } } },
    )()
    return db.commitFor(SYSTEM_TENANT_ID, () => {
      const operator = people.add({
        tenantId: SYSTEM_TENANT_ID,
        schemaId: 'operator',
        state: 'active',
        traits,
        metadataPublic: {},
        isVerified,
        credential,
        method: 'password',
      })
      audit.recordForOperators({
        actor,
        action: 'identity.created',
        object: `identity:${operator.id}`,
      })
      also(operator)
      return operator
    })
  }

  /** The operator with the address, in any spelling. */
  function find(email: string): IdentityRow | undefined {
    const known = emailOrNone(email)
    return known === undefined ? undefined : store.identities.byEmail(SYSTEM_TENANT_ID, known)
  }

  return { create, find }
}
