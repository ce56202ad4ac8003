import { copyIds } from '../copies.ts'
import type { ConsoleInstallation } from './installation.ts'

/** What a table is filled with: copies of its first row. */
export interface Filling {
  table: string
  of: string
  by?: string
  /** Of both tenants together, in the end. */
  count: number
  /** SQL for the columns of copy number `i`, itself SQL. */
  columns: (i: string) => Record<string, string>
}

export type Ground = ReturnType<typeof groundOf>

const HOUR_MS = 3_600_000
/** Short enough that nothing of it is old. */
const SPAN_MS = 20 * HOUR_MS

/** What the fillings have in common: every second row is the neighbour's, and later ones are newer. */
export function groundOf(installation: ConsoleInstallation, rows: number) {
  const [mine, neighbours] = installation.tenants
  const both = 2 * rows
  const start = Date.now() - SPAN_MS
  const at = (i: string) => `${start} + ${i} * ${Math.max(1, Math.floor(SPAN_MS / both))}`
  return {
    ...installation,
    rows,
    both,
    ids: idsByKind(),
    owner: (i: string) => ({ tenant_id: `iif(${i} % 2 = 0, '${mine}', '${neighbours}')` }),
    at,
    created: (i: string) => ({ created_at: at(i), updated_at: at(i) }),
  }
}

const KINDS = [
  'identity',
  'address',
  'session',
  'decision',
  'job',
  'execution',
  'delayed',
  'user',
  'login',
  'endpoint',
  'message',
  'delivery',
  'attempt',
  'key',
  'tenant',
  'mail',
  'operator',
] as const

const idsByKind = () =>
  Object.fromEntries(KINDS.map((kind) => [kind, copyIds()])) as Record<
    (typeof KINDS)[number],
    ReturnType<typeof copyIds>
  >

/** SQL for the hash of a random, unknown secret. */
export const HASH = 'lower(hex(randomblob(32)))'

/** A tenth of the tenant's is of one, so that a page about one has much behind it, too. */
export const oneIn10 = (i: string, one: string, others: string) =>
  `iif(${i} % 20 = 0, '${one}', ${others})`

export const emailOf = (i: string) => `printf('person-%07d@example.com', ${i})`
