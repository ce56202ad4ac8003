import { installationSettings } from '../schema.ts'
import { sealedColumn } from '../sealing/column.ts'

/** The sealed column of settings made in the console, all of which may be secret. */
export const installationSetting = sealedColumn({
  column: installationSettings.value,
  purpose: 'installation settings',
  named: { name: installationSettings.name },
  boundTo: ({ name }) => `installation_settings/${name}/value`,
})
