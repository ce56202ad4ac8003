import { createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

export interface MasterKey {
  /** A fingerprint, to tell keys apart: twelve hexadecimal digits that say nothing of the key. */
  readonly id: string
  /** An object and not bytes: whoever prints it sees no key. */
  readonly secret: KeyObject
}

/** The key of this data directory cannot be used; the message says what to do. */
export class MasterKeyError extends Error {
  override name = 'MasterKeyError'
}

const KEY_BYTES = 32
/** For people and for scanners that look for secrets in the wrong place. */
const PREFIX = 'gatehouse-master-key-1:'
/** Room for the line and a stray blank; what is larger is something else and not read at all. */
const LARGEST_FILE_BYTES = 200

/** The key file inside a data directory. */
export const masterKeyFile = (dataDir: string) => join(dataDir, 'master.key')

export function masterKeyOf(bytes: Uint8Array): MasterKey {
  const fingerprint = createHash('sha256').update('gatehouse master key id\0').update(bytes)
  return { id: fingerprint.digest('hex').slice(0, 12), secret: createSecretKey(bytes) }
}

/**
 * The key of a data directory, made when there is none. All processes that start at once on one
 * directory get the same. What others could read is theirs no more.
 */
export function loadMasterKey(dataDir: string): MasterKey {
  const file = masterKeyFile(dataDir)
  if (readMasterKey(dataDir) === undefined)
    orRefuse(`${file} cannot be made`, () => makeKeyFile(dataDir))
  // Also after another process has made it, which may not have come to this yet.
  orRefuse(`${dataDir} cannot be synced to disk`, () => sync(dataDir))
  const key = readMasterKey(dataDir) ?? refuse(`${file} leads nowhere: remove the link`)
  orRefuse(`others can read ${file}; have its owner chmod it to 600`, () => keepFromOthers(file))
  return key
}

/** Looks and changes nothing; no file is no key. */
export function readMasterKey(dataDir: string): MasterKey | undefined {
  const file = masterKeyFile(dataDir)
  const unreadable = `${file} cannot be read; chown it to the account that runs Gatehouse`
  const stats = orRefuse(unreadable, () => statSync(file, { throwIfNoEntry: false }))
  if (!stats) return undefined
  if (!stats.isFile())
    refuse(`${file} is not a file: move it away, and put back the one from the backup`)
  const bytes =
    stats.size <= LARGEST_FILE_BYTES
      ? parse(orRefuse(unreadable, () => readFileSync(file, 'utf8')))
      : undefined
  if (!bytes)
    refuse(
      `${file} does not hold a master key: put back the one from the backup, ` +
        'or remove the file if nothing was ever sealed here',
    )
  return masterKeyOf(bytes)
}

/** An editor may have put other ends to the line; nothing else is forgiven. */
function parse(content: string): Uint8Array | undefined {
  const line = content.trimEnd()
  if (!line.startsWith(PREFIX)) return undefined
  const bytes = Buffer.from(line.slice(PREFIX.length), 'base64')
  return bytes.length === KEY_BYTES && line === format(bytes) ? bytes : undefined
}

const format = (bytes: Buffer) => PREFIX + bytes.toString('base64')

/** A link takes its name only when that is free, and what it then shows is already on disk. */
function makeKeyFile(dataDir: string) {
  const draft = `${masterKeyFile(dataDir)}.${randomBytes(8).toString('hex')}`
  try {
    writeFileSync(draft, `${format(randomBytes(KEY_BYTES))}\n`, { mode: 0o600, flag: 'wx' })
    sync(draft)
    linkUnlessTaken(draft, masterKeyFile(dataDir))
  } finally {
    rmSync(draft, { force: true })
  }
}

function linkUnlessTaken(existing: string, name: string) {
  try {
    linkSync(existing, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** A file's content, or the names in a directory. */
function sync(path: string) {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const isOpenToOthers = (file: string) => (statSync(file).mode & 0o077) !== 0

function keepFromOthers(file: string) {
  if (isOpenToOthers(file)) chmodSync(file, 0o600)
}

/** The words of the system say what went wrong, not what that means here. */
function orRefuse<T>(meaning: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    refuse(`${meaning} (${error instanceof Error ? error.message : error})`)
  }
}

function refuse(message: string): never {
  throw new MasterKeyError(message)
}
