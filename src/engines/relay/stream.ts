import type { Stream } from '../../delivery/stream.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Environment } from '../../platform/engines.ts'

/** The tenant and environment of events. */
export type Producer = Pick<Caller, 'tenantId' | 'environment'>

/** Relay keys always have an environment. */
export const environmentOf = ({ environment }: Producer): Environment => environment as Environment

/** The stream that a key can access: the events of its tenant and environment. */
export const streamOf = (producer: Producer): Stream => ({
  tenantId: producer.tenantId,
  name: `relay.${environmentOf(producer)}`,
})

/** The name of a list in one tenant and environment. Its cursors are invalid anywhere else. */
export const ownList = (caller: Caller, list: string): string =>
  `relay ${list} of ${caller.tenantId} ${environmentOf(caller)}`
