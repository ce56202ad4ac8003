import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { invalid } from '../platform/errors.ts'
import { type Io, STANDARD_STREAM, UsageError } from './command.ts'

/** The first bytes of every gzip file. */
const GZIP = Buffer.from([0x1f, 0x8b])

/** A file, or standard input for `-`. Refuses an unreadable file or a non-archive immediately. */
export function archiveSource(io: Io, name: string): () => Readable {
  if (name !== STANDARD_STREAM) {
    const path = resolve(io.cwd, name)
    refuseOther(path)
    return () => createReadStream(path, { highWaterMark: 256 * 1024 })
  }
  if (io.isInTerminal)
    throw new UsageError(
      '- reads standard input, but that is a terminal. Pipe the archive in, or name a file',
    )
  return io.inStream
}

/** Refuses directories and files that are not gzip. Pipes are not read, since their bytes would be lost. */
function refuseOther(path: string) {
  const entry = statSync(path)
  if (entry.isDirectory())
    throw invalid(`${path} is a directory. Name the archive in it`, { rule: 'format' })
  if (entry.isFile() && !beginningOf(path).equals(GZIP))
    throw invalid(`${path} is not a backup. A backup is a .tar.gz archive`, { rule: 'format' })
}

function beginningOf(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(GZIP.length)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}
