import type { Database } from 'bun:sqlite'
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

const $ = sql.placeholder

const holds = (column: SQLWrapper, pattern: string): SQL =>
  sql`${column} like ${$(pattern)} escape '\\'`

/** Selects jobs that have a text in their name or URL, in any case, or that have an id: all of them for ''. */
export const isFound = ({ id, name, url }: Record<'id' | 'name' | 'url', SQLWrapper>): SQL =>
  sql`(${$('q')} = '' or ${id} = ${$('q')} or ${holds(name, 'lower')} or ${holds(url, 'lower')}
    or ${holds(name, 'upper')})`

/** The values of this condition. LIKE ignores the case of ASCII only, so a name is also searched in upper case. */
export function searchFor(q = '') {
  const pattern = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
  const isAscii = /^[ -~]*$/.test(q)
  return { q, lower: pattern(q.toLowerCase()), upper: isAscii ? null : pattern(q.toUpperCase()) }
}

/** Selects jobs that have a tag: all of them for ''. */
export const isTagged = sql`(${$('tag')} = '' or exists (select 1 from json_each(tags) where value = ${$('tag')}))`

/** More than a filter can show. */
const MAX_TAGS = 200

/** Reads the tags of a tenant, sorted. `some` selects the tags of a limited number of jobs. */
export function createTags(client: Database, some: string) {
  const tags = client.prepare<{ tag: string }, { tenantId: string }>(
    `select distinct value as tag from (${some}) as some, json_each(some.tags) limit ${MAX_TAGS}`,
  )
  return (tenantId: string): string[] =>
    tags
      .all({ tenantId })
      .map(({ tag }) => tag)
      .toSorted()
}
