import { type Environment, FILE_VARIABLE } from './environment.ts'
import { emptyReading, type Reading } from './reading.ts'
import { type FileText, type ReadFile, textOf } from './text-file.ts'
import { readToml } from './toml-file.ts'

const USUAL_PLACES = ['gatehouse.toml', '/etc/gatehouse/gatehouse.toml']

export interface FileReading extends Reading {
  /** The file that was found, or that was named and is missing. */
  readonly file: string | undefined
}

/** Reads the named file, which must exist, or else the first existing one of the usual files. */
export function readConfigFile(
  flag: string | undefined,
  env: Environment,
  readFile: ReadFile,
): FileReading {
  if (flag !== undefined) return readAs(flag, '--config', textOf(flag, readFile), readFile)
  const named = env[FILE_VARIABLE]
  if (named) return readAs(named, FILE_VARIABLE, textOf(named, readFile), readFile)
  return readUsual(readFile)
}

function readUsual(readFile: ReadFile): FileReading {
  for (const name of USUAL_PLACES) {
    const file = textOf(name, readFile)
    if ('text' in file || !file.isAbsent) return readAs(name, name, file, readFile)
  }
  return { file: undefined, ...emptyReading() }
}

function readAs(name: string, at: string, file: FileText, readFile: ReadFile): FileReading {
  if ('text' in file) return { file: name, ...readToml(name, file.text, readFile) }
  return { file: name, ...emptyReading(), errors: [{ at, message: file.problem }] }
}
