import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isObjectUrl, type ObjectStorageSettings } from '../object-storage/index.ts'
import { isCompiled } from '../version.ts'
import { parse } from './files.ts'

/** Writes an archive of a data directory to a file, until `signal` aborts it. */
export type MakeArchive = (
  dataDir: string,
  file: string,
  signal: AbortSignal,
) => Promise<{ bytes: number }>

/** Checks an archive, until `signal` aborts it. Throws an error with the reason if it can't be restored. */
export type CheckArchive = (
  file: string,
  signal: AbortSignal,
) => Promise<{ databaseBytes: number; hasKey: boolean }>

const checkout = join(import.meta.dir, '..', '..', '..')

/** The command that starts this program; a compiled executable starts itself. */
const program = isCompiled
  ? { command: [process.execPath], cwd: '/' }
  : { command: [process.execPath, join('src', 'main.ts')], cwd: checkout }

/** The priority of the child process, lower than that of the server, so that requests go first. */
const NICENESS = 10
const LAST_WORDS_MS = 1000

/** How the runtime reaches object storage: private certificate authorities and proxies. */
const INHERITED = [
  'NODE_EXTRA_CA_CERTS',
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
]

const Archived = Type.Object({ bytes: Type.Integer() })
const Examined = Type.Object({ database_bytes: Type.Integer(), master_key: Type.Boolean() })
const ChildError = Type.Object({ error: Type.String() })

/**
 * Makes and checks archives in child processes, because copying a large database takes minutes in
 * one call, which would block every request. A child gets its settings only from here and reads no
 * configuration file, which may have changed since the server started.
 */
export function createChildren(parts: {
  objectStorage: ObjectStorageSettings
  encryptTo: readonly string[]
  /** Where archives of object storage are unpacked to check them. */
  workIn: string
}) {
  const { objectStorage, encryptTo, workIn } = parts
  const { endpoint, region, accessKeyId, secretAccessKey } = objectStorage
  // Only the owner of a process can read its environment; everyone can read its arguments.
  const env = {
    ...Object.fromEntries(INHERITED.map((name) => [name, process.env[name]])),
    GATEHOUSE_S3_ENDPOINT: endpoint,
    GATEHOUSE_S3_REGION: region,
    GATEHOUSE_S3_ACCESS_KEY_ID: accessKeyId,
    GATEHOUSE_S3_SECRET_ACCESS_KEY: secretAccessKey,
  }

  const make: MakeArchive = async (dataDir, file, signal) => {
    const target = ['--data-dir', dataDir, '--backup-encrypt-to', encryptTo.join(',')]
    // Another process takes over when this one dies. A second archive would be one too many.
    const bond = ['--while-running', `${process.pid}`]
    return checked(
      Archived,
      await runInChild(['backup', ...target, ...bond, '--to', file], env, signal),
    )
  }

  const check: CheckArchive = async (file, signal) => {
    // The copy may not fit into the system's directory for temporary files.
    const work = { TMPDIR: isObjectUrl(file) ? workIn : dirname(file) }
    const answer = await runInChild(['backup', 'check', file], { ...env, ...work }, signal)
    const { database_bytes: databaseBytes, master_key: hasKey } = checked(Examined, answer)
    return { databaseBytes, hasKey }
  }

  return { make, check }
}

function checked<S extends TSchema>(schema: S, answer: unknown): Static<S> {
  if (Value.Check(schema, answer)) return answer
  throw new Error('the backup process gave no answer')
}

/** What a command prints with `--json`. Throws an error with its message if it fails. */
async function runInChild(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<unknown> {
  const child = Bun.spawn([...program.command, ...args, '--config', '/dev/null', '--json'], {
    cwd: program.cwd,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  giveWay(child.pid)
  const cut = () => end(child)
  signal.addEventListener('abort', cut)
  if (signal.aborted) cut()
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  signal.removeEventListener('abort', cut)
  if (code === 0) return parse(out)
  const failure = parse(err)
  throw new Error(
    Value.Check(ChildError, failure)
      ? failure.error
      : `the backup process ended with ${child.signalCode ?? code}`,
  )
}

/** Kills a child that is too busy copying to exit; the next backup removes its files. */
function end(child: Bun.Subprocess) {
  child.kill('SIGTERM')
  const cut = setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS)
  child.exited.finally(() => clearTimeout(cut))
}

function giveWay(pid: number) {
  try {
    setPriority(pid, NICENESS)
  } catch {
    // The process has already exited, or the system doesn't allow changing its priority.
  }
}
