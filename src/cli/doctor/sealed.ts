import { getTableName } from 'drizzle-orm'
import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import { systemClock } from '../../platform/clock.ts'
import { sealedBy } from '../../platform/sealing/index.ts'
import { readMasterKey } from '../../platform/sealing/key-file.ts'
import { sealedColumns } from '../secrets.ts'
import { type Finding, ok, warning } from './finding.ts'
import { countBesides } from './sealed-store.ts'

const check = 'sealed secrets'
/** A table may be large, and somebody waits for the answer. */
const LONGEST_MS = 3000

/**
 * What no key that is held has sealed, by what the texts begin with; nothing is opened. Without a
 * key it is the key that is missing, which is told elsewhere.
 */
export function sealedSecrets({ dataDir }: Pick<Config, 'dataDir'>, db: Db): Finding[] {
  const key = readMasterKey(dataDir)
  if (!key) return []
  const prefixes = [key, ...key.previous].map(({ id }) => sealedBy(id))
  const end = systemClock.monotonic() + LONGEST_MS
  const isTimeUp = () => systemClock.monotonic() > end
  const counts = new Map<string, number>()
  for (const column of sealedColumns) {
    const table = getTableName(column.column.table)
    const count = countBesides(db, column, prefixes, isTimeUp)
    if (count > 0) counts.set(table, (counts.get(table) ?? 0) + count)
  }
  const scope = isTimeUp() ? ' (as far as looked at in 3 seconds)' : ''
  if (counts.size === 0) return [ok(check, `all by a key that is held${scope}`)]
  const listed = [...counts].map(([table, count]) => `${table} ${count}`).join(', ')
  return [
    warning(
      check,
      `sealed with a key that is not held, and lost without it: ${listed}${scope}; put that key back into ` +
        'master.key, or set them anew: gatehouse secrets rotate names them',
    ),
  ]
}
