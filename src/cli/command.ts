import type { Readable, Writable } from 'node:stream'
import type { ParseArgsOptionDescriptor } from 'node:util'
import type { Config, LoadResult } from '../config/index.ts'
import { LINE_TRICKS } from '../platform/tricks.ts'

/** How a command ends: the numbers that shells and service managers see. */
export const EXIT = { ok: 0, failure: 1, usage: 2, config: 78 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The outside of the program, so that tests can stand in for it. */
export interface Io {
  /** Done once it was taken; fails where it cannot be, unless nobody reads it any more. */
  out: (text: string) => void | Promise<void>
  err: (text: string) => void
  /** All of standard input: for secrets, which have no place on a command line. */
  in: () => Promise<string>
  /** Standard output for what is no text, such as an archive. */
  outStream: Writable
  /** The same of standard input; not touched before it is asked for. */
  inStream: () => Readable
  isOutTerminal: boolean
  isInTerminal: boolean
  /** Whether standard error is a terminal, where somebody watches. */
  isWatched: boolean
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** What a person types to run this program. */
  program: string
}

/** In the place of a file: standard input, or standard output. */
export const STANDARD_STREAM = '-'

export interface Option extends ParseArgsOptionDescriptor {
  help: string
  /** Stands for the value in the help text. */
  value?: string
  required?: boolean
}

export interface Invocation {
  io: Io
  loaded: LoadResult
  /** Given options by name; lists for those that may be repeated. */
  options: Record<string, string | boolean | string[] | undefined>
  /** What stood behind the verb, in the order of `positionals`. */
  args: string[]
}

/** An invocation whose configuration is valid, so that there is one. */
export interface Configured extends Invocation {
  config: Config
}

/** One object for `--json`, and the same for people. */
export interface Answer {
  json: object
  text: string
  /** For commands whose finding is the answer, such as `doctor`. */
  exit?: ExitCode
}

/** A number when the command has said all there is to say. */
type Outcome = Answer | ExitCode

interface Described {
  /** The words that call it: `tenant create`. */
  name: string
  summary: string
  options?: Record<string, Option>
  /** Names of what has to stand behind the verb; in brackets, what may. */
  positionals?: readonly string[]
}

/** Runs only under a valid configuration. */
export interface ConfiguredCommand extends Described {
  run: (invocation: Configured) => Outcome | Promise<Outcome>
}

/** Runs whatever the configuration says: it is asked about, or has no part in it. */
export interface BareCommand extends Described {
  runBare: (invocation: Invocation) => Outcome | Promise<Outcome>
}

export type Command = ConfiguredCommand | BareCommand

/** The command line was not understood: exit 2 and a pointer to `--help`. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The value of an option that is one of a few words. */
export function oneOf<const T extends string>(
  words: readonly T[],
  option: string,
  value: Invocation['options'][string],
): T {
  const word = words.find((candidate) => candidate === value)
  if (word === undefined) throw new UsageError(`--${option}: must be one of ${words.join(', ')}`)
  return word
}

/**
 * Lines of a table, columns padded to their widest cell. Whatever a cell holds, it stays in its
 * line and gives a terminal no orders.
 */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll(LINE_TRICKS, ' ')))
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
