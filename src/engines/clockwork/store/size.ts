import { type SQL, sql } from 'drizzle-orm'

/** The parts of a job that count towards the tenant's limit. */
export interface Sized {
  name: string
  url: string
  headers: string
  body: string | null
}

/** Size in bytes of UTF-8, as stored. */
export const sizeOf = ({ name, url, headers, body }: Sized): number =>
  Buffer.byteLength(name) +
  Buffer.byteLength(url) +
  Buffer.byteLength(headers) +
  Buffer.byteLength(body ?? '')

/** The size of a row being deleted. SQLite reads it from the row's header. */
export const storedSize: SQL<number> = sql`octet_length(name) + octet_length(url) + octet_length(headers) + coalesce(octet_length(body), 0)`
