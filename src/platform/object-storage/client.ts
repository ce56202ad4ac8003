import { S3mini } from 's3mini'
import { fetchFromStorage } from './fetch.ts'

/** Where object storage is, and the credentials for it. */
export interface ObjectStorageSettings {
  /** Undefined for Amazon S3. */
  endpoint?: string | undefined
  region: string
  accessKeyId?: string | undefined
  secretAccessKey?: string | undefined
}

/** The client for one bucket, whose URL is `endpoint`. */
export function createClient(
  { region, accessKeyId = '', secretAccessKey = '' }: ObjectStorageSettings,
  endpoint: string,
): S3mini {
  return new S3mini({
    ...{ endpoint, region, accessKeyId, secretAccessKey },
    fetch: fetchFromStorage as typeof fetch,
  })
}
