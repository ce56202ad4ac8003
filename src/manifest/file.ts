import { parse, stringify, TomlDate, TomlError } from 'smol-toml'
import { syntaxProblem } from '../config/toml-file.ts'
import { indexLines } from '../config/toml-lines.ts'
import { parseJson } from '../http/body.ts'
import { AppError, type FieldError, invalid, renamed } from '../platform/errors.ts'
import type { Item } from './section.ts'
import { isObject } from './values.ts'

type LineOf = (path: readonly string[]) => number | undefined
type Variables = Readonly<Record<string, string | undefined>>

/** A manifest as read from a text. */
export interface ParsedManifest {
  manifest: unknown
  /** The same error, with the line of each field in the text. */
  located: (error: AppError) => AppError
}

/**
 * Parses a manifest in TOML, or in JSON if it begins with a brace. `${NAME}` in a text stands for a variable,
 * `$${` for `${`. Throws `invalid`, with the line, for a mistake in the syntax, an unknown variable, or any
 * variable where there are none.
 */
export function parseManifest(text: string, variables?: Variables): ParsedManifest {
  const isJson = text.trimStart().startsWith('{')
  const given = isJson ? aboutText(() => parseJson(text)) : parseToml(text)
  const lineOf = isJson ? () => undefined : indexLines(text)
  const located = (error: AppError): AppError => atLines(error, lineOf)
  try {
    return { manifest: expanded(given, variables, []), located }
  } catch (error) {
    throw error instanceof AppError ? located(error) : error
  }
}

/** The errors of a request body, without a field of that name. */
function aboutText<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof AppError ? renamed(error, () => undefined) : error
  }
}

function parseToml(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const at = { line: error.line, column: error.column }
    throw new AppError('invalid', [{ problem: syntaxProblem(error), at, rule: 'format' }])
  }
}

const VARIABLE = /\$\$\{|\$\{([^}]*)\}/g

/** Replaces variables in all texts; dates become texts. */
function expanded(
  value: unknown,
  variables: Variables | undefined,
  path: readonly string[],
): unknown {
  if (value instanceof TomlDate) return value.toISOString()
  if (Array.isArray(value))
    return value.map((item, n) => expanded(item, variables, [...path, `${n}`]))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        expanded(item, variables, [...path, name]),
      ]),
    )
  if (typeof value !== 'string') return value
  return value.replaceAll(VARIABLE, (match, name: string | undefined) => {
    if (name === undefined) return match.slice(1)
    const found = variables && Object.hasOwn(variables, name) ? variables[name] : undefined
    if (found !== undefined) return found
    const problem = variables
      ? `needs the environment variable ${name}`
      : `needs the variable ${name}, which only the command line replaces. Write its value`
    throw invalid(`${problem}. For a literal \${, write $\${`, {
      field: path.join('.'),
      rule: 'required',
    })
  })
}

function atLines(error: AppError, lineOf: LineOf): AppError {
  const [first, ...rest] = error.fieldErrors.map((one) => atLine(one, lineOf))
  return new AppError(error.kind, [first as FieldError, ...rest], { code: error.code })
}

/** A position within a text, such as policies, becomes part of the problem. */
function atLine({ at, problem, ...error }: FieldError, lineOf: LineOf): FieldError {
  const inText = at ? `line ${at.line}, column ${at.column}: ${problem}` : problem
  const path = error.field?.split('.') ?? []
  const lines = path.map((_, index) => lineOf(path.slice(0, path.length - index)))
  const line = lines.find((one) => one !== undefined)
  return { ...error, problem: inText, ...(line !== undefined && { at: { line, column: 1 } }) }
}

/** A manifest as TOML, or as JSON. Parsing it gives the same manifest. */
export const printManifest = (manifest: Item, format: 'toml' | 'json' = 'toml'): string =>
  format === 'json' ? `${JSON.stringify(escaped(manifest), null, 2)}\n` : printToml(manifest)

const printToml = (manifest: Item): string =>
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
