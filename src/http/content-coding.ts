import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'

/** Smallest result first. */
const CODINGS = ['br', 'zstd', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/** `fast` is for what one client gets, `small` for what is kept. */
export type Effort = 'fast' | 'small'

const LEVELS: Record<Coding, Record<Effort, number>> = {
  br: { fast: 4, small: 9 },
  zstd: { fast: 3, small: 12 },
  gzip: { fast: 6, small: 9 },
}

const { BROTLI_PARAM_QUALITY: QUALITY, ZSTD_c_compressionLevel: LEVEL } = constants
const compress = {
  br: promisify(brotliCompress),
  zstd: promisify(zstdCompress),
  gzip: promisify(gzip),
}

/** Compresses text on another thread. */
export function encode(
  text: string,
  coding: Coding,
  effort: Effort,
): Promise<Uint8Array<ArrayBuffer>> {
  const level = LEVELS[coding][effort]
  switch (coding) {
    case 'br':
      return compress.br(text, { params: { [QUALITY]: level } })
    case 'zstd':
      return compress.zstd(text, { params: { [LEVEL]: level } })
    case 'gzip':
      return compress.gzip(text, { level })
  }
}

/** The coding that a client prefers, or undefined to send text as it is: RFC 9110, 12.5.3. */
export function codingFor({ headers }: Request): Coding | undefined {
  const weights = weightsIn(headers.get('accept-encoding') ?? '')
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const [best] = CODINGS.toSorted((one, other) => weightOf(other) - weightOf(one))
  return best && weightOf(best) > 0 ? best : undefined
}

function weightsIn(accepted: string): ReadonlyMap<string, number> {
  const entries = accepted.toLowerCase().split(',', MAX_CODINGS)
  return new Map(
    entries.map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
    }),
  )
}

/** Most entries of a header that are read. */
const MAX_CODINGS = 20
