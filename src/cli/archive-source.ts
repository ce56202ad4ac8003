import { closeSync, createReadStream, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { decrypted, identitiesIn, isEncrypted } from '../platform/backup/index.ts'
import { invalid, notFound } from '../platform/errors.ts'
import { createObjectStorage, isObjectUrl } from '../platform/object-storage/index.ts'
import { archivesIn } from './backup/list.ts'
import { type Configured, STANDARD_STREAM, UsageError } from './command.ts'

/** The first bytes of every gzip file. */
const GZIP = Buffer.from([0x1f, 0x8b])

/** The option that names the private keys of an encrypted archive. */
export const IDENTITY_OPTION = {
  identity: {
    type: 'string' as const,
    value: 'FILE',
    help: 'The private key of an encrypted backup, as age-keygen or gatehouse backup keygen makes it.',
  },
}

/**
 * The archive that a command names: a file, `-` for standard input, or an `s3://` URL, which names
 * the newest archive in a folder if it ends with a slash. Decrypted, if it is encrypted. Refuses an
 * unreadable file or a non-archive immediately.
 */
export async function archiveSource(invocation: Configured): Promise<() => Readable> {
  const identities = identitiesFor(invocation)
  const open = await opener(invocation, invocation.args[0] ?? '')
  return () => Readable.from(decrypted(open(), identities))
}

async function opener(
  invocation: Configured,
  name: string,
): Promise<() => AsyncIterable<Uint8Array>> {
  const { io } = invocation
  if (isObjectUrl(name)) {
    const url = name.endsWith('/') ? await newestIn(invocation, name) : name
    const body = await createObjectStorage(invocation.config.s3).read(url)
    return () => body as unknown as AsyncIterable<Uint8Array>
  }
  if (name !== STANDARD_STREAM) {
    const path = resolve(io.cwd, name)
    refuseOther(path)
    return () => createReadStream(path, { highWaterMark: 256 * 1024 })
  }
  if (io.isInTerminal)
    throw new UsageError(
      '- reads standard input, but that is a terminal. Pipe the archive in, or name a file',
    )
  return io.inStream
}

async function newestIn(invocation: Configured, folder: string): Promise<string> {
  const newest = (await archivesIn(invocation, folder)).at(-1)
  if (!newest) throw notFound(`there is no backup in ${folder}`)
  invocation.io.err(`Using ${newest.file}.\n`)
  return newest.file
}

function identitiesFor({ options, io }: Configured): string[] {
  if (typeof options.identity !== 'string') return []
  const file = resolve(io.cwd, options.identity)
  return identitiesIn(readFileSync(file, 'utf8'), file)
}

/** Refuses directories and files that are not gzip. Pipes are not read, since their bytes would be lost. */
function refuseOther(path: string) {
  const entry = statSync(path)
  if (entry.isDirectory())
    throw invalid(`${path} is a directory. Name the archive in it`, { rule: 'format' })
  const beginning = entry.isFile() ? beginningOf(path) : GZIP
  if (beginning.subarray(0, GZIP.length).equals(GZIP) || isEncrypted(beginning)) return
  throw invalid(`${path} is not a backup. A backup is a .tar.gz or .tar.gz.age file`, {
    rule: 'format',
  })
}

function beginningOf(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(64)
    return bytes.subarray(0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}
