import { createHash } from 'node:crypto'
import { isoTime } from '../clock.ts'
import { conflict } from '../errors.ts'
import { installationOf } from '../installation.ts'
import type { Sealing } from '../sealing/index.ts'
import { VERSION } from '../version.ts'
import { createCodec } from './codec.ts'
import { fingerprintsOf, MAX_LINE_LENGTH, newHeader } from './format.ts'
import { countStaying, rowsOf } from './rows.ts'
import type { Snapshot } from './snapshot.ts'
import type { PortableTable } from './table.ts'

/** The result of an export. */
export interface Exported {
  counts: Record<string, number>
  leftOut: Record<string, number>
  lines: number
}

/** Lines include newlines. Secrets are in plain text, because each installation has its own key. */
export function* exportLines(parts: {
  snapshot: Snapshot
  sealing: Sealing
  tables: readonly PortableTable[]
  tenantId: string
  now: number
  schema: string
  keyPrefix: string
}): Generator<string, Exported> {
  const { snapshot, sealing, tables, tenantId } = parts
  const hash = createHash('sha256')
  const counts: Record<string, number> = {}
  const leftOut: Record<string, number> = {}
  let lines = 0

  function counted(line: object): string {
    const text = `${JSON.stringify(line)}\n`
    hash.update(text)
    lines++
    return text
  }

  yield counted(headerOf(parts))
  for (const portable of tables) {
    const { write } = createCodec(portable, sealing)
    counts[portable.kind] = 0
    for (const row of rowsOf(snapshot, portable, tenantId)) {
      const text = counted(write(row))
      refuseOversize(text, portable.kind, `${row.id ?? ''}`)
      counts[portable.kind] = (counts[portable.kind] ?? 0) + 1
      yield text
    }
    if (portable.staying)
      leftOut[portable.staying.name] = countStaying(snapshot, portable, tenantId)
  }
  yield `${JSON.stringify({ kind: 'end', lines, sha256: hash.digest('hex') })}\n`
  return { counts, leftOut, lines: lines + 1 }
}

const headerOf = ({
  snapshot,
  sealing,
  tables,
  tenantId,
  now,
  schema,
  keyPrefix,
}: Parameters<typeof exportLines>[0]) =>
  newHeader({
    version: VERSION,
    exported_at: isoTime(now),
    installation: installationOf(snapshot) ?? null,
    tenant: tenantId,
    schema,
    key_prefix: keyPrefix,
    fingerprints: fingerprintsOf(tables, sealing),
  })

/** Throws `conflict` for a row that is too large to be imported. */
function refuseOversize(text: string, kind: string, id: string) {
  if (Buffer.byteLength(text) > MAX_LINE_LENGTH)
    throw conflict(`${kind} ${id} has more than ${MAX_LINE_LENGTH} bytes. Make it smaller first`)
}
