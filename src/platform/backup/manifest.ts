import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { invalid } from '../errors.ts'
import { parse } from './files.ts'

/** The version of the archive format; increases when older executables can't read new archives. */
const FORMAT = 1

const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
/** A short text without characters that control a terminal, because restores print it. */
const word = Type.String({ pattern: '^[\\w.+-]{1,100}$' })

const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  app_version: word,
  created_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  /** Null if the database has no installation id yet. */
  installation: Type.Union([word, Type.Null()]),
  schema: Type.Array(Type.Object({ id: word, hash: sha256 }), { maxItems: 10_000 }),
  database: Type.Object({ bytes: Type.Integer({ minimum: 1 }), sha256 }),
  /** Null if the archive has no key. */
  master_key: Type.Union([Type.Object({ id: word, sha256 }), Type.Null()]),
})

/** The first file of an archive, which describes the archive before the rest is unpacked. */
export type Manifest = Static<typeof Manifest>

export const writeManifest = (described: Omit<Manifest, 'format'>): string =>
  `${JSON.stringify({ format: FORMAT, ...described }, null, 2)}\n`

/** Parses a manifest. Throws `invalid` if it is not valid or has a later format. */
export function readManifest(text: string): Manifest {
  const written = parse(text)
  if (Value.Check(Manifest, written)) return written
  const format = formatOf(written)
  throw invalid(
    format !== undefined && format > FORMAT
      ? `the archive has format ${format}, but this version of Gatehouse reads format ${FORMAT}. Use a newer version`
      : 'the archive is not a Gatehouse backup: its manifest cannot be read',
    { rule: 'format' },
  )
}

const Formatted = Type.Object({ format: Type.Integer() })

const formatOf = (written: unknown): number | undefined =>
  Value.Check(Formatted, written) ? written.format : undefined
