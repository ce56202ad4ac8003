import type { Leaf } from './catalogue.ts'

/** Where the value of a setting comes from. */
export interface Origin {
  readonly source: 'flag' | 'environment' | 'file' | 'default'
  /** The option, the variable, or file and line; empty for a default. */
  readonly at: string
}

/** Something wrong, or worth a warning, in what was configured. */
export interface ConfigError {
  /** The option, the variable, or file and line. */
  readonly at: string
  /** The setting concerned, as a file would name it; none when a whole file could not be read. */
  readonly key?: string
  readonly message: string
}

export interface Given {
  readonly value: unknown
  readonly origin: Origin
}

/** What one source of settings has to say. */
export interface Reading {
  readonly given: Map<string, Given>
  readonly errors: ConfigError[]
  readonly warnings: ConfigError[]
}

export const emptyReading = (): Reading => ({ given: new Map(), errors: [], warnings: [] })

/** Adds the value of a setting to a reading, or says why it is none. */
export function take({ given, errors }: Reading, leaf: Leaf, raw: unknown, origin: Origin) {
  const read = leaf.setting.kind.read(raw)
  if ('value' in read) given.set(leaf.key, { value: read.value, origin })
  else errors.push(problemWith(leaf, origin, read.problem))
}

/** In a file the place is a line, which needs the setting's name beside it. */
export const problemWith = ({ key, label }: Leaf, { source, at }: Origin, problem: string) => ({
  at,
  key,
  message: source === 'file' ? `${label}: ${problem}` : problem,
})

/** One line a problem. */
export const formatErrors = (errors: readonly ConfigError[]): string =>
  errors.map(({ at, message }) => `${at}: ${message}\n`).join('')
