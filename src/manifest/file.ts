import { parse, stringify, TomlDate, TomlError } from 'smol-toml'
import { indexLines } from '../config/toml-lines.ts'
import { AppError, type FieldError, invalid } from '../platform/errors.ts'
import type { Item } from './section.ts'
import { isObject } from './values.ts'

/** A manifest as read from a file. */
export interface ManifestFile {
  manifest: unknown
  /** The same error, with the line of each field in the file. */
  located: (error: AppError) => AppError
}

/**
 * Parses a manifest in TOML, or in JSON if it begins with a brace. `${NAME}` in a text stands for a variable
 * of `env`, `$${` for `${`. Throws `invalid` for a mistake in the syntax or an unset variable.
 */
export function parseManifest(
  name: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): ManifestFile {
  const isJson = text.trimStart().startsWith('{')
  const lineOf = isJson ? () => undefined : indexLines(text)
  const located = (error: AppError): AppError => atLines(name, error, lineOf)
  const given = isJson ? parseJson(name, text) : parseToml(name, text)
  try {
    return { manifest: expanded(given, env, []), located }
  } catch (error) {
    throw error instanceof AppError ? located(error) : error
  }
}

function parseToml(name: string, text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [problem = ''] = error.message.split('\n')
    throw invalid(problem.replace('Invalid TOML document: ', 'is no valid TOML: '), {
      field: `${name}:${error.line}`,
      rule: 'format',
    })
  }
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('is no valid JSON', { field: name, rule: 'format' })
  }
}

const VARIABLE = /\$\$\{|\$\{([^}]*)\}/g

/** Replaces variables in all texts; dates become texts. */
function expanded(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  path: readonly string[],
): unknown {
  if (value instanceof TomlDate) return value.toISOString()
  if (Array.isArray(value)) return value.map((item, n) => expanded(item, env, [...path, `${n}`]))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, expanded(item, env, [...path, name])]),
    )
  if (typeof value !== 'string') return value
  return value.replaceAll(VARIABLE, (match, name: string | undefined) => {
    if (name === undefined) return match.slice(1)
    const found = env[name]
    if (found !== undefined) return found
    throw invalid(`needs the environment variable ${name}. For a literal \${, write $\${`, {
      field: path.join('.'),
      rule: 'required',
    })
  })
}

function atLines(
  name: string,
  error: AppError,
  lineOf: (path: readonly string[]) => number | undefined,
): AppError {
  const place = ({ field }: FieldError): string => {
    const path = field?.split('.') ?? []
    for (let length = path.length; length > 0; length--) {
      const line = lineOf(path.slice(0, length))
      if (line !== undefined) return `${name}:${line}: `
    }
    return field === undefined ? name : `${name}: `
  }
  const moved = (one: FieldError): FieldError => ({ ...one, field: place(one) + (one.field ?? '') })
  const [first, ...rest] = error.fieldErrors
  return new AppError(error.kind, [moved(first), ...rest.map(moved)], { code: error.code })
}

/** A manifest as TOML. Parsing it gives the same manifest. */
export const printManifest = (manifest: Item): string =>
  stringify(withoutNull(escaped(manifest)))
    .split('\n')
    .map((line) => multiline(line))
    .join('\n')

/** TOML has no null, which is always the default. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) =>
      item === null ? [] : [[name, withoutNull(item)]],
    ),
  )
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(escaped)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, escaped(item)]))
}

const ONE_LINE = /^(\S+ = )"((?:[^"\\]|\\.)*)"$/

/** Prints a text of several lines as such, such as policies. */
function multiline(line: string): string {
  const [, name, text = ''] = ONE_LINE.exec(line) ?? []
  if (name === undefined || !/(?<!\\)(?:\\\\)*\\n./.test(text)) return line
  const lines = text.replaceAll(/\\(.)/g, (pair, char) =>
    char === 'n' ? '\n' : char === '"' ? '"' : pair,
  )
  const isClear = !lines.includes('"""') && !lines.endsWith('"')
  return isClear ? `${name}"""\n${lines}"""` : line
}
