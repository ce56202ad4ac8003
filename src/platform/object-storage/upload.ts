import { Writable } from 'node:stream'
import type { S3mini, UploadPart } from 's3mini'
import { unavailable } from '../errors.ts'
import { isTemporary } from './errors.ts'

/** Bytes of one part of an upload. An object can have 10,000 parts. */
const PART_BYTES = 16 * 1024 * 1024

/** Waits between attempts. */
const RETRY_MS = [1000, 4000, 15_000]

/**
 * A stream that becomes an object. The object appears when the stream has finished, and never in
 * part: if the stream is destroyed, or `beforeEnd` throws, nothing is kept. `client` is awaited, and
 * called, inside `guard`, which explains its errors.
 */
export function createUpload(parts: {
  client: () => Promise<S3mini>
  key: string
  /** The size of the object; null if there is none. */
  sizeOf: () => Promise<number | null>
  guard: <T>(work: () => Promise<T>) => Promise<T>
  beforeEnd: () => void
}): Writable {
  const { client, key, sizeOf, guard, beforeEnd } = parts
  const uploaded: UploadPart[] = []
  let waiting: Buffer[] = []
  let bytes = 0
  let sent = 0
  let uploadId: string | undefined
  let isGivenUp = false
  let current: Promise<void> = Promise.resolve()

  async function add(chunk: Buffer) {
    waiting.push(chunk)
    bytes += chunk.length
    if (bytes >= PART_BYTES) await sendPart()
  }

  async function sendPart() {
    const storage = await client()
    uploadId ??= await retried(() => storage.getMultipartUploadId(key))
    const [id, number, data] = [uploadId, uploaded.length + 1, taken()]
    uploaded.push(await retried(() => storage.uploadPart(key, id, data, number)))
  }

  async function retried<T>(attempt: () => Promise<T>): Promise<T> {
    for (const waitMs of RETRY_MS)
      try {
        return await attempt()
      } catch (error) {
        if (isGivenUp || !isTemporary(error)) throw error
        await Bun.sleep(waitMs)
      }
    return attempt()
  }

  function taken(): Buffer {
    const data = Buffer.concat(waiting)
    waiting = []
    sent += bytes
    bytes = 0
    return data
  }

  async function complete() {
    beforeEnd()
    const storage = await client()
    if (uploadId === undefined) {
      const data = taken()
      await retried(() => storage.putObject(key, data))
    } else {
      if (bytes > 0) await sendPart()
      beforeEnd()
      await storage.completeMultipartUpload(key, uploadId, uploaded)
    }
    await requireWhole()
    uploadId = undefined
  }

  /** The storage can report in a response with status 200 that it could not join the parts. */
  async function requireWhole() {
    const found = (await sizeOf()) ?? 0
    if (found !== sent) throw unavailable(`${found} of ${sent} bytes were stored. Back up again`)
  }

  /** Parts of an object that never appears would be stored, and billed, forever. */
  async function abandon() {
    if (uploadId !== undefined) await (await client()).abortMultipartUpload(key, uploadId)
  }

  function ending(work: () => Promise<void>, end: (error?: Error | null) => void) {
    current = guard(work)
    current.then(() => end(), end)
  }

  return new Writable({
    write: (chunk: Buffer, _, next) => ending(() => add(chunk), next),
    final: (end) => ending(complete, end),
    destroy(error, end) {
      isGivenUp = true
      // What is being uploaded would otherwise be kept although it is abandoned.
      current
        .catch(() => {})
        .then(abandon)
        .catch(() => {})
        .then(() => end(error))
    },
  })
}
