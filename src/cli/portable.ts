import { migrations } from '../../drizzle/index.ts'
import { portable as consolePortable } from '../console/portable.ts'
import { portable as deliveryPortable } from '../delivery/portable.ts'
import { portable as clockworkPortable } from '../engines/clockwork/portable.ts'
import { portable as gatePortable } from '../engines/gate/portable.ts'
import { portable as passepartoutPortable } from '../engines/passepartout/portable.ts'
import { portable as relayPortable } from '../engines/relay/portable.ts'
import type { Portable } from '../platform/portable/table.ts'
import { keysPortable, tenantPortable } from '../platform/portable/tenant.ts'

/**
 * All that moves with a tenant, in the order in which it is brought: what rows belong to before
 * them. Bots and jobs act as soon as they are stored, suspended tenant or not: all that they could
 * need is there by then. Keys come last.
 */
export const PORTABLE: readonly Portable[] = [
  tenantPortable,
  gatePortable,
  relayPortable,
  deliveryPortable,
  passepartoutPortable,
  clockworkPortable,
  consolePortable,
  keysPortable,
]

export const PORTABLE_TABLES = PORTABLE.flatMap(({ tables }) => tables)

/** Migrations that this executable knows, the last one being that of its own data. */
export const SCHEMAS = migrations.map(({ id }) => id)
