import { createReadStream } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import {
  createObjectStorage,
  isObjectUrl,
  type ObjectStorageSettings,
} from '../object-storage/index.ts'
import type { Reach } from './reach.ts'

/** The files of archives, on a disk or, with an `s3://` URL, in object storage. */
export type ArchiveStorage = ReturnType<typeof createArchiveStorage>

export function createArchiveStorage(reach: Reach, settings: ObjectStorageSettings) {
  const objects = createObjectStorage(settings)

  /** The size in bytes; null if there is no such file. */
  const sizeOf = (file: string): Promise<number | null> =>
    isObjectUrl(file) ? objects.sizeOf(file) : reach(file, () => sizeOnDisk(file))

  /** Deletes a file. One that doesn't exist is no error. */
  const remove = (file: string): Promise<void> =>
    isObjectUrl(file) ? objects.remove(file) : reach(file, () => rm(file, { force: true }))

  /** Those of `files` that are there. A place that can't be reached has none. */
  async function present(files: readonly string[]): Promise<Set<string>> {
    const folders = [...new Set(files.filter(isObjectUrl).map((file) => dirname(file)))]
    const listed = folders.map((folder) => objects.list(folder).catch(() => []))
    const onDisk = files.filter((file) => !isObjectUrl(file))
    const sizes = await Promise.all(onDisk.map((file) => sizeOf(file).catch(() => null)))
    const there = new Set([
      ...(await Promise.all(listed)).flat().map(({ url }) => url),
      ...onDisk.filter((_, index) => sizes[index] !== null),
    ])
    return new Set(files.filter((file) => there.has(file)))
  }

  const read = async (file: string): Promise<Readable> =>
    isObjectUrl(file)
      ? Readable.fromWeb((await objects.read(file)) as never)
      : createReadStream(file)

  return { sizeOf, present, remove, read }
}

/** A link doesn't count: another account could have put it in the place of the file. */
async function sizeOnDisk(file: string): Promise<number | null> {
  try {
    const stats = await lstat(file)
    return stats.isFile() ? stats.size : null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}
