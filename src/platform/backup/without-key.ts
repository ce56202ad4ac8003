import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, type Header, pack } from 'tar-stream'
import { readManifest, writeManifest } from './manifest.ts'
import { ENTRIES } from './names.ts'
import { COMPRESSION_LEVEL } from './pack.ts'

type Content = AsyncIterable<unknown> & Readable & { header: Header }

/** An archive without its master key, as it is read. A damaged archive ends the stream with an error. */
export function withoutKey(source: Readable): Readable {
  const entries = extract()
  const archive = pack()
  const compressed = createGzip({ level: COMPRESSION_LEVEL })
  const fed = pipeline(source, createGunzip(), entries)
  const written = pipeline(archive, compressed)
  Promise.all([fed, written, copyAll()]).catch((error) => {
    archive.destroy(error)
    compressed.destroy(error)
    source.destroy()
  })
  return compressed

  async function copyAll() {
    for await (const content of entries as AsyncIterable<Content>) await copy(content)
    archive.finalize()
  }

  async function copy(content: Content) {
    const { name, size, mtime } = content.header
    const header = { name, mode: 0o600, ...(mtime && { mtime }) }
    if (name === ENTRIES.key) for await (const _ of content);
    else if (name === ENTRIES.manifest) {
      const { format: _, ...manifest } = readManifest(await text(content))
      archive.entry(header, writeManifest({ ...manifest, master_key: null }))
    } else await pipeline(content, archive.entry({ ...header, size }))
  }
}
