import { getTableName } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { SLICE } from '../retention.ts'
import type { SealedColumn } from './column.ts'
import { createSealing, SealError, sealedBy } from './index.ts'
import type { MasterKey } from './key-file.ts'
import { ringOf } from './key-ring.ts'
import { createResealingStore, type SealedRow } from './resealing-store.ts'

/** The result of one pass over all sealed texts. */
export interface Sweep {
  /** The number of texts that were sealed again, by table. */
  resealed: Record<string, number>
  /** The number of texts that can't be opened with their `boundTo`, by table. */
  unopenable: Record<string, number>
  /** Whether the pass found no text sealed with an earlier key. */
  isClean: boolean
}

/** A row with a text that can't be opened. */
export interface ClosedRow {
  id: string
  tenantId: string | null
}

/**
 * Seals all texts of the `previous` keys again with `to`, in slices. If a server changes a text
 * meanwhile, its version stays, and the next pass seals it if necessary.
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

  /** The first unopenable rows of each table; changes nothing. */
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

  /**
   * Seals a text again; undefined if it is damaged, or sealed with another `boundTo` or a missing
   * key.
   */
  function resealed({ purpose, boundTo }: SealedColumn, { row, sealed, names }: SealedRow) {
    const at = boundTo(names)
    try {
      return { row, sealed, text: sealing.seal(purpose, at, sealing.open(purpose, at, sealed)) }
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return undefined
    }
  }

  return { sweep, closedRows }
}

/** Adds to the count of a table; tables without a count are left out. */
export function add(counts: Record<string, number>, table: string, count: number) {
  if (count > 0) counts[table] = (counts[table] ?? 0) + count
}
