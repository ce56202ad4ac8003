import { asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../../db/open.ts'
import { excludedOf, rowOf } from '../../../../db/placeholders.ts'
import { late } from '../../../../db/statements.ts'
import { gateSearchEntries as entries, gateIdentities as identities } from '../../schema.ts'
import type { IdentityRow } from '../store.ts'
import { entryOf, type SearchEntry, termsOf } from './terms.ts'

/**
 * The search index: an FTS5 table of terms, made by a server rather than a migration. Backups leave
 * it out, because a restore accepts no virtual tables from elsewhere, and it is filled again.
 * `secure-delete` takes the terms of a deleted user out of the file.
 */
const MAKE = [
  "CREATE VIRTUAL TABLE gate_search USING fts5(terms, content='', detail=none, columnsize=0, tokenize='ascii')",
  "INSERT INTO gate_search (gate_search, rank) VALUES ('secure-delete', 1)",
  'DELETE FROM gate_search_entries',
]

export function createSearchStore({ client, orm }: Db) {
  const $ = sql.placeholder
  const isMade = client.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'gate_search'")
  const add = late(() => client.prepare('INSERT INTO gate_search (rowid, terms) VALUES (?, ?)'))
  const take = late(() =>
    client.prepare("INSERT INTO gate_search (gate_search, rowid, terms) VALUES ('delete', ?, ?)"),
  )
  const candidates = late(() =>
    client.prepare<{ seq: number; isMatch: number }, [string, string, number, number]>(`
      SELECT e.seq, NOT EXISTS (SELECT 1 FROM json_each(?) WHERE NOT instr(e.text, value)) AS isMatch
      FROM (SELECT rowid FROM gate_search WHERE gate_search MATCH ? AND rowid < ?
        ORDER BY rowid DESC LIMIT ?) AS c
      JOIN gate_search_entries AS e ON e.seq = c.rowid
      ORDER BY e.seq DESC`),
  )
  const find = orm
    .select()
    .from(entries)
    .where(eq(entries.seq, $('seq')))
    .prepare()
  const insert = orm
    .insert(entries)
    .values({ ...rowOf(entries), seq: $('seq') })
    .onConflictDoUpdate({ target: entries.seq, set: excludedOf(entries, 'seq') })
    .prepare()
  const forget = orm
    .delete(entries)
    .where(eq(entries.seq, $('seq')))
    .prepare()
  const last = orm
    .select({ seq: sql<number | null>`max(${entries.seq})` })
    .from(entries)
    .prepare()
  const missing = orm
    .select()
    .from(identities)
    .where(sql`${identities.seq} > ${$('after')}`)
    .orderBy(asc(identities.seq))
    .limit($('limit'))
    .prepare()
  const checked = orm
    .select({ seq: entries.seq, isLeft: sql<number>`${identities.seq} is null` })
    .from(entries)
    .leftJoin(identities, eq(identities.seq, entries.seq))
    .where(sql`${entries.seq} > ${$('after')}`)
    .orderBy(asc(entries.seq))
    .limit($('limit'))
    .prepare()

  function remove(seq: number) {
    const known = find.get({ seq })
    if (!known) return
    take().run(seq, termsOf(known))
    forget.run({ seq })
  }

  const lastSeq = (): number => last.get()?.seq ?? 0

  function put(entry: SearchEntry) {
    remove(entry.seq)
    add().run(entry.seq, termsOf(entry))
    insert.run({ ...entry })
  }

  return {
    isMade: () => isMade.get() !== null,
    make: () => {
      for (const step of MAKE) client.run(step)
    },
    put,
    remove,
    /** Keeps the entry of a changed identity the same as its row. */
    changed: (row: IdentityRow) => {
      if (row.seq <= lastSeq()) put(entryOf(row))
    },
    /** Up to here, all identities of all tenants are in the index. */
    lastSeq,
    /** Identities of all tenants that are not in the index, oldest first. */
    missing: (after: number, limit: number) => missing.all({ after, limit }),
    /** The next entries after one, and whether their identity is gone. */
    checked: (after: number, limit: number) => checked.all({ after, limit }),
    /** Entries that have all terms of `query`, newest first, and whether they have all words. */
    candidates: (
      query: string,
      { words, before, limit }: { words: readonly string[]; before: number; limit: number },
    ) => candidates().all(JSON.stringify(words), query, before, limit),
  }
}
