import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { Config } from '../../config/index.ts'
import { databaseExists } from '../../db/open.ts'
import {
  archiveName,
  type Backup,
  type BackupRequest,
  createBackupStore,
  isRecorded,
  makeBackup,
  ownDirectory,
} from '../../platform/backup/index.ts'
import { isoTime, systemClock } from '../../platform/clock.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import {
  createObjectStorage,
  isObjectUrl,
  objectUrlIn,
} from '../../platform/object-storage/index.ts'
import { thisProcess } from '../../platform/process.ts'
import { VERSION } from '../../platform/version.ts'
import {
  type Answer,
  type Command,
  type Configured,
  EXIT,
  type Io,
  STANDARD_STREAM,
  UsageError,
} from '../command.ts'
import { onInterrupt } from '../interrupted.ts'
import { cliActor, noteIfPossible } from '../open.ts'
import { createProgress } from '../progress.ts'
import { targetOf } from '../target.ts'

export const backup: Command = {
  name: 'backup',
  summary: 'Back up the database and master key to one file, with or without a running server.',
  options: {
    to: {
      type: 'string',
      value: 'FILE',
      help: 'A file, a directory, s3://BUCKET/FOLDER, or - for standard output. Default: as configured.',
    },
    'without-key': {
      type: 'boolean',
      help: 'Leave out master.key. Keep it elsewhere: without it, secrets in the backup are lost.',
    },
    'while-running': {
      type: 'string',
      value: 'PID',
      help: 'Write nothing if this process, such as the script that runs the backup, ends first.',
    },
  },
  run: (invocation) => {
    const { config, options } = invocation
    if (!databaseExists(config.dataDir))
      throw notFound(`no data in ${config.dataDir}. Use --data-dir for another directory`)
    return options.to === STANDARD_STREAM ? toStream(invocation) : toFile(invocation)
  },
}

async function toFile(invocation: Configured): Promise<Answer> {
  const begunAt = systemClock.monotonic()
  const file = fileFor(invocation)
  const { options, config } = invocation
  const ownerOf = options.to === undefined ? directoryFor(config) : undefined
  const made = isObjectUrl(file)
    ? await makeInStorage(invocation, file)
    : await make(invocation, { to: { file, ownerOf } })
  await record(config, file, made)
  const { createdAt, bytes, sha256, databaseBytes, hasKey } = made
  const json = {
    file,
    created_at: isoTime(createdAt),
    bytes,
    sha256,
    database_bytes: databaseBytes,
    master_key: hasKey,
    duration_ms: Math.round(systemClock.monotonic() - begunAt),
  }
  const key = hasKey
    ? `It contains the master key${isEncrypted(config) ? ', encrypted' : ': keep it secret'}.`
    : 'It does not contain the master key.'
  return { json, text: `${file}\n${bytes.toLocaleString('en')} bytes. ${key}` }
}

async function toStream(invocation: Configured) {
  const { options, config, io } = invocation
  if (options.json)
    throw new UsageError('backup: --to - and --json both use standard output. Use one of them')
  if (io.isOutTerminal)
    throw new UsageError('backup: --to - does not write to a terminal. Pipe it, or name a file')
  const workIn = directoryFor(config)
  await make(invocation, { to: { stream: standardOutput(io), workIn } })
  return EXIT.ok
}

/** Standard output as a stream that waits until each chunk is taken, because the program ends soon after. */
const standardOutput = ({ outStream }: Io) =>
  new Writable({ write: (chunk, _, done) => void outStream.write(chunk, done) })

/**
 * Uploads the archive while it is made. It appears when it is complete, and contains the master key
 * only if it is encrypted, because others run the storage.
 */
async function makeInStorage(invocation: Configured, file: string): Promise<Backup> {
  const { config, options } = invocation
  const storage = createObjectStorage(config.s3)
  if ((await storage.sizeOf(file)) !== null)
    throw conflict(`${file} already exists and is not overwritten`)
  const isWanted = wantedBy(options)
  const stream = storage.upload(file, () => {
    if (!isWanted()) throw conflict('the process that asked for the backup has ended')
  })
  const isClosed = new Promise((resolve) => stream.once('close', resolve))
  try {
    return await make(invocation, {
      to: { stream, workIn: directoryFor(config) },
      withKey: isEncrypted(config),
    })
  } finally {
    // It is still open if the copy of the database failed, before anything was uploaded.
    stream.destroy()
    await isClosed
  }
}

function make(
  { config, options, io }: Configured,
  { to, withKey = true }: Pick<BackupRequest, 'to'> & { withKey?: boolean },
): Promise<Backup> {
  const progress = createProgress(io, 'Backing up', 'bytes')
  progress.step(0)
  return makeBackup({
    dataDir: config.dataDir,
    to,
    withKey: withKey && options['without-key'] !== true,
    encryptTo: config.backup.encryptTo,
    clock: systemClock,
    process: thisProcess(VERSION),
    isWanted: wantedBy(options),
    onProgress: progress.step,
    onInterrupt,
  }).finally(progress.end)
}

const isEncrypted = ({ backup }: Config) => backup.encryptTo.length > 0

/** Whether the process without which the backup is not wanted still runs. */
function wantedBy(options: Configured['options']): () => boolean {
  const self = thisProcess(VERSION)
  const asker = askerOf(options)
  return () => asker === undefined || self.isRunning(asker)
}

/** The process without which the backup is not wanted. Throws `UsageError` for no process id. */
function askerOf({ 'while-running': given }: Configured['options']): number | undefined {
  if (typeof given !== 'string') return
  if (!/^[1-9]\d{0,9}$/.test(given))
    throw new UsageError('backup: --while-running takes a process id, such as $$ in a shell')
  return Number(given)
}

/** The file to write; in a directory or a folder, it is named after the time. */
function fileFor(invocation: Configured): string {
  const { config, options } = invocation
  const name = archiveName(systemClock.now(), isEncrypted(config))
  const storage = options.to ?? config.backup.to
  if (typeof storage === 'string' && isObjectUrl(storage))
    return isArchive(storage) ? storage : objectUrlIn(storage, name)
  return targetOf(invocation, name) ?? join(directoryFor(config), name)
}

const isArchive = (url: string) => /\.tar\.gz(\.age)?$/.test(url)

const directoryFor = ({ backup, dataDir }: Config): string =>
  backup.directory ?? ownDirectory(dataDir)

/** Records the backup for the console and `doctor`, unless the schedule has already. */
const record = (config: Config, file: string, { createdAt, bytes }: Backup) =>
  noteIfPossible(config, {
    isThere: () => isRecorded(config.dataDir, file),
    write: async (db, audit) => {
      const store = createBackupStore(db)
      const endedAt = systemClock.now()
      const id = newId()
      const row = { id, origin: 'command' as const, owner: null, error: null }
      await db.commit(() => {
        store.add({ ...row, startedAt: createdAt, endedAt, file, bytes })
        const entry = { tenantId: null, actor: cliActor(), action: 'backup.made' }
        audit.record({ ...entry, object: `backup:${id}`, detail: { file, bytes } })
      })
    },
  })
