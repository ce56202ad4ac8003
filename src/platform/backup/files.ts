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
 * As root, gives a file or folder to the owner of the data directory. Refuses symbolic links and
 * files with several hard links, which that account could have put in its place.
 */
export function ownLike(path: string, dataDir: string) {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dataDir)
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isDirectory() && !(stats.isFile() && stats.nlink === 1))
      throw conflict(`${path} was replaced during the operation and was not changed`)
    fchownSync(descriptor, uid, gid)
  } finally {
    closeSync(descriptor)
  }
}

/** The folder for backups unless another one is configured. */
export const ownDirectory = (dataDir: string): string => join(dataDir, 'backups')

/** Returns the default folder for backups and creates it if it is missing. */
export function openOwnDirectory(dataDir: string): string {
  const directory = ownDirectory(dataDir)
  if (mkdirSync(directory, { recursive: true, mode: 0o700 })) ownLike(directory, dataDir)
  return directory
}

/** Returns the size and SHA-256 (hexadecimal) of a file of any length. */
export async function measure(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** A stream that passes data through while it counts and hashes the bytes. */
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

/** Parses JSON from an untrusted source; undefined if it is not valid. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
