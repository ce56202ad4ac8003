import type { Config } from '../../config/index.ts'
import { messageOf } from '../../db/errors.ts'
import { createObjectStorage } from '../../platform/object-storage/index.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const check = 'object storage'

/** Whether the folder for backups in object storage can be read, and who can restore from it. */
export async function objectStorage({
  backup,
  s3,
}: Pick<Config, 'backup' | 's3'>): Promise<Finding[]> {
  const { to, encryptTo } = backup
  if (to === undefined) return []
  const issue = await createObjectStorage(s3)
    .list(to)
    .then(() => undefined, messageOf)
  return [
    issue === undefined ? ok(check, `${to} can be read`) : problem(check, issue),
    ...(encryptTo.length === 0
      ? [
          warning(
            check,
            'backups there leave out the master key, because they are not encrypted: set [backup] ' +
              'encrypt_to, or keep master.key elsewhere',
          ),
        ]
      : []),
  ]
}
