import { type Config, formatErrors, type LoadInput, loadConfig } from '../../src/config/index.ts'

export interface Setup extends Partial<LoadInput> {
  /** The text of `./gatehouse.toml`. */
  toml?: string
  /** Other files by their full path. */
  files?: Record<string, string>
}

/** Loads a configuration out of nothing but the texts given here. */
export function load({ toml, files = {}, flags = {}, env = {}, cwd = '/app', readFile }: Setup) {
  const there: Record<string, string> = { ...files }
  if (toml !== undefined) there[`${cwd}/gatehouse.toml`] = toml
  return loadConfig({ flags, env, cwd, readFile: readFile ?? ((path) => there[path] ?? absent()) })
}

export const absent = (code = 'ENOENT') => {
  throw Object.assign(new Error(code), { code })
}

/** The configuration of a setup that must be accepted. */
export function configOf(setup: Setup): Config {
  const result = load(setup)
  if (result.ok) return result.config
  throw new Error(`refused:\n${formatErrors(result.errors)}`)
}

/** The lines of complaint of a setup that must be refused. */
export function errorsOf(setup: Setup): string[] {
  const result = load(setup)
  if (result.ok) throw new Error('accepted')
  return formatErrors(result.errors).trimEnd().split('\n')
}

export const originsOf = (setup: Setup) => {
  const result = load(setup)
  if (result.ok) return result.origin
  throw new Error(`refused:\n${formatErrors(result.errors)}`)
}

export const warningsOf = (setup: Setup): string[] =>
  load(setup).warnings.map(({ at, message }) => `${at}: ${message}`)
