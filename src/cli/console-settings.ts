import { getTableName } from 'drizzle-orm'
import { type Config, type Origins, originsWith } from '../config/index.ts'
import { databaseExists } from '../db/open.ts'
import { effectiveOf } from '../platform/installation-settings/index.ts'
import { createInstallationSettingsStore } from '../platform/installation-settings/store.ts'
import { installationSettings } from '../platform/schema.ts'
import { createSealing } from '../platform/sealing/index.ts'
import { readMasterKey } from '../platform/sealing/key-file.ts'
import { ringOf } from '../platform/sealing/key-ring.ts'
import { readDatabase } from './doctor/read-database.ts'

const TABLE = getTableName(installationSettings)

/** A configuration and where each of its settings comes from. */
interface Settings {
  config: Config
  origin: Origins
}

/** The settings with those that admins made in the console. Throws if database or master key can't be read. */
export async function withConsoleSettings({ config, origin }: Settings): Promise<Settings> {
  const { dataDir } = config
  const key = databaseExists(dataDir) ? readMasterKey(dataDir) : undefined
  if (!key) return { config, origin }
  const rows = await readDatabase(dataDir, async ({ db }) => {
    // An older database, which the next start migrates, has none.
    const isThere = db.client.query('SELECT 1 FROM sqlite_schema WHERE name = ?').get(TABLE)
    return isThere ? createInstallationSettingsStore(db).all() : []
  })
  const sealing = createSealing(ringOf(key, key.previous))
  const { config: current, stored } = effectiveOf(config, rows, sealing)
  return { config: current, origin: originsWith(origin, stored.keys()) }
}
