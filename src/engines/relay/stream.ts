import type { Stream } from '../../delivery/stream.ts'
import type { Environment } from '../../platform/engines.ts'
import type { Caller } from '../../platform/keys.ts'

/** Relay keys always have an environment. */
export const environmentOf = ({ environment }: Caller): Environment => environment as Environment

/** What a key sees: the events of its tenant and environment. */
export const streamOf = (caller: Caller): Stream => ({
  tenantId: caller.tenantId,
  name: `relay.${environmentOf(caller)}`,
})

/** Of a list as one tenant sees it in one environment: a cursor of it leads nobody else anywhere. */
export const ownList = (caller: Caller, list: string): string =>
  `relay ${list} of ${caller.tenantId} ${environmentOf(caller)}`
