import { Type } from '@sinclair/typebox'
import { sha256 } from '../../../platform/crypto.ts'
import { invalid } from '../../../platform/errors.ts'
import { json, sealedText } from '../../../platform/portable/fields.ts'
import {
  asItIs,
  type Field,
  numbered,
  type Portable,
  type PortableTable,
} from '../../../platform/portable/table.ts'
import { checkDescription } from './checks.ts'
import { checkExpectation, nextExpected } from './expectation.ts'
import { MONITORS_PER_TENANT } from './limits.ts'
import { monitors } from './schema.ts'
import { monitorToken } from './sealed.ts'
import type { MonitorRow } from './store.ts'

const Tags = Type.Array(Type.String())
const asNew = (instead: () => number | null) => ({
  leftOut: 'starts again after the move',
  instead,
})

const sealed = sealedText(monitorToken)

/** Requires the token that `tokenHash`, which is read before, belongs to: pings would not find its monitor. */
const token: Field<MonitorRow> = {
  ...sealed,
  read(value, row, sealing) {
    if (sha256(`${value}`) !== row.tokenHash)
      throw invalid('must be the token of token_hash', { field: 'token', rule: 'mismatch' })
    return sealed.read(value, row, sealing)
  },
}

const monitor: PortableTable<MonitorRow> = {
  kind: 'monitor',
  table: monitors,
  columns: {
    seq: numbered,
    id: asItIs,
    tenantId: asItIs,
    name: asItIs,
    tags: json(Tags),
    notes: asItIs,
    tokenHash: asItIs,
    token,
    badgeToken: asItIs,
    periodSeconds: asItIs,
    schedule: asItIs,
    timeZone: asItIs,
    graceSeconds: asItIs,
    state: asItIs,
    stateSince: asItIs,
    lastPingAt: asItIs,
    lastDurationMs: asItIs,
    startedAt: asNew(() => null),
    startedRid: asNew(() => null),
    expectedAt: { leftOut: 'counted from the import', instead: expectedAfter },
    dueAt: { leftOut: 'counted from the import', instead: expectedAfter },
    pingCount: asNew(() => 0),
    transitionCount: asNew(() => 0),
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['seq'],
  most: { rows: MONITORS_PER_TENANT },
  check(row) {
    checkDescription(row)
    if ((row.periodSeconds === null) === (row.schedule === null))
      throw invalid('must be set if there is no schedule, and only then', {
        field: 'period_seconds',
        rule: 'mismatch',
      })
    checkExpectation(row, row.updatedAt)
  },
}

/** A monitor that waits for pings gets its whole time, because the pings have to find their way. */
function expectedAfter(row: MonitorRow, now: number): number | null {
  const waits = row.state !== 'down' && row.state !== 'paused' && row.lastPingAt !== null
  return waits ? (nextExpected(row, now) ?? null) : null
}

export const portable: Portable = {
  tables: [monitor],
  leftOut: {
    monitor_pings: 'history',
    monitor_transitions: 'history',
    monitor_watch: 'belongs to the installation',
  },
}
