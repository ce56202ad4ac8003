import type { Setting, Settings, Table } from './setting.ts'
import { settings } from './settings.ts'

/** One setting with all of its names. */
export interface Leaf {
  readonly setting: Setting
  /** In the program: `maxBodyBytes`. */
  readonly name: string
  /** In its table of the file: `max_body`. */
  readonly word: string
  /** In the file as a whole: `server.max_body`. */
  readonly key: string
  /** For people: `[server] max_body`. */
  readonly label: string
  readonly variable: string
  readonly option: string
}

/** A table of the file with its settings and tables, by their names in the file. */
export interface Section {
  readonly about: string
  readonly alike: boolean
  readonly name: string
  /** `gate.password`; empty for the top of the file. */
  readonly key: string
  readonly entries: ReadonlyMap<string, Leaf | Section>
}

export const isSection = (entry: Leaf | Section): entry is Section => 'entries' in entry

/** The settings of a table and of all tables in it. */
export function leavesIn(section: Section): Leaf[] {
  return [...section.entries.values()].flatMap((entry) =>
    isSection(entry) ? leavesIn(entry) : [entry],
  )
}

/** The label of a path, such as `[server] port`. Quotes words that are not bare TOML keys. */
export function labelOf(path: readonly string[]): string {
  const words = path.map((word) => (/^[\w-]*$/.test(word) ? word : JSON.stringify(word)))
  const key = words.pop() ?? ''
  return words.length > 0 ? `[${words.join('.')}] ${key}` : key
}

function sectionOf(name: string, path: string[], { about, alike, settings }: Table): Section {
  const entries = new Map(Object.entries(settings).map((entry) => entryOf(path, entry)))
  return { about, alike, name, key: path.join('.'), entries }
}

function entryOf(path: string[], [name, node]: [string, Settings[string]]) {
  const isTable = 'settings' in node
  const word = snakeCase(isTable ? name : withoutUnit(name, node))
  const entry = isTable ? sectionOf(name, [...path, word], node) : leafOf(name, path, word, node)
  return [word, entry] as const
}

function leafOf(name: string, path: string[], word: string, setting: Setting): Leaf {
  // Shells don't allow a dash in the name of a variable.
  const words = [...path, word].join('.').replaceAll(/[.-]/g, '_')
  return {
    setting,
    name,
    word,
    key: [...path, word].join('.'),
    label: labelOf([...path, word]),
    variable: `GATEHOUSE_${words.toUpperCase()}`,
    option: words.replaceAll('_', '-'),
  }
}

function withoutUnit(name: string, { kind }: Setting): string {
  if (!name.endsWith(kind.unit)) throw new TypeError(`${name} must end in ${kind.unit}`)
  return name.slice(0, name.length - kind.unit.length)
}

const snakeCase = (name: string) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The whole file. */
export const catalogue: Section = sectionOf('', [], { about: '', alike: false, settings })

/** Every setting, in the order of the file. */
export const leaves: readonly Leaf[] = leavesIn(catalogue)
