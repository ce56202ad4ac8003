import { resolve } from 'node:path'
import { catalogue, isSection, type Leaf, leaves, type Section } from './catalogue.ts'
import { readConfigFile } from './config-file.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { type Flags, readFlags } from './flags.ts'
import { type ConfigError, type Given, type Origin, problemWith } from './reading.ts'
import { conflictsIn } from './rules.ts'
import type { Config } from './settings.ts'
import { type ReadFile, readTextFile } from './text-file.ts'

export interface LoadInput {
  /** Options by name without dashes; `config` names the file. */
  flags: Flags
  env: Environment
  /** Where relative paths start. */
  cwd: string
  readFile?: ReadFile
}

/** Where each setting comes from, by its key in the file (`server.port`). */
export type Origins = ReadonlyMap<string, Origin>

/** The configuration, or all errors in it. `file` is the configuration file, if there is one. */
export type LoadResult =
  | { ok: true; config: Config; origin: Origins; file?: string; warnings: ConfigError[] }
  | { ok: false; errors: ConfigError[]; file?: string; warnings: ConfigError[] }

const DEFAULT: Origin = { source: 'default', at: '' }

/** Options override variables, then the file, then defaults. Overridden values are checked too. */
export function loadConfig({ flags, env, cwd, readFile = readTextFile }: LoadInput): LoadResult {
  const read: ReadFile = (path) => readFile(resolve(cwd, path))
  const fromFile = readConfigFile(flags.config, env, read)
  const readings = [readFlags(flags), readEnvironment(env, read), fromFile]
  const given = new Map(readings.toReversed().flatMap((reading) => [...reading.given]))
  const config = assemble(given, cwd)
  const origin = new Map(leaves.map(({ key }) => [key, given.get(key)?.origin ?? DEFAULT]))

  const refused = readings.flatMap((reading) => reading.errors)
  const errors = [...refused, ...conflicts(config, origin, refused)]
  const rest = { file: fromFile.file, warnings: readings.flatMap((reading) => reading.warnings) }
  return errors.length > 0 ? { ok: false, errors, ...rest } : { ok: true, config, origin, ...rest }
}

/** The configuration from the given values and defaults. `Config` is the type of the catalogue. */
const assemble = (given: ReadonlyMap<string, Given>, cwd: string) =>
  valuesOf(catalogue, (leaf) => {
    const found = given.get(leaf.key)
    const value = found ? found.value : leaf.setting.default
    return leaf.setting.kind.resolve?.(value, cwd) ?? value
  }) as Config

function valuesOf(section: Section, valueFor: (leaf: Leaf) => unknown): unknown {
  const values = [...section.entries.values()].map((entry) => [
    entry.name,
    isSection(entry) ? valuesOf(entry, valueFor) : valueFor(entry),
  ])
  return Object.freeze(Object.fromEntries(values))
}

/** Conflicts between settings, except where one was refused and has its default here. */
function conflicts(
  config: Config,
  origin: Origins,
  refused: readonly ConfigError[],
): ConfigError[] {
  if (refused.some(({ key }) => key === undefined)) return []
  const unsure = new Set(refused.map(({ key }) => key))
  return conflictsIn(config)
    .filter(({ keys }) => !keys.some((key) => unsure.has(key)))
    .map(({ keys, message }) => {
      const key = keys.find((key) => origin.get(key)?.source !== 'default') ?? keys[0]
      const leaf = leaves.find((leaf) => leaf.key === key) as Leaf
      return problemWith(leaf, origin.get(key) ?? DEFAULT, message)
    })
}
