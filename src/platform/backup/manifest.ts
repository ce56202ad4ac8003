import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { invalid } from '../errors.ts'
import { parse } from './files.ts'

/** Goes up when an executable of before could no longer read the archive. */
const FORMAT = 1

const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** These are shown to whoever restores: nothing that a terminal obeys. */
const word = Type.String({ pattern: '^[\\w.+-]{1,100}$' })

const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  app_version: word,
  created_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  /** Null when the database has not been given one yet. */
  installation: Type.Union([word, Type.Null()]),
  schema: Type.Array(Type.Object({ id: word, hash: sha256 }), {
    maxItems: 10_000,
  }),
  database: Type.Object({ bytes: Type.Integer({ minimum: 1 }), sha256 }),
  /** Null for an archive without one. */
  master_key: Type.Union([Type.Object({ id: word, sha256 }), Type.Null()]),
})

/** Tells of an archive what it is, before anything of it is unpacked. */
export type Manifest = Static<typeof Manifest>

export const writeManifest = (described: Omit<Manifest, 'format'>): string =>
  `${JSON.stringify({ format: FORMAT, ...described }, null, 2)}\n`

/** Refuses what is no manifest, and that of an archive from a later version. */
export function readManifest(text: string): Manifest {
  const written = parse(text)
  if (Value.Check(Manifest, written)) return written
  const format = formatOf(written)
  throw invalid(
    format !== undefined && format > FORMAT
      ? `the archive has format ${format}; this version of Gatehouse reads format ${FORMAT}. Use a later version`
      : 'the archive is not a backup of Gatehouse: its manifest cannot be read',
    { rule: 'format' },
  )
}

const Formatted = Type.Object({ format: Type.Integer() })

const formatOf = (written: unknown): number | undefined =>
  Value.Check(Formatted, written) ? written.format : undefined
