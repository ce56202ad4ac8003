import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { conflict } from '../errors.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * What root does in a data directory is done for the account of the server, which has to read it.
 * That account may put a link where something of ours was: root gives away what it has opened, no
 * link, and nothing that has another name besides.
 */
export function ownLike(path: string, dataDir: string) {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dataDir)
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isDirectory() && !(stats.isFile() && stats.nlink === 1))
      throw conflict(`${path} was replaced in the meantime and is left unchanged`)
    fchownSync(descriptor, uid, gid)
  } finally {
    closeSync(descriptor)
  }
}

/** Where backups go unless something else is said. */
export const ownDirectory = (dataDir: string): string => join(dataDir, 'backups')

/** The same, made if need be. */
export function openOwnDirectory(dataDir: string): string {
  const directory = ownDirectory(dataDir)
  if (mkdirSync(directory, { recursive: true, mode: 0o700 })) ownLike(directory, dataDir)
  return directory
}

/** Size and hash of a file of any length. */
export async function measure(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Counts and hashes what flows through it. */
export function createMeter(onBytes: (sum: number) => void = () => {}) {
  const hash = createHash('sha256')
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      bytes += chunk.length
      onBytes(bytes)
      done(null, chunk)
    },
  })
  return { stream, bytes: () => bytes, sha256: () => hash.digest('hex') }
}

/** JSON that somebody else wrote: undefined when it is none. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
