import { type Static, Type } from '@sinclair/typebox'
import { invalid } from '../errors.ts'
import type { Sealing } from '../sealing/index.ts'
import type { Line } from './codec.ts'
import { Mismatch, readTime, requireShape } from './fields.ts'
import type { PortableTable } from './table.ts'

/** Goes up when an older Gatehouse could not make sense of the file any more. */
const FORMAT = 1
const KIND = 'gatehouse.export'

/** More than the largest job or document takes: whoever reads a file does not take in all of it. */
export const MAX_LINE_LENGTH = 4 * 1024 * 1024

export const Header = Type.Object(
  {
    kind: Type.Literal(KIND),
    format: Type.Literal(FORMAT),
    version: Type.String({ maxLength: 100 }),
    exported_at: Type.String(),
    /** Where it comes from. */
    installation: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
    tenant: Type.String({ minLength: 1, maxLength: 100 }),
    /** The last migration of the database that it was read from. */
    schema: Type.String({ maxLength: 100 }),
    /** What keys begin with there. */
    key_prefix: Type.String({ pattern: '^[a-z][a-z0-9]{0,15}$' }),
    /** One of each kind that rows depend on: where it comes out the same, they go on working. */
    fingerprints: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
)
export type Header = Static<typeof Header>

const Footer = Type.Object(
  {
    kind: Type.Literal('end'),
    /** Those before it. */
    lines: Type.Integer({ minimum: 1 }),
    /** Over the bytes of those. */
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  { additionalProperties: false },
)

export const newHeader = (of: Omit<Header, 'kind' | 'format'>): Header => ({
  kind: KIND,
  format: FORMAT,
  ...of,
})

/** Throws `invalid` unless the first line begins an export that this executable understands. */
export function readHeader(line: unknown): Header {
  const { kind, format } = line as { kind?: unknown; format?: unknown }
  if (kind !== KIND) throw invalid('the file is not an export of a tenant', { rule: 'format' })
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

/** Throws `invalid` unless the last line is the end of one. */
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

/** What fingerprints of each purpose look like under the key of this installation. */
export const fingerprintsOf = (
  tables: readonly PortableTable[],
  sealing: Sealing,
): Record<string, string> =>
  Object.fromEntries(
    tables.flatMap(({ tied }) =>
      tied ? [[tied.name, sealing.fingerprint(tied.purpose, KIND)]] : [],
    ),
  )
