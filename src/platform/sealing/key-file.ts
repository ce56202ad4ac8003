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
  /** A fingerprint, to tell keys apart: twelve hexadecimal digits that say nothing of the key. */
  readonly id: string
  /** An object and not bytes: whoever prints it sees no key. */
  readonly secret: KeyObject
}

/** What `master.key` holds. */
export interface KeyFile extends MasterKey {
  /** Keys from before, while what they sealed is being sealed with the new one. */
  readonly previous: readonly MasterKey[]
}

/** The key of this data directory cannot be used; the message says what to do. */
export class MasterKeyError extends Error {
  override name = 'MasterKeyError'
}

const KEY_BYTES = 32
/** For people and for scanners that look for secrets in the wrong place. */
const PREFIX = 'gatehouse-master-key-1:'
/** Room for some lines and stray blanks; what is larger is something else and not read at all. */
const MAX_FILE_BYTES = 1000

/** The key file inside a data directory. */
export const masterKeyFile = (dataDir: string) => join(dataDir, DATA_NAMES.key)

export function masterKeyOf(bytes: Uint8Array): MasterKey {
  const fingerprint = createHash('sha256').update('gatehouse master key id\0').update(bytes)
  return { id: fingerprint.digest('hex').slice(0, 12), secret: createSecretKey(bytes) }
}

/** One that nobody has yet. */
export const newMasterKey = (): MasterKey => masterKeyOf(randomBytes(KEY_BYTES))

/**
 * The key of a data directory, made when there is none. All processes that start at once on one
 * directory get the same. What others could read is theirs no more.
 */
export function loadMasterKey(dataDir: string): KeyFile {
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
export function readMasterKey(dataDir: string): KeyFile | undefined {
  const file = masterKeyFile(dataDir)
  const unreadable = `${file} cannot be read; chown it to the account that runs Gatehouse`
  const stats = orRefuse(unreadable, () => statSync(file, { throwIfNoEntry: false }))
  if (!stats) return undefined
  if (!stats.isFile())
    refuse(`${file} is not a file: move it away, and put back the one from the backup`)
  const keys =
    stats.size <= MAX_FILE_BYTES
      ? parse(orRefuse(unreadable, () => readFileSync(file, 'utf8')))
      : undefined
  return (
    keys ??
    refuse(
      `${file} does not hold a master key: put back the one from the backup, ` +
        'or remove the file if nothing was ever sealed here',
    )
  )
}

/**
 * Puts these keys in the place of the file's, all at once and for good. It stays where a link
 * leads to, and with its owner: whoever runs the command need not be who runs the server.
 */
export function replaceKeyFile(dataDir: string, keys: readonly MasterKey[]) {
  const name = masterKeyFile(dataDir)
  orRefuse(`${name} cannot be replaced`, () => {
    const file = realpathSync(name)
    const { uid, gid } = statSync(file)
    const draft = `${file}.tmp`
    // Left by one that was cut short.
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

/** The one in use first, each once. */
function parse(content: string): KeyFile | undefined {
  const keys = content.trimEnd().split(/\r?\n/).map(parseLine)
  const ids = new Set(keys.map((key) => key?.id))
  const [first, ...previous] = keys.filter((key) => key !== undefined)
  return first && ids.size === 1 + previous.length && ids.size === keys.length
    ? { ...first, previous }
    : undefined
}

/** An editor may have put other ends to the lines; nothing else is forgiven. */
function parseLine(line: string): MasterKey | undefined {
  if (!line.startsWith(PREFIX)) return undefined
  const bytes = Buffer.from(line.slice(PREFIX.length), 'base64')
  return bytes.length === KEY_BYTES && line === format(bytes) ? masterKeyOf(bytes) : undefined
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

const isOpenToOthers = (file: string) => (statSync(file).mode & 0o077) !== 0

function keepFromOthers(file: string) {
  if (isOpenToOthers(file)) chmodSync(file, 0o600)
}

/** The words of the system say what went wrong, not what that means here. */
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
