import type { Config } from '../../config/index.ts'
import { conflict } from '../../platform/errors.ts'
import { openSharedFolder, type SharedFolder } from '../../platform/replication/pair.ts'

/** The folder that the servers of this configuration share. Throws `conflict` without one. */
export function sharedFolderOf(config: Config): SharedFolder {
  if (config.replication.to === undefined)
    throw conflict(
      'this server shares its data with no other one. Set [replication] role = "auto" and to',
    )
  return openSharedFolder(config)
}
