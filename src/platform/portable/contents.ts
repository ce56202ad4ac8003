import { invalid } from '../errors.ts'
import type { Sealing } from '../sealing/index.ts'
import { createCodec, type Line } from './codec.ts'
import { fingerprintsOf, type Header, readFooter, readHeader } from './format.ts'
import { atLine, type ReadLine } from './lines.ts'
import { keyOf, tenantColumn } from './rows.ts'
import type { PortableTable, Row } from './table.ts'

/** A row of the file that can be stored. */
export interface Arrival {
  /** The line number, from 1. */
  number: number
  /** The number of bytes of the file up to the end of this line. */
  read: number
  /** SHA-256 (hexadecimal) up to the end of this line; call it before the next row is read. */
  hash: () => string
  /** The index in the list of tables. */
  table: number
  row: Row
}

export interface Contents {
  header: Header
  rows: Generator<Arrival, Trailer>
}

/** Information that is known at the end of the file. */
export interface Trailer {
  /** SHA-256 (hexadecimal) of the whole file. */
  fileHash: string
  lines: number
  /** The number of rows left out because they can't work in this installation, by name. */
  leftOut: Record<string, number>
}

/** The number of rows for each value of the column by which they are limited. */
type Counts = Map<unknown, number>

interface Known {
  portable: PortableTable
  counts: Counts
}

/** Yields only storable rows; returns if the file is complete. Throws `invalid` with the line. */
export function readContents(parts: {
  lines: Iterable<ReadLine>
  tables: readonly PortableTable[]
  sealing: Sealing
  now: () => number
  /** The migrations of this executable. */
  schemas: readonly string[]
}): Contents {
  const { tables, sealing, now, schemas } = parts
  const lines = parts.lines[Symbol.iterator]()
  const first = lines.next()
  if (first.done) throw invalid('the file is empty', { rule: 'required' })
  const header = atLine(1, () => checkedHeader(first.value.line))
  const known = tables.map((portable) => ({
    ...createCodec(portable, sealing),
    owner: keyOf(portable.table, tenantColumn(portable.table)),
    counts: new Map() as Counts,
  }))
  const ours = fingerprintsOf(tables, sealing)
  const leftOut = Object.fromEntries(tables.flatMap(({ tied }) => (tied ? [[tied.name, 0]] : [])))
  let current = 0

  function checkedHeader(line: Line): Header {
    const header = readHeader(line)
    if (!schemas.includes(header.schema))
      throw invalid(`the file is from Gatehouse ${header.version}, which is newer than this one`, {
        rule: 'not_allowed',
      })
    return header
  }

  function* rows(): Generator<Arrival, Trailer> {
    for (;;) {
      const next = lines.next()
      if (next.done)
        throw invalid('the file is incomplete: its last line is missing', { rule: 'damaged' })
      const { number, line, read, hash } = next.value
      if (line.kind === 'end') return atLine(number, () => ended(next.value))
      const row = atLine(number, () => checkedRow(line))
      if (row) yield { number, read, hash, table: current, row }
    }
  }

  function checkedRow(line: Line): Row | undefined {
    const table = tableOf(line)
    const { portable, read, owner, counts } = table
    const row = read(line, now())
    if (row[owner] !== header.tenant)
      throw invalid('belongs to a different tenant than the file', {
        field: portable.kind,
        rule: 'mismatch',
      })
    const { tied, most } = portable
    const group = most?.per && row[most.per]
    const count = (counts.get(group) ?? 0) + 1
    counts.set(group, count)
    if (most && count > most.rows)
      throw invalid(
        `must have at most ${most.rows} ${most.rows === 1 ? 'row' : 'rows'}${most.per ? ` per ${most.per}` : ''}`,
        { field: portable.kind, rule: 'too_many' },
      )
    if (!tied?.holds(row) || header.fingerprints[tied.name] === ours[tied.name]) return row
    leftOut[tied.name] = (leftOut[tied.name] ?? 0) + 1
    return undefined
  }

  /** Tables have a fixed order: rows follow those that they refer to, and keys come last. */
  function tableOf({ kind }: Line) {
    if (typeof kind !== 'string') throw invalid('must be a string', { field: 'kind', rule: 'type' })
    const index = known.findIndex(({ portable }) => portable.kind === kind)
    const table = known[index]
    if (!table) throw invalid('is not a known kind', { field: kind.slice(0, 100), rule: 'unknown' })
    if (index > 0 && known[0]?.counts.size === 0)
      throw invalid(`must come after the ${tables[0]?.kind}`, { field: kind, rule: 'format' })
    if (index < current)
      throw invalid(`must come before ${tables[current]?.kind}`, { field: kind, rule: 'format' })
    current = index
    return table
  }

  function ended({ number, line, hashBefore, hash }: ReadLine): Trailer {
    const { lines: count, sha256 } = readFooter(line)
    if (count !== number - 1 || sha256 !== hashBefore())
      throw invalid('the file has changed since the export: lines were lost or edited', {
        rule: 'damaged',
      })
    if (known[0]?.counts.size === 0)
      throw invalid(`the file has no ${tables[0]?.kind}`, { rule: 'required' })
    for (const table of known) requireOneEach(table)
    const fileHash = hash()
    if (!lines.next().done)
      throw invalid('the file has more lines after its last line', { rule: 'damaged' })
    return { fileHash, lines: number, leftOut }
  }

  /** Rows can't share an owner or lack one, so comparing the counts is enough. */
  function requireOneEach({ portable: { kind, oneEach }, counts }: Known) {
    const owners = known.find(({ portable }) => portable.kind === oneEach)
    if (owners && total(owners.counts) !== total(counts))
      throw invalid(`must have one line for each ${oneEach}`, { field: kind, rule: 'required' })
  }

  return { header, rows: rows() }
}

const total = (counts: Counts): number => counts.values().reduce((sum, count) => sum + count, 0)
