import { and, asc, count, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { compile, named } from '../../../db/compile.ts'
import { type Order, type Range, sortable } from '../../../db/keyset.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { END, type Scan } from '../../../platform/scan.ts'
import { gateIdentities as identities } from '../schema.ts'

export type IdentityRow = typeof identities.$inferSelect
type NewIdentityRow = Omit<IdentityRow, 'seq'>
export type State = IdentityRow['state']

export const SORT_KEYS = {
  created: { value: identities.createdAt, type: 'number' },
  email: { value: identities.email, type: 'string' },
  signed_in: { value: identities.lastSignInAt, type: 'number' },
} as const

interface Sorted extends Order<keyof typeof SORT_KEYS>, Range {
  state?: State | undefined
}

/** Sorts after every character that an address can contain. */
const LAST = '\u{10ffff}'

export function createIdentityStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const ofTenant = eq(identities.tenantId, $('tenantId'))
  const mine = and(ofTenant, eq(identities.id, $('id')))

  const isInState = eq(identities.state, $('state'))
  // A single lower bound: with two of them, the index scan would start at the smaller one.
  const begins = and(
    sql`${identities.email} >= max(${$('after')}, ${$('from')})`,
    sql`${identities.email} <> ${$('after')}`,
    sql`${identities.email} < ${$('to')}`,
  )
  const byAddress = (condition: SQL | undefined) =>
    orm
      .select()
      .from(identities)
      .where(condition)
      .orderBy(asc(identities.email))
      .limit($('limit'))
      .prepare()

  const insert = orm
    .insert(identities)
    .values(rowOf(identities))
    .onConflictDoNothing({ target: [identities.tenantId, identities.email] })
    .returning({ seq: identities.seq })
    .prepare()
  const update = orm
    .update(identities)
    .set({
      state: sql`${$('state')}`,
      stateChangedAt: sql`${$('stateChangedAt')}`,
      email: sql`${$('email')}`,
      traits: sql`${$('traits')}`,
      metadataPublic: sql`${$('metadataPublic')}`,
      sessionGeneration: sql`${$('sessionGeneration')}`,
      tokenGeneration: sql`${$('tokenGeneration')}`,
      updatedAt: sql`${$('updatedAt')}`,
    })
    .where(mine)
    .prepare()
  const signedIn = orm
    .update(identities)
    .set({ lastSignInAt: sql`${$('at')}` })
    .where(mine)
    .prepare()
  const remove = orm.delete(identities).where(mine).prepare()
  const find = compile<IdentityRow>(
    client,
    orm
      .select(named(getTableColumns(identities)))
      .from(identities)
      .where(mine),
  )
  const owner = orm
    .select({ tenantId: identities.tenantId })
    .from(identities)
    .where(eq(identities.id, $('id')))
    .prepare()
  const byEmail = orm
    .select()
    .from(identities)
    .where(and(ofTenant, eq(identities.email, $('email'))))
    .prepare()
  const newest = orm
    .select()
    .from(identities)
    .where(and(ofTenant, sql`${identities.seq} < ${$('before')}`))
    .orderBy(desc(identities.seq))
    .limit($('limit'))
    .prepare()
  const after = orm
    .select()
    .from(identities)
    .where(
      and(
        ofTenant,
        sql`${identities.seq} > ${$('after')}`,
        sql`${identities.seq} < ${$('before')}`,
      ),
    )
    .orderBy(desc(identities.seq))
    .limit($('limit'))
    .prepare()
  const among = orm
    .select()
    .from(identities)
    .where(and(ofTenant, sql`${identities.seq} in (select value from json_each(${$('seqs')}))`))
    .orderBy(desc(identities.seq))
    .prepare()
  const inState = orm
    .select()
    .from(identities)
    .where(and(ofTenant, isInState, sql`${identities.seq} < ${$('before')}`))
    .orderBy(desc(identities.seq))
    .limit($('limit'))
    .prepare()
  const beginning = byAddress(and(ofTenant, begins))
  const beginningInState = byAddress(and(ofTenant, isInState, begins))
  const sorted = (state?: SQL) =>
    sortable({ keys: SORT_KEYS, seq: identities.seq }, (where, orderBy) =>
      orm
        .select()
        .from(identities)
        .where(and(ofTenant, state, where))
        .orderBy(...orderBy)
        .limit($('limit'))
        .prepare(),
    )
  const [allSorted, sortedInState] = [sorted(), sorted(isInState)]
  const some = orm
    .select({ id: identities.seq })
    .from(identities)
    .where(and(ofTenant, isInState))
    .limit($('most'))
    .as('some')
  const counted = orm.select({ count: count() }).from(some).prepare()

  return {
    /** False if another identity of the tenant has the address. */
    insert: (row: NewIdentityRow): boolean => insert.get(row) !== undefined,
    update: (row: IdentityRow) => void update.run({ ...row }),
    signedIn: (tenantId: string, id: string, at: number) => void signedIn.run({ tenantId, id, at }),
    remove: (tenantId: string, id: string) => void remove.run({ tenantId, id }),
    find: (tenantId: string, id: string): IdentityRow | undefined => find.get({ tenantId, id }),
    /** The tenant of an identity, to distinguish a foreign identity from a missing one. */
    ownerOf: (id: string): string | undefined => owner.get({ id })?.tenantId,
    byEmail: (tenantId: string, email: string): IdentityRow | undefined =>
      byEmail.get({ tenantId, email }),
    /** Newest first. */
    page: (tenantId: string, state: State | undefined, { before = END, limit }: Scan) =>
      state === undefined
        ? newest.all({ tenantId, before, limit })
        : inState.all({ tenantId, state, before, limit }),
    /** Those after a position, newest first. */
    newer: (tenantId: string, { after: from, before, limit }: Required<Scan> & { after: number }) =>
      after.all({ tenantId, after: from, before, limit }),
    /** Newest first. */
    among: (tenantId: string, seqs: readonly number[]): IdentityRow[] =>
      seqs.length === 0 ? [] : among.all({ tenantId, seqs: JSON.stringify(seqs) }),
    /** In an order, from a position; a range limits creation or last sign-in, whichever sorts. */
    sorted: (tenantId: string, { by, isDescending, state, ...range }: Sorted): IdentityRow[] =>
      (state ? sortedInState : allSorted)({ by, isDescending }, { tenantId, state }, range),
    /** Counts within the index, up to `most`. */
    count: (tenantId: string, state: State, most: number): number =>
      counted.get({ tenantId, state, most })?.count ?? 0,
    /** Identities whose address starts with the text, by address, after `after`. */
    beginningWith: (
      tenantId: string,
      from: string,
      {
        state,
        after = '',
        limit,
      }: { state?: State | undefined; after?: string | undefined; limit: number },
    ): IdentityRow[] => {
      const range = { tenantId, from, to: from + LAST, after, limit }
      return state === undefined ? beginning.all(range) : beginningInState.all({ ...range, state })
    },
  }
}
