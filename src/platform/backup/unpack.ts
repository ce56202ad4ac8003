import { createWriteStream, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { AppError, invalid, unavailable } from '../errors.ts'
import { sync } from '../files.ts'
import { createMeter } from './files.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { ENTRIES } from './names.ts'

/** Far more than any real file needs. */
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024
const MAX_KEY_BYTES = 64 * 1024

type Content = AsyncIterable<unknown> & { header: Header }

/**
 * Unpacks an archive into `folder`, and never outside. Accepts only the known names, each once and
 * in order, with the sizes and hashes that the manifest states. Throws `invalid` otherwise.
 */
export async function unpackArchive(parts: {
  source: Readable
  folder: string
  onProgress?: (unpacked: number, total: number) => void
}): Promise<Manifest> {
  const { source, folder, onProgress = () => {} } = parts
  const entries = extract()
  const fed = pipeline(source, createGunzip(), entries)
  // The entries end with the same error, which is handled there.
  fed.catch(() => {})
  try {
    const manifest = await takeAll(entries)
    await fed
    return manifest
  } catch (error) {
    throw explained(error)
  }

  async function takeAll(contents: AsyncIterable<Content>): Promise<Manifest> {
    let manifest: Manifest | undefined
    const wanted = [ENTRIES.manifest, ENTRIES.database]
    for await (const content of contents) {
      refuseOther(content.header, wanted.shift())
      if (!manifest) {
        manifest = await takeManifest(content)
        refuseLargerThanDisk(manifest, folder)
        if (manifest.master_key) wanted.push(ENTRIES.key)
      } else if (content.header.name === ENTRIES.database) {
        const { bytes } = manifest.database
        await takeFile(content, manifest.database, (sum) => onProgress(sum, bytes))
      } else {
        await takeFile(content, { bytes: keyBytes(content.header), ...expectedKey(manifest) })
      }
    }
    if (!manifest || wanted.length > 0)
      throw invalid(`the archive is incomplete: ${wanted[0]} is missing`, { rule: 'damaged' })
    return manifest
  }

  async function takeFile(
    content: Content,
    expected: { bytes: number; sha256: string },
    onBytes?: (sum: number) => void,
  ) {
    const { name, size } = content.header
    if (size !== expected.bytes) throw damaged(`the size of ${name} differs from the manifest`)
    const file = join(folder, name)
    const meter = createMeter(onBytes)
    await pipeline(content, meter.stream, createWriteStream(file, { mode: 0o600, flags: 'wx' }))
    if (meter.bytes() !== size) throw damaged(`${name} is incomplete`)
    if (meter.sha256() !== expected.sha256) throw damaged(`the checksum of ${name} does not match`)
    sync(file)
  }
}

function refuseOther({ name, type }: Header, wanted: string | undefined) {
  if (name === wanted && type === 'file') return
  throw invalid(
    `the archive is not a Gatehouse backup: it contains ${JSON.stringify(name.slice(0, 200))}` +
      (wanted ? ` instead of ${wanted}` : ', which is not part of a backup'),
    { rule: 'format' },
  )
}

async function takeManifest(content: Content): Promise<Manifest> {
  if (content.header.size > MAX_MANIFEST_BYTES)
    throw invalid('the archive is not a Gatehouse backup: its manifest is too large', {
      rule: 'format',
    })
  return readManifest(await text(content))
}

function refuseLargerThanDisk({ database }: Manifest, folder: string) {
  const { bavail, bsize } = statfsSync(folder)
  if (database.bytes > bavail * bsize)
    throw unavailable(
      `the database needs ${megabytes(database.bytes)}, but only ` +
        `${Math.floor((bavail * bsize) / MEGABYTE)} MB are free in ${dirname(folder)}`,
    )
}

const MEGABYTE = 1024 * 1024

const megabytes = (bytes: number) => `${Math.ceil(bytes / MEGABYTE)} MB`

function keyBytes({ size }: Header): number {
  if (size > MAX_KEY_BYTES) throw damaged('its master key is too large')
  return size
}

const expectedKey = ({ master_key }: Manifest) => ({ sha256: master_key?.sha256 ?? '' })

const damaged = (what: string) => invalid(`the archive is damaged: ${what}`, { rule: 'damaged' })

/** Distinguishes errors of the system, such as a full disk, from a damaged archive. */
function explained(error: unknown): unknown {
  if (error instanceof AppError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  return /^E[A-Z]+$/.test(code)
    ? error
    : damaged(`it is incomplete or not a .tar.gz archive (${message})`)
}
