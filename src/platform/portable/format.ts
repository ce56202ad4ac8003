import { type Static, Type } from '@sinclair/typebox'
import { invalid } from '../errors.ts'
import type { Sealing } from '../sealing/index.ts'
import type { Line } from './codec.ts'
import { Mismatch, readTime, requireShape } from './fields.ts'
import type { PortableTable } from './table.ts'

/** Increases when older versions of Gatehouse can't read new files. */
const FORMAT = 1
const KIND = 'gatehouse.export'

/** In bytes; larger than any job or document. Limits how much of a file is in memory. */
export const MAX_LINE_LENGTH = 4 * 1024 * 1024

export const Header = Type.Object(
  {
    kind: Type.Literal(KIND),
    format: Type.Literal(FORMAT),
    version: Type.String({ maxLength: 100 }),
    exported_at: Type.String(),
    /** The id of the installation that exported the tenant. */
    installation: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
    tenant: Type.String({ minLength: 1, maxLength: 100 }),
    /** The last migration of the exported database. */
    schema: Type.String({ maxLength: 100 }),
    /** The prefix of API keys in that installation. */
    key_prefix: Type.String({ pattern: '^[a-z][a-z0-9]{0,15}$' }),
    /** By purpose; rows keep working if the importing installation computes the same one. */
    fingerprints: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
)
export type Header = Static<typeof Header>

const Footer = Type.Object(
  {
    kind: Type.Literal('end'),
    /** The number of lines before this one. */
    lines: Type.Integer({ minimum: 1 }),
    /** The hash of the bytes of those lines. */
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  { additionalProperties: false },
)

export const newHeader = (of: Omit<Header, 'kind' | 'format'>): Header => ({
  kind: KIND,
  format: FORMAT,
  ...of,
})

/** Parses the first line. Throws `invalid` unless it begins an export in a supported format. */
export function readHeader(line: unknown): Header {
  const { kind, format } = line as { kind?: unknown; format?: unknown }
  if (kind !== KIND) throw invalid('the file is not a tenant export', { rule: 'format' })
  if (typeof format === 'number' && format > FORMAT)
    throw invalid(`the file has format ${format}; import it with a newer Gatehouse`, {
      rule: 'not_allowed',
    })
  try {
    requireShape(Header, line)
    readTime(line.exported_at)
    return line
  } catch (error) {
    throw error instanceof Mismatch ? misshapen(error, 'header') : error
  }
}

/** Parses the last line. Throws `invalid` unless it ends an export. */
export function readFooter(line: Line): { lines: number; sha256: string } {
  try {
    requireShape(Footer, line)
    return line
  } catch (error) {
    throw error instanceof Mismatch ? misshapen(error, 'end') : error
  }
}

const misshapen = ({ problem, path }: Mismatch, line: string) =>
  invalid(problem, { field: path === '' ? line : `${line}.${path}`, rule: 'format' })

/** By name; with them, an import recognizes the key of the exporting installation. */
export const fingerprintsOf = (
  tables: readonly PortableTable[],
  sealing: Sealing,
): Record<string, string> =>
  Object.fromEntries(
    tables.flatMap(({ tied }) =>
      tied ? [[tied.name, sealing.fingerprint(tied.purpose, KIND)]] : [],
    ),
  )
