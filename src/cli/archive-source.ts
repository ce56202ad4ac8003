import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { type Io, UsageError } from './command.ts'

const STDIN = '-'

/** The bytes of a file, or with `-` those on standard input, once they are asked for. */
export function archiveSource({ cwd }: Io, name: string): () => Readable {
  if (name !== STDIN)
    return () => createReadStream(resolve(cwd, name), { highWaterMark: 256 * 1024 })
  if (process.stdin.isTTY) throw new UsageError('- reads standard input, and that is a terminal')
  return () => process.stdin
}
