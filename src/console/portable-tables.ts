import { migrations } from '../../drizzle/index.ts'
import { portable as deliveryPortable } from '../delivery/portable.ts'
import { portable as clockworkPortable } from '../engines/clockwork/portable.ts'
import { portable as gatePortable } from '../engines/gate/portable.ts'
import { portable as notificationsPortable } from '../engines/notifications/portable.ts'
import { portable as passepartoutPortable } from '../engines/passepartout/portable.ts'
import { portable as relayPortable } from '../engines/relay/portable.ts'
import type { Portable } from '../platform/portable/table.ts'
import { keysPortable, tenantPortable } from '../platform/portable/tenant.ts'
import { portable as consolePortable } from './portable.ts'

/**
 * Everything that moves with a tenant, in import order: rows come after the rows they refer to. Bots and
 * jobs act as soon as they are stored, even in a suspended tenant, so they come late. Keys come last.
 */
export const PORTABLE: readonly Portable[] = [
  tenantPortable,
  gatePortable,
  relayPortable,
  deliveryPortable,
  notificationsPortable,
  passepartoutPortable,
  clockworkPortable,
  consolePortable,
  keysPortable,
]

export const PORTABLE_TABLES = PORTABLE.flatMap(({ tables }) => tables)

/** Ids of the migrations that this executable knows; the last one is its own schema. */
export const SCHEMAS = migrations.map(({ id }) => id)
