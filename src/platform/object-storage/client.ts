import { S3mini } from 's3mini'
import { fetchWith, type Patience } from './fetch.ts'

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
  patience: Patience,
): S3mini {
  return new S3mini({
    ...{ endpoint, region, accessKeyId, secretAccessKey },
    fetch: fetchWith(patience) as typeof fetch,
  })
}
