import type { Environment } from '../../platform/engines.ts'
import type { Caller } from '../../platform/keys.ts'

/** Whose attempts and tokens a key sees; keys of this engine always have an environment. */
export const ownerOf = ({ tenantId, environment }: Caller) => ({
  tenantId,
  environment: environment as Environment,
})
export type Owner = ReturnType<typeof ownerOf>
