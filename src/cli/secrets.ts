import { sealed as deliverySealed } from '../delivery/sealed.ts'
import { sealed as clockworkSealed } from '../engines/clockwork/sealed.ts'
import { sealed as gateSealed } from '../engines/gate/sealed.ts'
import { sealed as notificationsSealed } from '../engines/notifications/sealed.ts'
import { sealed as passepartoutSealed } from '../engines/passepartout/sealed.ts'
import { installationSetting } from '../platform/installation-settings/sealed.ts'
import { mailBody } from '../platform/mail/sealed.ts'
import type { SealedColumn } from '../platform/sealing/column.ts'
import { fingerprintKey } from '../platform/sealing/fingerprint-keys.ts'
import { readMasterKey } from '../platform/sealing/key-file.ts'
import { type ClosedRow, createResealing } from '../platform/sealing/resealing.ts'
import { createRotation, type RotationOutcome } from '../platform/sealing/rotation.ts'
import { type Answer, type Command, EXIT, type Io, table } from './command.ts'
import { type OfflineServices, withServices } from './open.ts'
import { createProgress } from './progress.ts'

/** Every column with sealed values. One that is not listed can't be opened after a rotation. */
export const sealedColumns: readonly SealedColumn[] = [
  fingerprintKey,
  installationSetting,
  mailBody,
  ...deliverySealed,
  ...clockworkSealed,
  ...gateSealed,
  ...notificationsSealed,
  ...passepartoutSealed,
]

export const secretsRotate: Command = {
  name: 'secrets rotate',
  summary: 'Replace the master key and re-encrypt all secrets, with or without running servers.',
  run: ({ config, io }) =>
    withServices(config, async (services) => {
      const { db, clock, audit, actor } = services
      const { dataDir } = config
      const { rotate } = createRotation({ db, clock, audit, dataDir, columns: sealedColumns })
      const begunAt = clock.monotonic()
      const outcome = await watched(io, (watch) => rotate(actor, watch))
      return report(outcome, closedRows(services, dataDir), Math.round(clock.monotonic() - begunAt))
    }),
}

/** How many rows of each table are listed. */
const MAX_NAMED = 20

/** Rows that could not be opened, by table; empty after a finished rotation. */
function closedRows({ db }: OfflineServices, dataDir: string): Map<string, ClosedRow[]> {
  const to = readMasterKey(dataDir)
  if (!to || to.previous.length === 0) return new Map()
  const { previous } = to
  const columns = sealedColumns
  return createResealing({ db, to, previous, columns, onResealed: () => {} }).closedRows(MAX_NAMED)
}

type Watch = Parameters<ReturnType<typeof createRotation>['rotate']>[1]

async function watched<T>(io: Io, work: (watch: Watch) => Promise<T>): Promise<T> {
  const sealing = createProgress(io, 'Re-encrypting:', 'secrets')
  const waiting = createProgress(io, 'Waiting for servers to load the new key:', 'seconds')
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

function report(
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
        `Replaced master key ${from} with ${to} and re-encrypted ${total} secrets.\n` +
        'Back up master.key: new copies of the database need the new key.',
    }
  return {
    json: { ...json, unopenable, unopenable_rows: shown(rows) },
    text:
      `Not finished: some secrets cannot be decrypted, so the old key ${from} is kept beside ${to}.\n` +
      `${closed.map(([name, count]) => `${name}: ${count}\n${listed(rows.get(name))}`).join('')}` +
      `Re-encrypted the other ${total}. Replace or delete the secrets above, then run this again.`,
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

/** One line per row, with its tenant. */
const listed = (rows: readonly ClosedRow[] = []): string =>
  rows.length === 0
    ? ''
    : `${table(rows.map(({ id, tenantId }) => [`  ${id}`, tenantId ? `tenant ${tenantId}` : '']))}\n`
