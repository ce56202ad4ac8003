import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { databaseExists } from '../db/open.ts'
import {
  archiveName,
  type Backup,
  checkArchive,
  createBackupStore,
  isRecorded,
  type Manifest,
  makeBackup,
  ownDirectory,
} from '../platform/backup/index.ts'
import { isoTime, systemClock } from '../platform/clock.ts'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { thisProcess } from '../platform/process.ts'
import { VERSION } from '../platform/version.ts'
import { archiveSource } from './archive-source.ts'
import {
  type Answer,
  type Command,
  type Configured,
  EXIT,
  type Io,
  STANDARD_STREAM,
  table,
  UsageError,
} from './command.ts'
import { onInterrupt } from './interrupted.ts'
import { cliActor, noteIfPossible } from './open.ts'
import { createProgress } from './progress.ts'
import { targetOf } from './target.ts'

export const backup: Command = {
  name: 'backup',
  summary: 'Back up the database and master key to one file, with or without a running server.',
  options: {
    to: {
      type: 'string',
      value: 'FILE',
      help: 'A file, a directory, or - for standard output. Default: the configured directory.',
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

export const backupCheck: Command = {
  name: 'backup check',
  summary: 'Check that a backup is complete and can be restored, without restoring it.',
  positionals: ['FILE'],
  run: async ({ io, args }) => {
    const progress = createProgress(io, 'Checking', 'bytes')
    const manifest = await checkArchive({
      open: archiveSource(io, args[0] ?? ''),
      migrations,
      clock: systemClock,
      process: thisProcess(VERSION),
      workIn: tmpdir(),
      onProgress: progress.step,
      onInterrupt,
    }).finally(progress.end)
    return checked(manifest)
  },
}

async function toFile(invocation: Configured): Promise<Answer> {
  const begunAt = systemClock.monotonic()
  const file = fileFor(invocation)
  const { options, config } = invocation
  const ownerOf = options.to === undefined ? directoryFor(config) : undefined
  const made = await make(invocation, { file, ownerOf })
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
    ? 'It contains the master key: keep it secret.'
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
  await make(invocation, { stream: standardOutput(io), workIn })
  return EXIT.ok
}

/** Standard output as a stream that waits until each chunk is taken, because the program ends soon after. */
const standardOutput = ({ outStream }: Io) =>
  new Writable({ write: (chunk, _, done) => void outStream.write(chunk, done) })

function make(
  { config, options, io }: Configured,
  to: Parameters<typeof makeBackup>[0]['to'],
): Promise<Backup> {
  const progress = createProgress(io, 'Backing up', 'bytes')
  const self = thisProcess(VERSION)
  const asker = askerOf(options)
  progress.step(0)
  return makeBackup({
    dataDir: config.dataDir,
    to,
    withKey: options['without-key'] !== true,
    clock: systemClock,
    process: self,
    isWanted: () => asker === undefined || self.isRunning(asker),
    onProgress: progress.step,
    onInterrupt,
  }).finally(progress.end)
}

/** The process without which the backup is not wanted. Throws `UsageError` for no process id. */
function askerOf({ 'while-running': given }: Configured['options']): number | undefined {
  if (typeof given !== 'string') return
  if (!/^[1-9]\d{0,9}$/.test(given))
    throw new UsageError('backup: --while-running takes a process id, such as $$ in a shell')
  return Number(given)
}

/** The file to write; in a directory, it is named after the time. */
function fileFor(invocation: Configured): string {
  const name = archiveName(systemClock.now())
  return targetOf(invocation, name) ?? join(directoryFor(invocation.config), name)
}

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

function checked({ created_at, app_version, installation, database, master_key }: Manifest) {
  const json = {
    ok: true,
    created_at,
    app_version,
    installation,
    database_bytes: database.bytes,
    master_key: master_key !== null,
  }
  const text = table([
    ['made', created_at],
    ['by', `gatehouse ${app_version}`],
    ['database', `${database.bytes.toLocaleString('en')} bytes, intact`],
    ['master key', master_key ? `${master_key.id}, matches` : 'not included'],
  ])
  return { json, text }
}
