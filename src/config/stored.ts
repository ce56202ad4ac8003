import { catalogue, isSection, type Leaf, leavesIn } from './catalogue.ts'
import type { Origins } from './load.ts'
import { conflictsIn, requiredOf } from './rules.ts'
import { ALL_PROVIDERS, type AnyProvider, type Config } from './settings.ts'

/** A table of the file that can be set in the console instead. */
export type StorableTable = 'mail' | `gate.providers.${AnyProvider}`

export const STORABLE_TABLES: readonly StorableTable[] = [
  'mail',
  ...ALL_PROVIDERS.map((name) => `gate.providers.${name}` as const),
]

/** The values of a table by their names in the file, as written there: `{ client_id: 'abc' }`. */
export type StoredValues = Readonly<Record<string, string>>

export interface StoredProblem {
  /** The name of the setting in its table. */
  key: string
  message: string
}

/** Whether the file, the environment or an option sets any value of a table: then it wins as a whole. */
export const isGiven = (config: Config, table: StorableTable): boolean =>
  Object.values(valuesAt(config, table)).some((value) => value !== undefined)

/** The configuration with the values of a table, by the rules of the file; or their problems. */
export function withStored(
  config: Config,
  table: StorableTable,
  stored: StoredValues,
): { config: Config } | { problems: readonly StoredProblem[] } {
  const leaves = leavesOf(table)
  const read = leaves.map((leaf) => ({ leaf, ...leaf.setting.kind.read(stored[leaf.word] ?? '') }))
  const refused = read.flatMap((one) =>
    'problem' in one ? [{ key: one.leaf.word, message: one.problem }] : [],
  )
  const values = read.flatMap((one) => ('value' in one ? [[one.leaf.name, one.value]] : []))
  const changed = replaced(config, table, Object.fromEntries(values))
  const missing = requiredIn(table).filter((word) => (stored[word] ?? '') === '')
  const problems = [
    ...refused,
    ...missing.map((key) => ({ key, message: 'is required' })),
    ...unknownIn(leaves, stored),
  ]
  if (problems.length === 0) problems.push(...conflictsAt(changed, table))
  return problems.length > 0 ? { problems } : { config: changed }
}

/** The origins with those of stored tables. */
export const originsWith = (origins: Origins, tables: Iterable<StorableTable>): Origins =>
  new Map([
    ...origins,
    ...[...tables].flatMap((table) =>
      leavesOf(table).map(({ key }) => [key, { source: 'database', at: '' }] as const),
    ),
  ])

/** The settings without which a table is of no use, by their names in it. */
export const requiredIn = (table: StorableTable): readonly string[] =>
  table === 'mail' ? ['smtp_url', 'from'] : requiredOf(providerAt(table))

const providerAt = (table: StorableTable) => table.slice(table.lastIndexOf('.') + 1) as AnyProvider

const unknownIn = (leaves: readonly Leaf[], stored: StoredValues): StoredProblem[] =>
  Object.keys(stored)
    .filter((key) => !leaves.some(({ word }) => word === key))
    .map((key) => ({ key, message: 'is not a setting' }))

function conflictsAt(config: Config, table: StorableTable): StoredProblem[] {
  const prefix = `${table}.`
  return conflictsIn(config).flatMap(({ keys, message }) =>
    keys[0].startsWith(prefix) ? [{ key: keys[0].slice(prefix.length), message }] : [],
  )
}

function leavesOf(table: StorableTable): Leaf[] {
  let section = catalogue
  for (const word of table.split('.')) {
    const entry = section.entries.get(word)
    if (!entry || !isSection(entry)) throw new TypeError(`${table} is not a table`)
    section = entry
  }
  return leavesIn(section)
}

const valuesAt = ({ mail, gate }: Config, table: StorableTable): object =>
  table === 'mail' ? mail : gate.providers[providerAt(table)]

const replaced = (config: Config, table: StorableTable, values: object): Config =>
  (table === 'mail'
    ? { ...config, mail: values }
    : {
        ...config,
        gate: {
          ...config.gate,
          providers: { ...config.gate.providers, [providerAt(table)]: values },
        },
      }) as Config
