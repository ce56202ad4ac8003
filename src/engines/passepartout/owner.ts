import type { Caller } from '../../platform/caller.ts'
import type { Environment } from '../../platform/engines.ts'

/** The owner of a key's attempts and tokens. Keys of this engine always have an environment. */
export const ownerOf = ({ tenantId, environment }: Caller) => ({
  tenantId,
  environment: environment as Environment,
})
export type Owner = ReturnType<typeof ownerOf>
