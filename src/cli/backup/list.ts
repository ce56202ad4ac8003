import { readdirSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { isArchiveName, ownDirectory } from '../../platform/backup/index.ts'
import { isoTime } from '../../platform/clock.ts'
import { createObjectStorage, isObjectUrl } from '../../platform/object-storage/index.ts'
import { type Command, type Configured, table } from '../command.ts'

interface Listed {
  file: string
  bytes: number
  modifiedAt: number
}

export const backupList: Command = {
  name: 'backup list',
  summary: 'List the backups in a directory or in object storage, newest first.',
  positionals: ['[PLACE]'],
  run: async (invocation) => {
    const place = placeOf(invocation)
    const archives = (await archivesIn(invocation, place)).toReversed()
    const json = archives.map(({ file, bytes, modifiedAt }) => ({
      file,
      bytes,
      modified_at: isoTime(modifiedAt),
    }))
    const rows = archives.map(({ file, bytes, modifiedAt }) => [
      file,
      `${bytes.toLocaleString('en')} bytes`,
      isoTime(modifiedAt),
    ])
    return { json, text: rows.length > 0 ? table(rows) : `No backups in ${place}.` }
  },
}

function placeOf({ args, config, io }: Configured): string {
  const [given] = args
  if (given !== undefined) return isObjectUrl(given) ? given : resolve(io.cwd, given)
  const { to, directory } = config.backup
  return to ?? directory ?? ownDirectory(config.dataDir)
}

/** Files with the name of a backup, oldest first, as their names sort by age. */
export async function archivesIn({ config }: Pick<Configured, 'config'>, place: string) {
  const all = isObjectUrl(place) ? await inStorage(config, place) : onDisk(place)
  return all
    .filter(({ file }) => isArchiveName(basename(file)))
    .toSorted((a, b) => (basename(a.file) < basename(b.file) ? -1 : 1))
}

async function inStorage({ s3 }: Configured['config'], folder: string): Promise<Listed[]> {
  const found = await createObjectStorage(s3).list(folder)
  return found.map(({ url, ...rest }) => ({ file: url, ...rest }))
}

const onDisk = (directory: string): Listed[] =>
  readdirSync(directory).map((name) => {
    const file = join(directory, name)
    const { size, mtimeMs } = statSync(file)
    return { file, bytes: size, modifiedAt: mtimeMs }
  })
