import { invalid } from '../../../platform/errors.ts'
import type { NewIdentity } from '../identities/model.ts'
import type { Hashing } from './passwords/hashing.ts'
import { checkPasswordLength, parseHash } from './passwords/index.ts'
import type { CredentialRow } from './store.ts'

const AT = 'credentials.password.config'

/** A credential as stored, with the times of its identity. */
export type Credential = Pick<CredentialRow, 'type' | 'config' | 'version'>

export type NewCredential = ReturnType<typeof createNewCredential>

/**
 * Makes the credential of a new identity: a password, or an imported hash; undefined for an
 * identity without a password. Validation errors are thrown immediately; the hash is made when it
 * is requested. The password policy applies only to passwords that users choose; here any password
 * that can be stored is accepted.
 */
export function createNewCredential({ hashing }: { hashing: Hashing }) {
  return (
    tenantId: string,
    credentials: NewIdentity['credentials'],
  ): (() => Promise<Credential | undefined>) => {
    const { password: kind, ...others } = credentials ?? {}
    const [other] = Object.keys(others)
    if (other !== undefined)
      throw invalid('cannot be set; only credentials.password can', {
        field: `credentials.${other.slice(0, 100)}`,
        rule: 'not_allowed',
      })
    if (!kind) return async () => undefined
    const { password = '', hashed_password: imported } = kind.config
    if ((kind.config.password === undefined) === (imported === undefined))
      throw invalid('must have either password or hashed_password', { field: AT, rule: 'required' })
    if (imported !== undefined) {
      parseHash(imported)
      return async () => holding(imported)
    }
    checkPasswordLength(password, `${AT}.password`)
    return async () => holding(await hashing.hash({ tenantId, client: API }, password))
  }
}

/** A tenant's API requests share one client in the queue, so users who sign in get their turn. */
const API = 'api'

const holding = (hash: string): Credential => ({
  type: 'password',
  config: JSON.stringify({ hashed_password: hash }),
  version: 0,
})
