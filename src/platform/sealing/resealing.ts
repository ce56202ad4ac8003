import { getTableName } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { SLICE } from '../retention.ts'
import type { SealedColumn } from './column.ts'
import { createSealing, SealError, sealedBy } from './index.ts'
import type { MasterKey } from './key-file.ts'
import { ringOf } from './key-ring.ts'
import { createResealingStore, type SealedRow } from './resealing-store.ts'

/** What one look at everything that is sealed has found. */
export interface Sweep {
  /** What was sealed anew, by table. */
  resealed: Record<string, number>
  /** What opens at its place no more, by table. */
  unopenable: Record<string, number>
  /** True when nothing was found that an earlier key has sealed. */
  isClean: boolean
}

/** A row with what opens at its place no more. */
export interface ClosedRow {
  id: string
  tenantId: string | null
}

/**
 * Seals with `to` what was sealed with `previous`, slice by slice. A text that a server changes in
 * the meantime stays as the server wrote it, and is found by the next sweep if it has to be.
 */
export function createResealing(parts: {
  db: Db
  to: MasterKey
  previous: readonly MasterKey[]
  columns: readonly SealedColumn[]
  onResealed: (count: number) => void
}) {
  const { db, to, previous, columns, onResealed } = parts
  const sealing = createSealing(ringOf(to, previous))
  const prefix = sealedBy(to.id)

  async function sweep(): Promise<Sweep> {
    const found: Sweep = { resealed: {}, unopenable: {}, isClean: true }
    for (const column of columns) await sweepColumn(column, found)
    return found
  }

  async function sweepColumn(column: SealedColumn, found: Sweep) {
    const store = createResealingStore(db, column)
    const table = getTableName(column.column.table)
    let after = 0
    for (;;) {
      const rows = store.slice(prefix, after, SLICE)
      const last = rows.at(-1)
      if (!last) return
      after = last.row
      const changes = rows.map((row) => resealed(column, row)).filter((row) => row !== undefined)
      const done = await db.commit(
        () => changes.filter(({ row, sealed, text }) => store.replace(row, sealed, text)).length,
      )
      add(found.resealed, table, done)
      add(found.unopenable, table, rows.length - changes.length)
      if (changes.length > 0) found.isClean = false
      onResealed(done)
    }
  }

  /** The first rows of each table that a sweep counts as unopenable; changes nothing. */
  function closedRows(most: number): Map<string, ClosedRow[]> {
    const found = new Map<string, ClosedRow[]>()
    for (const column of columns) {
      const table = getTableName(column.column.table)
      const rows = found.get(table) ?? []
      for (const row of closedIn(column)) {
        if (rows.length >= most) break
        rows.push({ id: Object.values(row.names).join('/'), tenantId: row.tenantId })
      }
      if (rows.length > 0) found.set(table, rows)
    }
    return found
  }

  function* closedIn(column: SealedColumn): Generator<SealedRow> {
    const store = createResealingStore(db, column)
    for (let after = 0; ; ) {
      const rows = store.slice(prefix, after, SLICE)
      yield* rows.filter((row) => resealed(column, row) === undefined)
      const last = rows.at(-1)
      if (!last) return
      after = last.row
    }
  }

  /** Undefined for what was damaged, or sealed for another place or with a key that is gone. */
  function resealed({ purpose, place }: SealedColumn, { row, sealed, names }: SealedRow) {
    const at = place(names)
    try {
      return { row, sealed, text: sealing.seal(purpose, at, sealing.open(purpose, at, sealed)) }
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return undefined
    }
  }

  return { sweep, closedRows }
}

/** Adds to the count of a table; one that has nothing is not named. */
export function add(counts: Record<string, number>, table: string, count: number) {
  if (count > 0) counts[table] = (counts[table] ?? 0) + count
}
