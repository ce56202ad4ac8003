import type { Readable, Writable } from 'node:stream'
import type { ParseArgsOptionDescriptor } from 'node:util'
import type { Config, LoadResult } from '../config/index.ts'
import { UNSAFE_IN_LINE } from '../platform/unsafe-characters.ts'

/** Exit codes of commands. */
export const EXIT = { ok: 0, failure: 1, usage: 2, config: 78 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The environment of the program, which tests replace. */
export interface Io {
  /** Resolves once the text is written; rejects if it can't be, unless the reader closed the pipe. */
  out: (text: string) => void | Promise<void>
  err: (text: string) => void
  /** All of standard input: for secrets, which don't belong on a command line. */
  in: () => Promise<string>
  /** Standard output for binary data such as an archive. */
  outStream: Writable
  /** Opens standard input for binary data; it stays closed until this is called. */
  inStream: () => Readable
  isOutTerminal: boolean
  isInTerminal: boolean
  /** Whether standard error is a terminal. */
  isWatched: boolean
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** The command that runs this program, for messages. */
  program: string
}

/** Stands for standard input or standard output instead of a file. */
export const STANDARD_STREAM = '-'

export interface Option extends ParseArgsOptionDescriptor {
  help: string
  /** Placeholder for the value in the help text. */
  value?: string
  required?: boolean
}

export interface Invocation {
  io: Io
  loaded: LoadResult
  /** Given options by name; repeatable ones are lists. */
  options: Record<string, string | boolean | string[] | undefined>
  /** Words after the verb, in the order of `positionals`. */
  args: string[]
}

/** An invocation with a valid configuration. */
export interface Configured extends Invocation {
  config: Config
}

/** A result as one object for `--json` and as text for people. */
export interface Answer {
  json: object
  text: string
  /** Exit code; 0 by default. Commands such as `doctor` report their finding with it. */
  exit?: ExitCode
}

/** An exit code if the command has already printed its output. */
type Outcome = Answer | ExitCode

interface Described {
  /** The words of the command, such as `tenant create`. */
  name: string
  summary: string
  options?: Record<string, Option>
  /** Names of the words after the verb; optional ones in brackets. */
  positionals?: readonly string[]
}

/** A command that needs a valid configuration. */
export interface ConfiguredCommand extends Described {
  run: (invocation: Configured) => Outcome | Promise<Outcome>
}

/** A command that runs with any configuration, even an invalid one. */
export interface BareCommand extends Described {
  runBare: (invocation: Invocation) => Outcome | Promise<Outcome>
}

export type Command = ConfiguredCommand | BareCommand

/** The command line is wrong: exit code 2 and a pointer to `--help`. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The value of an option that accepts only `words`. Throws `UsageError` for any other. */
export function oneOf<const T extends string>(
  words: readonly T[],
  option: string,
  value: Invocation['options'][string],
): T {
  const word = words.find((candidate) => candidate === value)
  if (word === undefined) throw new UsageError(`--${option}: must be one of ${words.join(', ')}`)
  return word
}

/** Table lines. Control characters become blanks: they could break a line or control a terminal. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll(UNSAFE_IN_LINE, ' ')))
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
