import type { Stream } from '../../delivery/stream.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Environment } from '../../platform/engines.ts'

/** Whose events, and of which environment. */
export type Producer = Pick<Caller, 'tenantId' | 'environment'>

/** Relay keys always have an environment. */
export const environmentOf = ({ environment }: Producer): Environment => environment as Environment

/** What a key sees: the events of its tenant and environment. */
export const streamOf = (producer: Producer): Stream => ({
  tenantId: producer.tenantId,
  name: `relay.${environmentOf(producer)}`,
})

/** Of a list as one tenant sees it in one environment: a cursor of it leads nobody else anywhere. */
export const ownList = (caller: Caller, list: string): string =>
  `relay ${list} of ${caller.tenantId} ${environmentOf(caller)}`
