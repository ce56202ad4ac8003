export type Replica = ReturnType<typeof openReplica>
export type ReplicaConfig = Awaited<ReturnType<typeof readConfig>>

/** A file with the transactions `first` to `last`. */
export interface ReplicaFile {
  key: string
  first: number
  last: number
}

/** Levels: each upload, and snapshots, which begin with the first transaction. */
export const [UPLOADS, SNAPSHOTS] = [0, 9]

/** Time for one request to the bucket. */
const REQUEST_MS = 5000

interface Written {
  socket?: { path: string }
  dbs: {
    path: string
    replica: { bucket: string; path: string; endpoint: string; region: string }
  }[]
}

/** The configuration of one database: that with the path, or the only one. */
export async function readConfig(file: string, path: string) {
  const { socket, dbs } = Bun.YAML.parse(await Bun.file(file).text()) as Written
  const db = path === '' ? dbs[0] : dbs.find((one) => one.path === path)
  if (!db) throw new Error(`database not found in config: ${path}`)
  return { socket: socket?.path ?? '', path: db.path, replica: openReplica(db.replica) }
}

export const hex = (txid: number) => txid.toString(16).padStart(16, '0')

function openReplica({ path, ...where }: Written['dbs'][number]['replica']) {
  const client = new Bun.S3Client({
    ...where,
    ...{ accessKeyId: process.env.LITESTREAM_ACCESS_KEY_ID, retry: 0 },
    secretAccessKey: process.env.LITESTREAM_SECRET_ACCESS_KEY,
  })
  const folderOf = (level: number) => `${path}/${String(level).padStart(4, '0')}/`

  /** The files of a level from a transaction on, by name. */
  async function list(level: number, from = 0): Promise<ReplicaFile[]> {
    const prefix = folderOf(level)
    const keys: string[] = []
    let isTruncated: boolean | undefined = true
    while (isTruncated) {
      const startAfter = keys.at(-1) ?? prefix + hex(from)
      const page = await within(REQUEST_MS, client.list({ prefix, startAfter }))
      for (const { key } of page.contents ?? []) keys.push(key)
      isTruncated = page.isTruncated
    }
    return keys.flatMap(parseKey)
  }

  /** The database in a file; undefined for a file without pages, which is only a number. */
  async function read({ key }: ReplicaFile): Promise<Uint8Array | undefined> {
    const body = await within(REQUEST_MS, client.file(key).bytes())
    return Buffer.from(body.slice(0, 4)).toString() === 'LTX1'
      ? undefined
      : Bun.zstdDecompressSync(body)
  }

  const store = (level: number, first: number, last: number, body: Uint8Array) =>
    within(REQUEST_MS, client.write(`${folderOf(level)}${hex(first)}-${hex(last)}.ltx`, body))

  return { list, read, store }
}

function parseKey(key: string): ReplicaFile[] {
  const [, first, last] = /\/([0-9a-f]{16})-([0-9a-f]{16})\.ltx$/.exec(key) ?? []
  return first && last ? [{ key, first: Number(`0x${first}`), last: Number(`0x${last}`) }] : []
}

/** Rejects if it takes longer. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('context deadline exceeded')), ms)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
