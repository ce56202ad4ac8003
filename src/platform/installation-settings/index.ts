import {
  type Config,
  isGiven,
  type Origins,
  originsWith,
  STORABLE_TABLES,
  type StorableTable,
  type StoredValues,
  withStored,
} from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { AppError, conflict } from '../errors.ts'
import { createReadCache } from '../read-cache.ts'
import { SealError, type Sealing } from '../sealing/index.ts'
import { installationSetting } from './sealed.ts'
import { createInstallationSettingsStore, type SettingRow } from './store.ts'

export type InstallationSettings = ReturnType<typeof createInstallationSettings>

interface Effective {
  config: Config
  /** The stored values that are in effect, by table. */
  stored: ReadonlyMap<StorableTable, StoredValues>
  /** The tables whose stored values can't be used: sealed with another key, or invalid by now. */
  unusable: ReadonlySet<StorableTable>
}

/**
 * Settings that admins make in the console: mail server and providers. They take effect immediately in
 * all processes on the data directory. A table that the file or the environment sets wins as a whole.
 */
export function createInstallationSettings(parts: {
  db: Db
  clock: Clock
  audit: Audit
  sealing: Pick<Sealing, 'seal' | 'open'>
  /** From file, environment and options. */
  config: Config
}) {
  const { db, clock, audit, sealing, config } = parts
  const store = createInstallationSettingsStore(db)
  const known = createReadCache<Effective>(db, 1)

  const effective = (): Effective =>
    known.get('') ?? known.set('', effectiveOf(config, store.all(), sealing))

  /** Where the values of a table come from; undefined if it has none. */
  function sourceOf(table: StorableTable): 'configuration' | 'database' | 'unusable' | undefined {
    if (isGiven(config, table)) return 'configuration'
    const { stored, unusable } = effective()
    if (stored.has(table)) return 'database'
    return unusable.has(table) ? 'unusable' : undefined
  }

  /** Stores the values of a table. Throws `invalid` by the rules of the file, with their names there. */
  async function put(actor: Actor, table: StorableTable, values: StoredValues) {
    refuseGiven(table)
    const written = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    refuseUnfit(config, table, written)
    const value = sealing.seal(
      installationSetting.purpose,
      installationSetting.boundTo({ name: table }),
      JSON.stringify(written),
    )
    await db.commit(() => {
      store.put({ name: table, value, updatedAt: clock.now() })
      audit.recordForOperators({
        actor,
        action: 'installation_settings.changed',
        object: `installation_settings:${table}`,
        detail: { set: Object.keys(written) },
      })
    })
    known.forget()
  }

  async function remove(actor: Actor, table: StorableTable) {
    refuseGiven(table)
    await db.commit(() => {
      if (!store.remove(table)) return
      audit.recordForOperators({
        actor,
        action: 'installation_settings.removed',
        object: `installation_settings:${table}`,
      })
    })
    known.forget()
  }

  function refuseGiven(table: StorableTable) {
    if (isGiven(config, table))
      throw conflict(
        `[${table}] is set in the configuration file or the environment; change it there and restart`,
      )
  }

  return {
    /** The configuration in effect. Ask each time: it changes while the program runs. */
    current: (): Config => effective().config,
    /** The stored values of a table, which contain secrets. */
    storedIn: (table: StorableTable): StoredValues | undefined => effective().stored.get(table),
    sourceOf,
    /** The origins of all settings in effect. */
    originsWith: (origins: Origins) => originsWith(origins, effective().stored.keys()),
    put,
    remove,
  }
}

/** The configuration with what is stored. Values that can't be used are left out. */
export function effectiveOf(
  given: Config,
  rows: readonly SettingRow[],
  sealing: Pick<Sealing, 'open'>,
): Effective {
  const stored = new Map<StorableTable, StoredValues>()
  const unusable = new Set<StorableTable>()
  let config = given
  for (const row of rows) {
    const table = STORABLE_TABLES.find((name) => name === row.name)
    if (!table || isGiven(given, table)) continue
    const values = opened(row, sealing)
    const read = values && withStored(config, table, values)
    if (values && read && 'config' in read) {
      config = read.config
      stored.set(table, values)
    } else unusable.add(table)
  }
  return { config, stored, unusable }
}

function opened(
  { name, value }: SettingRow,
  sealing: Pick<Sealing, 'open'>,
): StoredValues | undefined {
  try {
    const { purpose, boundTo } = installationSetting
    return JSON.parse(sealing.open(purpose, boundTo({ name }), value))
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    return undefined
  }
}

function refuseUnfit(config: Config, table: StorableTable, values: StoredValues) {
  const read = withStored(config, table, values)
  if ('config' in read) return
  const [first, ...rest] = read.problems.map(({ key, message }) => ({
    field: key,
    rule: message === 'is required' ? ('required' as const) : ('format' as const),
    problem: message,
  }))
  if (first) throw new AppError('invalid', [first, ...rest])
}
