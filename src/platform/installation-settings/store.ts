import { eq } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { installationSettings } from '../schema.ts'

export type SettingRow = typeof installationSettings.$inferSelect

/** SQL on the settings made in the console. */
export function createInstallationSettingsStore({ orm }: Pick<Db, 'orm'>) {
  const all = orm.select().from(installationSettings).prepare()
  return {
    all: (): SettingRow[] => all.all(),
    put: ({ name, value, updatedAt }: SettingRow) =>
      void orm
        .insert(installationSettings)
        .values({ name, value, updatedAt })
        .onConflictDoUpdate({ target: installationSettings.name, set: { value, updatedAt } })
        .run(),
    /** Whether there was one. */
    remove: (name: string): boolean =>
      orm
        .delete(installationSettings)
        .where(eq(installationSettings.name, name))
        .returning({ name: installationSettings.name })
        .all().length > 0,
  }
}
