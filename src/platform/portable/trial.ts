import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { invalid } from '../errors.ts'
import { createArrivals } from './arrivals.ts'
import type { Arrival, Trailer } from './contents.ts'
import { atLine } from './lines.ts'
import type { PortableTable } from './table.ts'

/** The number of rows between pauses, in which the process can do other work. */
const ROWS_AT_ONCE = 1000

interface Parts {
  openScratch: () => Db
  tables: readonly PortableTable[]
  clock: Clock
}

/** Finds conflicts within a file, such as a shared address, with their line before any write. */
export async function tryOut(
  { openScratch, tables, clock }: Parts,
  rows: Generator<Arrival, Trailer>,
  seen: (arrival: Arrival) => void,
): Promise<Trailer> {
  const scratch = openScratch()
  try {
    scratch.client.run('BEGIN')
    const trials = tables.map((portable) => createArrivals(scratch, portable))
    for (let count = 1; ; count++) {
      const next = rows.next()
      if (next.done) return next.value
      const { number, table, row } = next.value
      atLine(number, () => {
        if (!trials[table]?.add(row, clock.now(), () => {}))
          throw invalid('is in the file twice', {
            field: tables[table]?.kind ?? '',
            rule: 'duplicate',
          })
        seen(next.value)
      })
      if (count % ROWS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  } finally {
    scratch.close()
  }
}
