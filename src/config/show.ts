import { catalogue, isSection, type Leaf, leaves, leavesIn, type Section } from './catalogue.ts'
import type { Written } from './kind.ts'
import type { Origins } from './load.ts'
import type { Config } from './settings.ts'

/** One line of `config show`. */
export interface SettingRow {
  key: string
  /** The value as written in a file; null if not set. */
  value: Written
  /** `default`, `file gatehouse.toml:12`, `environment GATEHOUSE_LOG_LEVEL`, `flag --server-port`. */
  origin: string
}

const REDACTED = '[redacted]'

/** All settings in the order of the file, with secrets redacted. */
export function describeConfig(config: Config, origin: Origins): SettingRow[] {
  return rowsOf(catalogue, config, origin)
}

/** The rows as lines of TOML. */
export const formatRows = (rows: readonly SettingRow[]): string =>
  rows.map(({ key, value, origin }) => `${key} = ${toToml(value)}  # ${origin}\n`).join('')

/**
 * A configuration file with the settings that are not defaults, and where each comes from. Secrets are
 * commented out, to be entered again.
 */
export function renderFile(rows: readonly SettingRow[]): string {
  const customized = rows.filter(({ origin, value }) => origin !== 'default' && value !== null)
  const tables = [...Map.groupBy(customized, ({ key }) => tableOf(key))].map(([table, of]) =>
    [...(table === '' ? [] : [`[${table}]`]), ...of.map(lineOf)].join('\n'),
  )
  return `${tables.join('\n\n')}\n`
}

/** The table of a key in the file: `server` of `server.port`. */
export const tableOf = (key: string): string => key.slice(0, Math.max(key.lastIndexOf('.'), 0))

/** The name of a key in its table: `port` of `server.port`. */
export const wordOf = (key: string): string => key.slice(key.lastIndexOf('.') + 1)

const lineOf = ({ key, value, origin }: SettingRow): string => {
  const isHidden = value === REDACTED
  return `${isHidden ? '#' : ''}${wordOf(key)} = ${toToml(isHidden ? '…' : value)}  # ${origin}`
}

/** What a setting is for and what it may be, in sentences, and the variable that sets it. */
export function describeSetting(key: string): { help: string; variable: string } | undefined {
  const leaf = leaves.find((leaf) => leaf.key === key)
  if (!leaf) return undefined
  const { help, kind } = leaf.setting
  return { help: `${help} Must be ${kind.expected}.`, variable: leaf.variable }
}

/** A value in TOML, whose basic strings allow all escapes of JSON. */
export function toToml(value: Written): string {
  if (value === null) return '""'
  return Array.isArray(value) ? `[${value.map(toToml).join(', ')}]` : JSON.stringify(value)
}

function rowsOf(section: Section, values: unknown, origin: Origins): SettingRow[] {
  return [...section.entries.values()]
    .filter((entry) => !section.alike || !isSection(entry) || isTouched(entry, origin))
    .flatMap((entry) => {
      const value = (values as Record<string, unknown>)[entry.name]
      return isSection(entry) ? rowsOf(entry, value, origin) : [rowOf(entry, value, origin)]
    })
}

/** Whether a table has a value that is not a default; unused providers are left out. */
const isTouched = (section: Section, origin: Origins) =>
  leavesIn(section).some(({ key }) => origin.get(key)?.source !== 'default')

function rowOf({ key, setting }: Leaf, value: unknown, origins: Origins): SettingRow {
  const { source, at } = origins.get(key) ?? { source: 'default', at: '' }
  const written = setting.kind.write(value)
  return {
    key,
    value: setting.secret && written !== null ? REDACTED : written,
    origin: `${source} ${at}`.trim(),
  }
}
