import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { invalid } from '../platform/errors.ts'
import { type Io, STANDARD_STREAM, UsageError } from './command.ts'

/** How everything begins that gzip has made. */
const GZIP = Buffer.from([0x1f, 0x8b])

/**
 * The bytes of a file, or with `-` those on standard input, once they are asked for. A file that is
 * missing, cannot be read or is no archive is refused at once, before the caller looks at anything
 * else.
 */
export function archiveSource(io: Io, name: string): () => Readable {
  if (name !== STANDARD_STREAM) {
    const path = resolve(io.cwd, name)
    refuseOther(path)
    return () => createReadStream(path, { highWaterMark: 256 * 1024 })
  }
  if (io.isInTerminal) throw new UsageError('- reads standard input, and that is a terminal')
  return io.inStream
}

/** What is read from a pipe is gone for those who read on, so that its bytes are left alone. */
function refuseOther(path: string) {
  const entry = statSync(path)
  if (entry.isDirectory())
    throw invalid(`${path}: is a directory. Name the archive in it`, { rule: 'format' })
  if (entry.isFile() && !beginningOf(path).equals(GZIP))
    throw invalid(`${path}: is not a backup. A backup is a .tar.gz archive`, { rule: 'format' })
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
