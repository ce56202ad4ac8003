import type { Caller } from '../../platform/caller.ts'
import type { Environment } from '../../platform/engines.ts'

/** Whose attempts and tokens a key sees; keys of this engine always have an environment. */
export const ownerOf = ({ tenantId, environment }: Caller) => ({
  tenantId,
  environment: environment as Environment,
})
export type Owner = ReturnType<typeof ownerOf>
