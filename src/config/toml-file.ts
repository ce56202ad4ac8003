import { parse, TomlError } from 'smol-toml'
import { catalogue, isSection, type Leaf, labelOf, leaves, type Section } from './catalogue.ts'
import { nearest } from './nearest.ts'
import { emptyReading, type Origin, problemWith, type Reading, take } from './reading.ts'
import { type ReadFile, valueIn } from './text-file.ts'
import { indexLines } from './toml-lines.ts'

type TomlTable = Readonly<Record<string, unknown>>
type Path = readonly string[]

/** Suffix of a secret's key that names a file with the value. */
const IN_FILE = '_file'

/** Reads the settings in `source`, the text of the configuration file called `name`. */
export function readToml(name: string, source: string, readFile: ReadFile): Reading {
  const reading = emptyReading()
  try {
    const table = parse(source)
    const lineOf = indexLines(source)
    const originOf = (path: Path): Origin => ({ source: 'file', at: at(name, lineOf(path)) })
    readTable({ reading, originOf, readFile }, catalogue, table, [])
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    reading.errors.push({ at: at(name, error.line), message: syntaxProblem(error) })
  }
  return reading
}

interface Task {
  reading: Reading
  originOf: (path: Path) => Origin
  readFile: ReadFile
}

function readTable(task: Task, section: Section, table: TomlTable, above: Path) {
  for (const [key, value] of Object.entries(table)) {
    const path = [...above, key]
    const entry = section.entries.get(key)
    const secret = secretInFile(section, key)
    if (entry && isSection(entry)) readSection(task, entry, value, path)
    else if (entry) take(task.reading, entry, value, task.originOf(path))
    else if (secret) readSecret(task, secret, { path, value, isDouble: secret.word in table })
    else refuse(task, path, unknown(section, path, value))
  }
}

function readSection(task: Task, section: Section, value: unknown, path: Path) {
  if (isTable(value)) readTable(task, section, value, path)
  else refuse(task, path, `[${section.key}]: must be a table`)
}

/** `client_secret_file = "/run/secrets/github"`. */
function readSecret(
  { reading, originOf, readFile }: Task,
  leaf: Leaf,
  { path, value, isDouble }: { path: Path; value: unknown; isDouble: boolean },
) {
  const origin = originOf(path)
  const refuse = (problem: string) =>
    reading.errors.push(problemWith({ ...leaf, label: labelOf(path) }, origin, problem))
  if (isDouble) return refuse(`${leaf.word} is also set: remove one of them`)
  if (typeof value !== 'string' || value === '') return refuse('must be a path')
  const file = valueIn(value, readFile)
  if ('problem' in file) refuse(file.problem)
  else take(reading, leaf, leaf.setting.kind.fromText(file.text), origin)
}

function secretInFile(section: Section, key: string): Leaf | undefined {
  const entry = key.endsWith(IN_FILE) && section.entries.get(key.slice(0, -IN_FILE.length))
  return entry && !isSection(entry) && entry.setting.secret ? entry : undefined
}

function refuse({ reading, originOf }: Task, path: Path, message: string) {
  reading.errors.push({ at: originOf(path).at, key: path.join('.'), message })
}

function unknown(section: Section, path: Path, value: unknown): string {
  const isTabular = isTable(value) || (Array.isArray(value) && value.some(isTable))
  const what = isTabular
    ? `${tableLabel(path)}: unknown table`
    : `${labelOf(path)}: unknown setting`
  const hint = hintFor(section, path.at(-1) ?? '')
  return hint ? `${what}; did you mean ${hint}?` : what
}

/** A similar name in the same table, or the same name in another table. */
function hintFor(section: Section, key: string): string | undefined {
  const files = [...section.entries.keys()].filter((word) => secretInFile(section, word + IN_FILE))
  const like = nearest(key, [...section.entries.keys(), ...files.map((word) => word + IN_FILE)])
  const entry = section.entries.get(like ?? '')
  if (like) return entry && isSection(entry) ? `[${entry.key}]` : like
  const matches = leaves.filter((leaf) => leaf.word === key)
  return matches.length === 1 ? matches[0]?.label : undefined
}

const tableLabel = (path: Path) => labelOf([...path, '']).trimEnd()

const isTable = (value: unknown): value is TomlTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

const at = (name: string, line: number | undefined) => (line ? `${name}:${line}` : name)

/** The first line of the parser's error; the rest quotes the file, which may contain secrets. */
export const syntaxProblem = ({ message, column }: TomlError) =>
  `${(message.split('\n')[0] ?? '').replace('Invalid TOML document', 'not valid TOML')} (column ${column})`
