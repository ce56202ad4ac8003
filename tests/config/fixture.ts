import { type Config, formatErrors, type LoadInput, loadConfig } from '../../src/config/index.ts'

export interface Setup extends Partial<LoadInput> {
  /** The text of `./gatehouse.toml`. */
  toml?: string
  files?: Record<string, string>
}

export function load({ toml, files = {}, flags = {}, env = {}, cwd = '/app', readFile }: Setup) {
  const there: Record<string, string> = { ...files }
  if (toml !== undefined) there[`${cwd}/gatehouse.toml`] = toml
  return loadConfig({ flags, env, cwd, readFile: readFile ?? ((path) => there[path] ?? absent()) })
}

export const absent = (code = 'ENOENT') => {
  throw Object.assign(new Error(code), { code })
}

function accepted(setup: Setup) {
  const result = load(setup)
  if (result.ok) return result
  throw new Error(`refused:\n${formatErrors(result.errors)}`)
}

export const configOf = (setup: Setup): Config => accepted(setup).config

export const originsOf = (setup: Setup) => accepted(setup).origin

/** The errors of a refused setup, as lines. */
export function errorsOf(setup: Setup): string[] {
  const result = load(setup)
  if (result.ok) throw new Error('accepted')
  return formatErrors(result.errors).trimEnd().split('\n')
}

export const warningsOf = (setup: Setup): string[] =>
  load(setup).warnings.map(({ at, message }) => `${at}: ${message}`)

/** `port = 1` in the table `server`, for `server.port` and `1`. */
export function tomlOf(key: string, value: string): string {
  const [table, word] = [key.split('.').slice(0, -1).join('.'), key.split('.').at(-1)]
  return table === '' ? `\n${word} = ${value}` : `[${table}]\n${word} = ${value}`
}
