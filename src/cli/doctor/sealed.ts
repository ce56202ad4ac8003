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
/** The time limit for reading all tables. */
const MAX_MS = 3000

/**
 * Counts secrets that are not sealed with a known key, by their prefix; nothing is decrypted. Empty
 * without a master key, which another check reports.
 */
export function sealedSecrets({ dataDir }: Pick<Config, 'dataDir'>, db: Db): Finding[] {
  const key = readMasterKey(dataDir)
  if (!key) return []
  const prefixes = [key, ...key.previous].map(({ id }) => sealedBy(id))
  const end = systemClock.monotonic() + MAX_MS
  const isTimeUp = () => systemClock.monotonic() > end
  const counts = new Map<string, number>()
  for (const column of sealedColumns) {
    const table = getTableName(column.column.table)
    const count = countBesides(db, column, prefixes, isTimeUp)
    if (count > 0) counts.set(table, (counts.get(table) ?? 0) + count)
  }
  const scope = isTimeUp() ? ' (checked for 3 seconds, not completely)' : ''
  if (counts.size === 0) return [ok(check, `all sealed with a known key${scope}`)]
  const listed = [...counts].map(([table, count]) => `${table} ${count}`).join(', ')
  return [
    warning(
      check,
      `sealed with an unknown key: ${listed}${scope}. Restore that key in master.key, or replace the secrets ` +
        'that gatehouse secrets rotate lists',
    ),
  ]
}
