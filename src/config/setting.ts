import { type Kind, optional, type Written } from './kind.ts'

/** One thing that can be set: all that the loader, the example and `config show` know of it. */
export interface Setting<T = unknown> {
  readonly kind: Kind<T>
  /** The default as a file would have it. */
  readonly written: Written
  readonly default: T
  readonly help: string
  /** Never shown, never an option on the command line; may stand in a file of its own. */
  readonly secret: boolean
}

/** A table of the file. */
export interface Table<S extends Settings = Settings> {
  readonly about: string
  readonly settings: S
  /** Its tables all hold the same settings, so the example shows the first. */
  readonly alike: boolean
}

export interface Settings {
  readonly [name: string]: Setting | Table
}

/** The values of a tree of settings, under the same names. */
export type ValuesOf<S extends Settings> = {
  readonly [Name in keyof S]: S[Name] extends Table<infer Inner>
    ? ValuesOf<Inner>
    : S[Name] extends Setting<infer Value>
      ? Value
      : never
}

/** Declares a setting. A default that its own kind refuses stops the program at once. */
export function setting<T>(kind: Kind<T>, written: Written, help: string): Setting<T> {
  const read = kind.read(written)
  if ('problem' in read) throw new TypeError(`${written}: ${read.problem}`)
  return { kind, written, default: read.value, help, secret: false }
}

/** Declares a setting that nobody has to make. */
export const unset = <T>(kind: Kind<T>, help: string) => setting(optional(kind), '', help)

export const secret = <T>(kind: Kind<T>, help: string) => ({ ...unset(kind, help), secret: true })

export const table = <S extends Settings>(about: string, settings: S): Table<S> => ({
  about,
  settings,
  alike: false,
})

/** One table of the same settings for each name. */
export const tableEach = <Name extends string, S extends Settings>(
  names: readonly Name[],
  about: string,
  settings: S,
): Table<Readonly<Record<Name, Table<S>>>> => ({
  about,
  settings: Object.fromEntries(names.map((name) => [name, table('', settings)])) as Record<
    Name,
    Table<S>
  >,
  alike: true,
})
