import { type SQL, sql } from 'drizzle-orm'

/** What of a job counts towards its tenant's limit. */
export interface Sized {
  name: string
  url: string
  headers: string
  body: string | null
}

/** In bytes of UTF-8, as the database holds it. */
export const sizeOf = ({ name, url, headers, body }: Sized): number =>
  Buffer.byteLength(name) +
  Buffer.byteLength(url) +
  Buffer.byteLength(headers) +
  Buffer.byteLength(body ?? '')

/** The same of a row that is being deleted; SQLite takes it from the row's head. */
export const storedSize: SQL<number> = sql`octet_length(name) + octet_length(url) + octet_length(headers) + coalesce(octet_length(body), 0)`
