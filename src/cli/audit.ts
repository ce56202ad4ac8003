import { FORMATS, type Format, headOf, linesOf, shownEntry } from '../platform/audit/formats.ts'
import type { AuditFilter, LoggedEntry } from '../platform/audit/index.ts'
import { isoTime, stampOf, systemClock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import { parseTimestamp } from '../platform/timestamp.ts'
import {
  type Answer,
  type Command,
  type Configured,
  EXIT,
  type ExitCode,
  type Invocation,
  type Option,
  oneOf,
  table,
  UsageError,
} from './command.ts'
import { openSink, type Sink } from './export-sink.ts'
import { withReadableServices, withServices } from './open.ts'
import { targetOf } from './target.ts'

type Options = Invocation['options']

const DEFAULT_LIMIT = 50
const MAX = 10_000

const filters: Record<string, Option> = {
  tenant: { type: 'string', value: 'ID', help: 'Only entries for this tenant.' },
  action: {
    type: 'string',
    value: 'PREFIX',
    help: 'Only actions that start with this, such as key. or tenant.suspended.',
  },
  actor: { type: 'string', value: 'ID', help: 'Only actions by this API key, operator or user.' },
  object: { type: 'string', value: 'TEXT', help: 'Only objects with this in their name or id.' },
  since: {
    type: 'string',
    value: 'TIME',
    help: 'Only entries since this time, such as 2026-01-31T12:00:00Z.',
  },
  until: { type: 'string', value: 'TIME', help: 'Only entries before this time.' },
}

export const auditList: Command = {
  name: 'audit list',
  summary: 'Show the audit log, newest first.',
  options: {
    ...filters,
    limit: {
      type: 'string',
      value: 'N',
      help: `Maximum number of entries, up to ${MAX}. Default: ${DEFAULT_LIMIT}.`,
    },
  },
  run: ({ config, options }) => {
    const filter = filterIn(options)
    const limit = limitIn(options.limit)
    return withServices(config, ({ audit }) => {
      const entries: LoggedEntry[] = []
      let before: number | undefined
      do {
        const page = audit.list({ ...filter, before, limit: limit - entries.length })
        entries.push(...page.entries)
        before = page.next
      } while (before !== undefined && entries.length < limit)
      const rows = entries.map(row)
      const text = rows.length === 0 ? 'No entries.' : table([HEAD, ...rows])
      return { json: { entries: entries.map(shownEntry) }, text }
    })
  },
}

export const auditExport: Command = {
  name: 'audit export',
  summary: 'Write the audit log to a file or standard output, oldest first.',
  options: {
    ...filters,
    format: {
      type: 'string',
      value: 'FORMAT',
      help: 'ndjson (one object per line, the default) or csv.',
    },
    to: {
      type: 'string',
      value: 'FILE',
      help: 'A new file, readable only by its owner, or a directory. Default: standard output (-).',
    },
  },
  run: (invocation) => {
    const { options } = invocation
    const filter = filterIn(options)
    const format = oneOf(FORMATS, 'format', options.format ?? 'ndjson')
    return exported(invocation, filter, format)
  },
}

/** Exports the log; where standard output is the log, the report goes to standard error. */
async function exported(
  invocation: Configured,
  filter: AuditFilter,
  format: Format,
): Promise<Answer | ExitCode> {
  const { config, io, options } = invocation
  const begunAt = systemClock.monotonic()
  const name = `gatehouse-audit-${stampOf(systemClock.now())}.${format}`
  const warn = (text: string) => io.err(`${text}\n`)
  const { entries, file } = await withReadableServices(config, warn, async ({ audit }) => {
    using sink = openSink(io, targetOf(invocation, name))
    const entries = await write(sink, audit.oldestFirst(filter), format)
    await sink.end()
    return { entries, ...sink.target }
  })
  const durationMs = Math.round(systemClock.monotonic() - begunAt)
  const json = { entries, file, duration_ms: durationMs }
  if (file !== undefined) return { json, text: `${entries} entries in ${file}.` }
  io.err(options.json === true ? `${JSON.stringify(json)}\n` : `${entries} entries.\n`)
  return EXIT.ok
}

/** Writes one slice at a time and returns the number of entries: the log may exceed memory. */
async function write(sink: Sink, slices: Iterable<LoggedEntry[]>, format: Format): Promise<number> {
  await sink.write(headOf(format))
  let count = 0
  for (const entries of slices) {
    count += entries.length
    await sink.write(linesOf(entries, format))
  }
  return count
}

function filterIn(options: Options): AuditFilter {
  const text = (name: string) => options[name] as string | undefined
  const [since, until] = [timeIn('since', options.since), timeIn('until', options.until)]
  if (since !== undefined && until !== undefined && until <= since)
    throw new UsageError('--until: must be after --since')
  return {
    tenantId: text('tenant'),
    action: text('action'),
    actorId: text('actor'),
    object: text('object'),
    since,
    until,
  }
}

function timeIn(name: string, value: Options[string]): number | undefined {
  if (value === undefined) return undefined
  try {
    return parseTimestamp(`${value}`, `--${name}`)
  } catch (error) {
    throw error instanceof AppError ? new UsageError(error.message) : error
  }
}

function limitIn(value: Options[string]): number {
  if (value === undefined) return DEFAULT_LIMIT
  const limit = /^\d{1,6}$/.test(`${value}`) ? Number(value) : 0
  if (limit < 1 || limit > MAX)
    throw new UsageError(`--limit: must be a whole number from 1 to ${MAX}`)
  return limit
}

const HEAD = ['AT', 'TENANT', 'WHO', 'ACTION', 'OBJECT', 'DETAIL']

function row({ at, tenantId, actor, action, object, detail }: LoggedEntry): string[] {
  const who = [actor.kind, actor.id, actor.source].filter((part) => part !== undefined).join(' ')
  const more = Object.keys(detail).length === 0 ? '' : JSON.stringify(detail)
  return [isoTime(at), tenantId ?? '-', who, action, object, more]
}
