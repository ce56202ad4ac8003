import { type SQL, sql } from 'drizzle-orm'

/** The parts of a job that count towards the tenant's limit. */
export interface Sized {
  name: string
  url: string
  headers: string
  body: string | null
  tags: string
  notes: string | null
  secretHeaders: string | null
}

/** Not counted: jobs stored before there were tags weren't counted with it. */
const NO_TAGS = '[]'.length

/** Size in bytes of UTF-8, as stored. */
export const sizeOf = ({ name, url, headers, tags, ...rest }: Sized): number =>
  [name, url, headers, tags, rest.body, rest.notes, rest.secretHeaders]
    .map((text) => Buffer.byteLength(text ?? ''))
    .reduce((sum, bytes) => sum + bytes, -NO_TAGS)

/** The size of a row being deleted. SQLite reads it from the row's header. */
export const storedSize = sql.raw(
  ['name', 'url', 'headers', 'tags', 'body', 'notes', 'secret_headers']
    .map((column) => `coalesce(octet_length(${column}), 0)`)
    .join(' + ')
    .concat(` - ${NO_TAGS}`),
) as SQL<number>
