import { type Kind, optional, type Written } from './kind.ts'

/** One setting, as the loader, the example file and `config show` use it. */
export interface Setting<T = unknown> {
  readonly kind: Kind<T>
  /** The default as written in a file. */
  readonly written: Written
  readonly default: T
  readonly help: string
  /** Whether it is a secret: never shown, no command line option, can be read from a separate file. */
  readonly secret: boolean
}

/** A table of the file. */
export interface Table<S extends Settings = Settings> {
  readonly about: string
  readonly settings: S
  /** Whether all of its tables have the same settings, so that the example shows only the first. */
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

/** Declares a setting. Throws if its kind refuses the default. */
export function setting<T>(kind: Kind<T>, written: Written, help: string): Setting<T> {
  const read = kind.read(written)
  if ('problem' in read) throw new TypeError(`${written}: ${read.problem}`)
  return { kind, written, default: read.value, help, secret: false }
}

/** Declares a setting without a default. */
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
