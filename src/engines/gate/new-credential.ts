import { invalid } from '../../platform/errors.ts'
import type { NewIdentity } from './model/identities.ts'
import type { Hashing } from './passwords/hashing.ts'
import { checkPasswordLength, parseHash } from './passwords/index.ts'
import type { CredentialRow } from './store/credentials.ts'

const AT = 'credentials.password.config'

/** As it is stored; its times are those of the person. */
export type Credential = Pick<CredentialRow, 'type' | 'config' | 'version'>

export type NewCredential = ReturnType<typeof createNewCredential>

/**
 * The credential that a person is created with: a password, or its hash from elsewhere; undefined
 * for somebody without one. What is wrong with it is thrown at once, a hash is made once that is
 * asked for. Policy is for people who choose their own: here, any password goes that can be kept.
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

/** All that programs create counts as one client, so that people who sign in have their turn. */
const API = 'api'

const holding = (hash: string): Credential => ({
  type: 'password',
  config: JSON.stringify({ hashed_password: hash }),
  version: 0,
})
