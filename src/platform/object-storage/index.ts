import type { Writable } from 'node:stream'
import type { S3mini } from 's3mini'
import { unavailable } from '../errors.ts'
import type { ObjectStorageSettings } from './client.ts'
import { explained, ignoreMissing, isConditionUnmet, noBucket } from './errors.ts'
import { PATIENT, type Patience } from './fetch.ts'
import { isNameIn, objectUrlIn, parseObjectUrl } from './location.ts'
import { createUpload } from './upload.ts'

export { within } from './fetch.ts'
export { isObjectUrl, objectUrlIn, parseObjectUrl } from './location.ts'
export type { ObjectStorageSettings }

export interface StoredObject {
  url: string
  bytes: number
  /** Milliseconds since the epoch. */
  modifiedAt: number
}

/** A small object. */
export interface Document {
  text: string
  /** Changes with each write. */
  etag: string
}

/** When a document is written: if there is none yet, or if it is still the one with an etag. */
export type Condition = 'absent' | { etag: string }

/** A faulty storage never sends the last page of a list. */
const MAX_LISTED = 100_000

export type ObjectStorage = ReturnType<typeof createObjectStorage>

/**
 * S3 and what has the same API. Objects are named by URLs such as `s3://bucket/key`. Every function
 * rejects with an `AppError` that says what to do.
 */
export function createObjectStorage(settings: ObjectStorageSettings, patience: Patience = PATIENT) {
  const { region } = settings
  const endpoint = settings.endpoint ?? `https://s3.${region}.amazonaws.com`
  const clients = new Map<string, Promise<S3mini>>()

  async function on<T>(url: string, work: (client: S3mini, key: string) => Promise<T>): Promise<T> {
    const { bucket, key } = parseObjectUrl(url)
    try {
      return await work(await clientOf(bucket), key)
    } catch (error) {
      throw explained(error, url, endpoint)
    }
  }

  function clientOf(bucket: string): Promise<S3mini> {
    const known = clients.get(bucket) ?? open(bucket)
    clients.set(bucket, known)
    return known
  }

  /** The client is loaded when it is needed, because most installations have no object storage. */
  const open = async (bucket: string): Promise<S3mini> =>
    (await import('./client.ts')).createClient(settings, `${endpoint}/${bucket}`, patience)

  /** The size in bytes; null if there is no such object. */
  const sizeOf = (url: string): Promise<number | null> =>
    on(url, async (client, key) =>
      (await client.objectExists(key)) ? client.getContentLength(key) : null,
    )

  const read = (url: string): Promise<ReadableStream<Uint8Array>> =>
    on(url, async (client, key) => {
      const { body } = await client.getObjectRaw(key)
      return body as ReadableStream<Uint8Array>
    })

  /** The first bytes of an object. */
  const readStart = (url: string, bytes: number): Promise<Buffer> =>
    on(url, async (client, key) => {
      const response = await client.getObjectRaw(key, false, 0, bytes)
      return Buffer.from(await response.arrayBuffer()).subarray(0, bytes)
    })

  /** Deletes an object. One that doesn't exist is no error. */
  const remove = (url: string): Promise<void> =>
    on(url, async (client, key) => {
      await client.deleteObject(key).catch(ignoreMissing)
    })

  /** Deletes the objects of a folder and those of all folders in it. */
  const removeFolder = (folder: string): Promise<void> =>
    on(objectUrlIn(folder, ''), async (client, key) => {
      const found = (await client.listObjects('/', key, MAX_LISTED)) ?? []
      await client.deleteObjects(found.map(({ Key }) => Key))
    })

  /** A small object; undefined if there is none. */
  const readText = (url: string): Promise<Document | undefined> =>
    on(url, async (client, key) => {
      const { etag, data } = await client.getObjectWithETag(key)
      return etag === null || data === null
        ? undefined
        : { text: Buffer.from(data).toString(), etag }
    })

  /**
   * Writes a small object and returns its etag; undefined if the condition isn't met. After an error,
   * it may have been written or not.
   */
  const write = (
    url: string,
    content: string | Uint8Array,
    condition?: Condition,
  ): Promise<string | undefined> =>
    on(url, async (client, key) => {
      const headers = headersOf(condition) as Record<string, string>
      try {
        const response = await client.putObject(
          key,
          content as string,
          JSON_TYPE,
          undefined,
          headers as never,
        )
        return client.sanitizeETag(response.headers.get('etag') ?? '')
      } catch (error) {
        if (condition && isConditionUnmet(error)) return undefined
        throw error
      }
    })

  /**
   * The objects of a folder, but not those of folders in it, by name. `after` skips those whose name
   * is not greater.
   */
  const list = (folder: string, after?: string): Promise<StoredObject[]> => {
    const begin = objectUrlIn(folder, '')
    return on(begin, async (client, key) => {
      const { bucket } = parseObjectUrl(folder)
      const found = await client.listObjects('/', key, MAX_LISTED, {
        ...{ delimiter: '/', ...(after && { 'start-after': `${key}${after}` }) },
      })
      if (found === null) throw noBucket(folder, endpoint)
      if (found.length >= MAX_LISTED) throw unavailable(`${folder} has too many objects`)
      return found
        .map(({ Key, Size, LastModified }) => ({
          url: `s3://${bucket}/${Key}`,
          bytes: Size,
          modifiedAt: LastModified.getTime() || 0,
        }))
        .filter(({ url }) => isNameIn(begin, url))
    })
  }

  /** A stream that becomes an object, see `createUpload`. */
  function upload(url: string, beforeEnd = () => {}): Writable {
    const { bucket, key } = parseObjectUrl(url)
    const guard = <T>(work: () => Promise<T>) => on(url, work)
    return createUpload({
      client: () => clientOf(bucket),
      key,
      sizeOf: () => sizeOf(url),
      guard,
      beforeEnd,
    })
  }

  return { sizeOf, read, readStart, readText, write, remove, removeFolder, list, upload }
}

const JSON_TYPE = 'application/json'

function headersOf(condition: Condition | undefined) {
  if (condition === undefined) return {}
  return condition === 'absent' ? { 'if-none-match': '*' } : { 'if-match': `"${condition.etag}"` }
}
