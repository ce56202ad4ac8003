import { isoTime } from '../clock.ts'
import type { LoggedEntry } from './index.ts'

/** How the log is taken along. */
export const FORMATS = ['ndjson', 'csv'] as const
export type Format = (typeof FORMATS)[number]

/** An entry as it leaves the installation, wherever that happens. */
export const shownEntry = ({ at, tenantId, actor, action, object, detail }: LoggedEntry) => ({
  at: isoTime(at),
  tenant_id: tenantId,
  actor: { kind: actor.kind, id: actor.id ?? null, source: actor.source ?? null },
  action,
  object,
  detail,
})

/** What stands before the first entry. */
export const headOf = (format: Format): string =>
  format === 'csv' ? `${COLUMNS.join(',')}\r\n` : ''

/** Entries as lines, each with its end. */
export const linesOf = (entries: readonly LoggedEntry[], format: Format): string =>
  entries.map(format === 'csv' ? csvLine : jsonLine).join('')

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

function csvLine(entry: LoggedEntry): string {
  const { at, tenant_id, actor, action, object, detail } = shownEntry(entry)
  const cells = [at, tenant_id, actor.kind, actor.id, actor.source, action, object]
  return `${[...cells, JSON.stringify(detail)].map((cell) => csvCell(cell ?? '')).join(',')}\r\n`
}

/** A spreadsheet takes what begins like this for a formula, and carries it out. */
const FORMULA = /^[=+\-@\t\r\n]/

/** Some of them divide cells at a semicolon or a tab, whatever the file says. */
function csvCell(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
