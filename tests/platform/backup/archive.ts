import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGunzip, gzipSync } from 'node:zlib'
import { extract, type Header, pack } from 'tar-stream'

export interface Piece {
  header: Partial<Header> & Pick<Header, 'name'>
  body: Uint8Array
}

export const piece = (name: string, body: string | Uint8Array): Piece => ({
  header: { name },
  body: Buffer.from(body),
})

/** What an archive holds, as any other reader of tar sees it. */
export async function piecesOf(file: string): Promise<Piece[]> {
  const pieces: Piece[] = []
  const entries = extract()
  fs.createReadStream(file).pipe(createGunzip()).pipe(entries)
  for await (const entry of entries)
    pieces.push({ header: entry.header, body: await buffer(entry) })
  return pieces
}

export async function packed(pieces: readonly Piece[]): Promise<Uint8Array> {
  const archive = pack()
  const bytes = buffer(archive)
  for (const { header, body } of pieces) {
    if (header.type && header.type !== 'file') archive.entry({ ...header, size: 0 })
    else archive.entry({ ...header, size: body.length }, body)
  }
  archive.finalize()
  return gzipSync(await bytes)
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

export async function databaseIn(file: string, folder: string): Promise<Database> {
  const [, database] = await piecesOf(file)
  const copy = join(folder, `unpacked-${crypto.randomUUID()}.db`)
  fs.writeFileSync(copy, database?.body ?? '')
  return new Database(copy)
}
