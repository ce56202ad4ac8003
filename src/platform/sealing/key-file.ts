import { createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import {
  chmodSync,
  fchownSync,
  linkSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../db/errors.ts'
import { DATA_NAMES } from '../../db/names.ts'
import { sync } from '../files.ts'

export interface MasterKey {
  /** Twelve hexadecimal digits that identify the key and reveal nothing about it. */
  readonly id: string
  /** An object instead of bytes, so that logging it never shows the key. */
  readonly secret: KeyObject
}

/** The contents of `master.key`. */
export interface KeyFile extends MasterKey {
  /** Earlier keys, present while the secrets that they sealed are sealed again with the new one. */
  readonly previous: readonly MasterKey[]
}

/** The master key of a data directory can't be used; the message says what to do. */
export class MasterKeyError extends Error {
  override name = 'MasterKeyError'
}

const KEY_BYTES = 32
/** Identifies the file to people and to secret scanners. */
const PREFIX = 'gatehouse-master-key-1:'
/** Enough for a few lines and stray whitespace; larger files are never read. */
const MAX_FILE_BYTES = 1000

/** The path of the key file in a data directory. */
export const masterKeyFile = (dataDir: string) => join(dataDir, DATA_NAMES.key)

export function masterKeyOf(bytes: Uint8Array): MasterKey {
  const fingerprint = createHash('sha256').update('gatehouse master key id\0').update(bytes)
  return { id: fingerprint.digest('hex').slice(0, 12), secret: createSecretKey(bytes) }
}

/** Generates a new random key. */
export const newMasterKey = (): MasterKey => masterKeyOf(randomBytes(KEY_BYTES))

/** Creates a missing key; processes that start together get the same. Removes others' access. */
export function loadMasterKey(dataDir: string): KeyFile {
  const file = masterKeyFile(dataDir)
  if (readMasterKey(dataDir) === undefined)
    orRefuse(`${file} cannot be created`, () => makeKeyFile(dataDir))
  // Also needed if another process created the file and has not synced it yet.
  orRefuse(`${dataDir} cannot be synced to disk`, () => sync(dataDir))
  const key = readMasterKey(dataDir) ?? refuse(`${file} is a broken link: remove it`)
  orRefuse(`other accounts can read ${file}: run chmod 600 as its owner`, () =>
    keepFromOthers(file),
  )
  return key
}

/** Reads the key file without changing it; undefined if it doesn't exist. */
export function readMasterKey(dataDir: string): KeyFile | undefined {
  const file = masterKeyFile(dataDir)
  const unreadable = `${file} cannot be read: run chown to give it to the account that runs Gatehouse`
  const stats = orRefuse(unreadable, () => statSync(file, { throwIfNoEntry: false }))
  if (!stats) return undefined
  if (!stats.isFile())
    refuse(`${file} is not a file: remove it and restore master.key from a backup`)
  const keys =
    stats.size <= MAX_FILE_BYTES
      ? parse(orRefuse(unreadable, () => readFileSync(file, 'utf8')))
      : undefined
  return (
    keys ??
    refuse(
      `${file} is not a valid master key: restore it from a backup, or remove the file if this ` +
        'installation has no data yet',
    )
  )
}

/** Atomic and durable. Follows a link and keeps the owner, which may be another account. */
export function replaceKeyFile(dataDir: string, keys: readonly MasterKey[]) {
  const name = masterKeyFile(dataDir)
  orRefuse(`${name} cannot be replaced`, () => {
    const file = realpathSync(name)
    const { uid, gid } = statSync(file)
    const draft = `${file}.tmp`
    // The draft of an interrupted call.
    rmSync(draft, { force: true })
    try {
      const lines = keys.map(({ secret }) => `${format(secret.export())}\n`)
      writeFileSync(draft, lines.join(''), { mode: 0o600, flag: 'wx' })
      sync(draft, (descriptor) => fchownSync(descriptor, uid, gid))
      renameSync(draft, file)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
    sync(dirname(file))
  })
}

/** Parses the key file: the key in use comes first, and no key may occur twice. */
function parse(content: string): KeyFile | undefined {
  const keys = content.trimEnd().split(/\r?\n/).map(parseLine)
  const ids = new Set(keys.map((key) => key?.id))
  const [first, ...previous] = keys.filter((key) => key !== undefined)
  return first && ids.size === 1 + previous.length && ids.size === keys.length
    ? { ...first, previous }
    : undefined
}

/** Parses a line. Accepts Windows line ends, which an editor may have added, and nothing else. */
function parseLine(line: string): MasterKey | undefined {
  if (!line.startsWith(PREFIX)) return undefined
  const bytes = Buffer.from(line.slice(PREFIX.length), 'base64')
  return bytes.length === KEY_BYTES && line === format(bytes) ? masterKeyOf(bytes) : undefined
}

const format = (bytes: Buffer) => PREFIX + bytes.toString('base64')

/** Creates the key file by linking a synced draft, which never replaces an existing file. */
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

const isOpenToOthers = (file: string) => (statSync(file).mode & 0o077) !== 0

function keepFromOthers(file: string) {
  if (isOpenToOthers(file)) chmodSync(file, 0o600)
}

/** Throws `MasterKeyError` with the meaning of a system error, and its message in brackets. */
function orRefuse<T>(meaning: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    refuse(`${meaning} (${messageOf(error)})`)
  }
}

function refuse(message: string): never {
  throw new MasterKeyError(message)
}
