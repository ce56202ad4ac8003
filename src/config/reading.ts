import type { Leaf } from './catalogue.ts'

/** Where the value of a setting comes from. */
export interface Origin {
  readonly source: 'flag' | 'environment' | 'file' | 'database' | 'default'
  /** The option, the variable, or file and line; empty for a default and what the console stored. */
  readonly at: string
}

/** An error or warning about the configuration. */
export interface ConfigError {
  /** The option, the variable, or file and line. */
  readonly at: string
  /** The key of the setting in the file; undefined if the whole file could not be read. */
  readonly key?: string
  readonly message: string
}

export interface Given {
  readonly value: unknown
  readonly origin: Origin
}

/** The settings of one source, with errors and warnings. */
export interface Reading {
  readonly given: Map<string, Given>
  readonly errors: ConfigError[]
  readonly warnings: ConfigError[]
}

export const emptyReading = (): Reading => ({ given: new Map(), errors: [], warnings: [] })

/** Adds the value of a setting to a reading, or an error if it is invalid. */
export function take({ given, errors }: Reading, leaf: Leaf, raw: unknown, origin: Origin) {
  const read = leaf.setting.kind.read(raw)
  if ('value' in read) given.set(leaf.key, { value: read.value, origin })
  else errors.push(problemWith(leaf, origin, read.problem))
}

/** An error about a setting. In a file, the message names the setting, because `at` is only a line. */
export const problemWith = ({ key, label }: Leaf, { source, at }: Origin, problem: string) => ({
  at,
  key,
  message: source === 'file' ? `${label}: ${problem}` : problem,
})

/** The errors as text, one per line. */
export const formatErrors = (errors: readonly ConfigError[]): string =>
  errors.map(({ at, message }) => `${at}: ${message}\n`).join('')
