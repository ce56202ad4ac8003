import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { type Io, STANDARD_STREAM, UsageError } from './command.ts'

/** The bytes of a file, or with `-` those on standard input, once they are asked for. */
export function archiveSource(io: Io, name: string): () => Readable {
  if (name !== STANDARD_STREAM)
    return () => createReadStream(resolve(io.cwd, name), { highWaterMark: 256 * 1024 })
  if (io.isInTerminal) throw new UsageError('- reads standard input, and that is a terminal')
  return io.inStream
}
