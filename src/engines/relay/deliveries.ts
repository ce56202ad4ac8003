import type { Delivery } from '../../delivery/index.ts'
import { createDeliveryLog, type DeliveryLog } from '../../http/delivery-log/deliveries.ts'
import type { Caller } from '../../platform/caller.ts'
import { createCursor } from '../../platform/cursor.ts'
import type { Metering } from '../../platform/metering/index.ts'
import { ownList, streamOf } from './stream.ts'

const cursorsOf = (caller: Caller) => createCursor(ownList(caller, 'deliveries'))

/** The delivery log of the relay. */
export const createDeliveries = (parts: { delivery: Delivery; metering: Metering }): DeliveryLog =>
  createDeliveryLog({ ...parts, streamOf, cursorsOf })
