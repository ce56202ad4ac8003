import { Writable } from 'node:stream'
import type { S3mini, UploadPart } from 's3mini'

/** Bytes of one part of an upload. An object can have 10,000 parts. */
const PART_BYTES = 16 * 1024 * 1024

/** Waits between attempts to upload a part. */
const RETRY_MS = [1000, 4000, 15_000]

/**
 * A stream that becomes an object. The object appears when the stream has finished, and never in
 * part: if the stream is destroyed, or `beforeEnd` throws, nothing is kept. `client` is awaited, and
 * called, inside `guard`, which explains its errors.
 */
export function createUpload(parts: {
  client: () => Promise<S3mini>
  key: string
  guard: <T>(work: () => Promise<T>) => Promise<T>
  beforeEnd: () => void
}): Writable {
  const { client, key, guard, beforeEnd } = parts
  const uploaded: UploadPart[] = []
  let waiting: Buffer[] = []
  let bytes = 0
  let uploadId: string | undefined

  async function add(chunk: Buffer) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes >= PART_BYTES) await sendPart()
  }

  async function sendPart() {
    const storage = await client()
    uploadId ??= await storage.getMultipartUploadId(key)
    const [id, number, data] = [uploadId, uploaded.length + 1, taken()]
    uploaded.push(await retried(() => storage.uploadPart(key, id, data, number)))
  }

  function taken(): Buffer {
    const data = Buffer.concat(waiting)
    waiting = []
    bytes = 0
    return data
  }

  async function complete() {
    beforeEnd()
    const storage = await client()
    if (uploadId === undefined) return void (await storage.putObject(key, taken()))
    if (bytes > 0) await sendPart()
    beforeEnd()
    await storage.completeMultipartUpload(key, uploadId, uploaded)
    uploadId = undefined
  }

  /** Parts of an object that never appears would be stored, and billed, forever. */
  async function abandon() {
    if (uploadId !== undefined) await (await client()).abortMultipartUpload(key, uploadId)
  }

  const ending = (work: () => Promise<void>, end: (error?: Error | null) => void) =>
    void guard(work).then(() => end(), end)

  return new Writable({
    write: (chunk: Buffer, _, next) => ending(() => add(chunk), next),
    final: (end) => ending(complete, end),
    destroy: (error, end) =>
      ending(
        () => abandon().catch(() => {}),
        () => end(error),
      ),
  })
}

async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (const waitMs of RETRY_MS)
    try {
      return await attempt()
    } catch {
      await Bun.sleep(waitMs)
    }
  return attempt()
}
