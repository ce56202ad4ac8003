import { isoTime } from '../clock.ts'
import { csvLine } from '../csv.ts'
import type { LoggedEntry } from './index.ts'

/** The file formats of an audit log export. */
export const FORMATS = ['ndjson', 'csv'] as const
export type Format = (typeof FORMATS)[number]

/** An entry in the form that exports and the command line use. */
export const shownEntry = ({ at, tenantId, actor, action, object, detail }: LoggedEntry) => ({
  at: isoTime(at),
  tenant_id: tenantId,
  actor: { kind: actor.kind, id: actor.id ?? null, source: actor.source ?? null },
  action,
  object,
  detail,
})

/** The first line of an export, with its line end: the column names in CSV, nothing in NDJSON. */
export const headOf = (format: Format): string => (format === 'csv' ? csvLine(COLUMNS) : '')

/** Entries as lines of the given format, each with its line end. */
export const linesOf = (entries: readonly LoggedEntry[], format: Format): string =>
  entries.map(format === 'csv' ? flatLine : jsonLine).join('')

const jsonLine = (entry: LoggedEntry): string => `${JSON.stringify(shownEntry(entry))}\n`

const COLUMNS = [
  'at',
  'tenant_id',
  'actor_kind',
  'actor_id',
  'actor_source',
  'action',
  'object',
  'detail',
] as const

function flatLine(entry: LoggedEntry): string {
  const { at, tenant_id, actor, action, object, detail } = shownEntry(entry)
  const cells = [at, tenant_id, actor.kind, actor.id, actor.source, action, object]
  return csvLine([...cells, JSON.stringify(detail)])
}
