import type { Writable } from 'node:stream'
import type { S3mini } from 's3mini'
import { unavailable } from '../errors.ts'
import type { ObjectStorageSettings } from './client.ts'
import { explained, ignoreMissing, noBucket } from './errors.ts'
import { isNameIn, objectUrlIn, parseObjectUrl } from './location.ts'
import { createUpload } from './upload.ts'

export { isObjectUrl, objectUrlIn, parseObjectUrl } from './location.ts'
export type { ObjectStorageSettings }

export interface StoredObject {
  url: string
  bytes: number
  /** Milliseconds since the epoch. */
  modifiedAt: number
}

/** A faulty storage never sends the last page of a list. */
const MAX_LISTED = 100_000

export type ObjectStorage = ReturnType<typeof createObjectStorage>

/**
 * S3 and what has the same API. Objects are named by URLs such as `s3://bucket/key`. Every function
 * rejects with an `AppError` that says what to do.
 */
export function createObjectStorage(settings: ObjectStorageSettings) {
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
    (await import('./client.ts')).createClient(settings, `${endpoint}/${bucket}`)

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

  /** Deletes an object. One that doesn't exist is no error. */
  const remove = (url: string): Promise<void> =>
    on(url, async (client, key) => {
      await client.deleteObject(key).catch(ignoreMissing)
    })

  /** The objects of a folder, but not those of folders in it, by name. */
  const list = (folder: string): Promise<StoredObject[]> => {
    const begin = objectUrlIn(folder, '')
    return on(begin, async (client, key) => {
      const { bucket } = parseObjectUrl(folder)
      const found = await client.listObjects('/', key, MAX_LISTED, { delimiter: '/' })
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

  return { sizeOf, read, remove, list, upload }
}
