import { type Leaf, leaves } from './catalogue.ts'
import { nearest } from './nearest.ts'
import { emptyReading, type Reading, take } from './reading.ts'
import { type FileText, type ReadFile, valueIn } from './text-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The variable that names the configuration file. */
export const FILE_VARIABLE = 'GATEHOUSE_CONFIG'

/** Not a setting: the supervisor of several processes sets it for each of them. */
export const WORKER_VARIABLE = 'GATEHOUSE_WORKER'

const known = new Set([
  FILE_VARIABLE,
  WORKER_VARIABLE,
  ...leaves.flatMap(({ variable }) => [variable, `${variable}_FILE`]),
])

/** Reads the variable of every setting, or the one with `_FILE` at its end, which names a file with the value. */
export function readEnvironment(env: Environment, readFile: ReadFile): Reading {
  const reading = emptyReading()
  for (const leaf of leaves) readVariable(reading, leaf, env, readFile)
  for (const name of Object.keys(env)) if (isUnknown(name)) reading.warnings.push(unknown(name))
  return reading
}

function readVariable(reading: Reading, leaf: Leaf, env: Environment, readFile: ReadFile) {
  const name = leaf.variable
  const fileName = `${name}_FILE`
  const [value, path] = [env[name], env[fileName]]
  if (value !== undefined && path !== undefined) {
    const message = `${fileName} is also set: remove one of them`
    reading.errors.push({ at: name, key: leaf.key, message })
  } else if (value !== undefined) takeText(reading, leaf, value, name)
  else if (path !== undefined) takeFile(reading, leaf, valueIn(path, readFile), fileName)
}

function takeFile(reading: Reading, leaf: Leaf, file: FileText, at: string) {
  if ('text' in file) takeText(reading, leaf, file.text, at)
  else reading.errors.push({ at, key: leaf.key, message: file.problem })
}

const takeText = (reading: Reading, leaf: Leaf, text: string, at: string) =>
  take(reading, leaf, leaf.setting.kind.fromText(text), { source: 'environment', at })

/** Unknown variables are only warnings, because orchestrators set some with the same prefix. */
const isUnknown = (name: string) => name.startsWith('GATEHOUSE_') && !known.has(name)

function unknown(name: string) {
  const hint = nearest(name, known)
  return { at: name, message: `unknown variable${hint ? `; did you mean ${hint}?` : ''}` }
}
