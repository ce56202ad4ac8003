import { sealed as deliverySealed } from '../delivery/sealed.ts'
import { sealed as gateSealed } from '../engines/gate/sealed.ts'
import { sealed as passepartoutSealed } from '../engines/passepartout/sealed.ts'
import { mailBody } from '../platform/mail/sealed.ts'
import type { SealedColumn } from '../platform/sealing/column.ts'
import { fingerprintKey } from '../platform/sealing/fingerprint-keys.ts'
import { readMasterKey } from '../platform/sealing/key-file.ts'
import { type ClosedRow, createResealing } from '../platform/sealing/resealing.ts'
import { createRotation, type RotationOutcome } from '../platform/sealing/rotation.ts'
import { type Answer, type Command, EXIT, type Io, table } from './command.ts'
import { type Offices, withOffices } from './open.ts'
import { createProgress } from './progress.ts'

/** Every column with sealed texts. What is not listed cannot be opened after a rotation. */
export const sealedColumns: readonly SealedColumn[] = [
  fingerprintKey,
  mailBody,
  ...deliverySealed,
  ...gateSealed,
  ...passepartoutSealed,
]

export const secretsRotate: Command = {
  name: 'secrets rotate',
  summary: 'Make a new master key and seal everything with it, also beside running servers.',
  run: ({ config, io }) =>
    withOffices(config, async (offices) => {
      const { db, clock, audit, actor } = offices
      const { dataDir } = config
      const { rotate } = createRotation({ db, clock, audit, dataDir, columns: sealedColumns })
      const begunAt = clock.monotonic()
      const outcome = await watched(io, (watch) => rotate(actor, watch))
      return told(outcome, closedRows(offices, dataDir), Math.round(clock.monotonic() - begunAt))
    }),
}

/** Of each table: enough to see what they are. */
const MOST_NAMED = 20

/** For what a finished rotation has left, there are none, and no earlier key to look with. */
function closedRows({ db }: Offices, dataDir: string): Map<string, ClosedRow[]> {
  const to = readMasterKey(dataDir)
  if (!to || to.previous.length === 0) return new Map()
  const { previous } = to
  const columns = sealedColumns
  return createResealing({ db, to, previous, columns, onResealed: () => {} }).closedRows(MOST_NAMED)
}

type Watch = Parameters<ReturnType<typeof createRotation>['rotate']>[1]

async function watched<T>(io: Io, work: (watch: Watch) => Promise<T>): Promise<T> {
  const sealing = createProgress(io, 'Sealing anew:', 'secrets')
  const waiting = createProgress(io, 'Waiting until every server knows the new key:', 'seconds')
  let done = 0
  try {
    return await work({
      onResealed: (count) => {
        done += count
        sealing.step(done)
      },
      onWaiting: (msLeft) => waiting.step(Math.ceil(msLeft / 1000)),
    })
  } finally {
    sealing.end()
  }
}

function told(
  { from, to, resealed, unopenable }: RotationOutcome,
  rows: Map<string, ClosedRow[]>,
  durationMs: number,
): Answer {
  const json = { from, to, resealed, duration_ms: durationMs }
  const total = Object.values(resealed).reduce((sum, count) => sum + count, 0)
  const closed = Object.entries(unopenable)
  if (closed.length === 0)
    return {
      json,
      text:
        `Replaced master key ${from} by ${to}; ${total} secrets sealed anew.\n` +
        'Back up master.key: a copy of the database from now on needs the new one.',
    }
  return {
    json: { ...json, unopenable, unopenable_rows: shown(rows) },
    text:
      `Not finished: some secrets cannot be opened, so the old key ${from} stays beside ${to}.\n` +
      `${closed.map(([name, count]) => `${name}: ${count}\n${listed(rows.get(name))}`).join('')}` +
      `${total} others were sealed anew. Set or delete what cannot be opened, then run this again.`,
    exit: EXIT.failure,
  }
}

const shown = (rows: Map<string, ClosedRow[]>) =>
  Object.fromEntries(
    [...rows].map(([name, of]) => [
      name,
      of.map(({ id, tenantId }) => ({ id, tenant_id: tenantId })),
    ]),
  )

/** A line for each, with its tenant; those beyond the first few are only counted. */
const listed = (rows: readonly ClosedRow[] = []): string =>
  rows.length === 0
    ? ''
    : `${table(rows.map(({ id, tenantId }) => [`  ${id}`, tenantId ? `tenant ${tenantId}` : '']))}\n`
