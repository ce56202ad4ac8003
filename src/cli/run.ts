import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util'
import { formatErrors, nearest, settingFlags } from '../config/index.ts'
import { isSystemError, StorageError } from '../db/errors.ts'
import { SchemaError } from '../db/migrate.ts'
import { AppError } from '../platform/errors.ts'
import { MasterKeyError } from '../platform/sealing/key-file.ts'
import { UNSAFE_IN_LINE } from '../platform/unsafe-characters.ts'
import {
  type Answer,
  type Command,
  EXIT,
  type ExitCode,
  type Invocation,
  type Io,
  UsageError,
} from './command.ts'
import { commandNames, loadCommand, loadCommands } from './commands.ts'
import { COMMON_OPTIONS, helpOf, overview } from './help.ts'
import { flagsAmong, loadChecked } from './load.ts'
import { sentenceOf } from './sentences.ts'

/** Runs the command in `argv` and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const json = argv.includes('--json')
  try {
    return await dispatch(argv, io)
  } catch (error) {
    if (error instanceof UsageError)
      return fail(io, json, EXIT.usage, `${error.message}\nTry ${io.program} --help.`)
    if (isExpected(error)) return fail(io, json, EXIT.failure, sentenceOf(error))
    throw error
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<ExitCode> {
  const { name, rest, isNamed } = findCommand(argv)
  if (argv[0] === 'help' || (!isNamed && asksForHelp(argv))) {
    await io.out(overview(await loadCommands(), io.program))
    return EXIT.ok
  }
  const command = (await loadCommand(name)) as Command
  const { options, args } = parse(command, rest)
  if (options.help) {
    await io.out(helpOf(command, io.program))
    return EXIT.ok
  }
  requireAll(command, options, args)
  return configured(command, { io, options, args })
}

const asksForHelp = (argv: readonly string[]) =>
  argv.some((word) => word === '--help' || word === '-h')

interface Found {
  /** The name of a command that exists. */
  name: string
  /** The words without the command's name. */
  rest: string[]
  /** Whether the command line names the command. */
  isNamed: boolean
}

/** The command with the longest matching name, after common options; `serve` without any words. */
function findCommand(argv: readonly string[]): Found {
  const start = commonOptionsAtStart(argv)
  const [first = '', second = ''] = argv.slice(start)
  const serve = { name: 'serve', rest: [...argv], isNamed: false }
  if (first === '' || first === 'help' || first.startsWith('-')) return serve
  const behind = (words: number) => [...argv.slice(0, start), ...argv.slice(start + words)]
  const pair = `${first} ${second}`
  if (commandNames.includes(pair)) return { name: pair, rest: behind(2), isNamed: true }
  if (commandNames.includes(first)) return { name: first, rest: behind(1), isNamed: true }
  throw new UsageError(unknownCommand(first, second))
}

/** How many words the common options at the start take, with their values. */
function commonOptionsAtStart(argv: readonly string[]): number {
  let count = 0
  for (;;) {
    const [, name = '', value] = /^--([^=]+)(=.*)?$/s.exec(argv[count] ?? '') ?? []
    const option = COMMON[name]
    if (!option) return Math.min(count, argv.length)
    count += option.type === 'string' && value === undefined ? 2 : 1
  }
}

function unknownCommand(first: string, second: string): string {
  const hint = nearestCommand(first, second)
  if (hint) return `unknown command ${`${first} ${second}`.trim()}; did you mean ${hint}?`
  const group = commandNames.filter((name) => name.startsWith(`${first} `))
  return group.length > 0
    ? `${first}: must be one of ${group.join(', ')}`
    : `unknown command ${first}`
}

/** Compares word by word: as a whole, a verb with the opposite meaning would count as close. */
function nearestCommand(first: string, second: string): string | undefined {
  const group = nearest(
    first,
    commandNames.map((name) => name.split(' ')[0] ?? name),
  )
  const verbs = commandNames
    .filter((name) => name.startsWith(`${group} `))
    .map((name) => name.split(' ')[1] ?? '')
  const verb = nearest(second, verbs)
  if (group !== undefined && verb !== undefined) return `${group} ${verb}`
  if (group !== undefined && group !== first && commandNames.includes(group)) return group
  return second === '' ? nearest(first, commandNames) : undefined
}

function parse(command: Command, rest: string[]) {
  const known = optionsOf(command)
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: known,
      allowPositionals: true,
      strict: true,
    })
    return { options: values as Invocation['options'], args: positionals }
  } catch (error) {
    throw new UsageError(explain(error as Error & { code?: string }, Object.keys(known)))
  }
}

/** Options of every command, settings included. */
const COMMON: Readonly<Record<string, ParseArgsOptionDescriptor>> = {
  ...Object.fromEntries(settingFlags.map(({ name }) => [name, { type: 'string' }] as const)),
  ...COMMON_OPTIONS,
}

const optionsOf = ({ options }: Command): Record<string, ParseArgsOptionDescriptor> => ({
  ...COMMON,
  ...options,
})

/** The first sentence of Node's message; its advice does not apply here. */
function explain({ message }: Error, known: string[]): string {
  const unknown = /^Unknown option '--?([^']+)'/.exec(message)?.[1]
  if (unknown === undefined) return message.split('. ')[0] ?? message
  const hint = nearest(unknown, known)
  return `unknown option --${unknown}${hint ? `; did you mean --${hint}?` : ''}`
}

function requireAll(
  { name, options = {}, positionals = [] }: Command,
  given: Invocation['options'],
  args: string[],
) {
  const missing = Object.keys(options).find(
    (key) => options[key]?.required && given[key] === undefined,
  )
  if (missing) throw new UsageError(`${name}: --${missing} is required`)
  const required = positionals.filter((word) => !word.startsWith('['))
  if (args.length < required.length)
    throw new UsageError(`${name}: ${required[args.length]} is missing`)
  if (args.length > positionals.length)
    throw new UsageError(`${name}: unexpected argument ${args[positionals.length]}`)
}

/** Runs a command; an invalid configuration is exit code 78 with all errors on standard error. */
async function configured(
  command: Command,
  given: Pick<Invocation, 'io' | 'options' | 'args'>,
): Promise<ExitCode> {
  const { io, options } = given
  const loaded = loadChecked({ flags: flagsAmong(options), env: io.env, cwd: io.cwd })
  const json = options.json === true
  if ('runBare' in command) return print(io, json, await command.runBare({ ...given, loaded }))
  if (!loaded.ok) return fail(io, json, EXIT.config, formatErrors(loaded.errors).trimEnd())
  if (loaded.warnings.length > 0) io.err(formatErrors(loaded.warnings))
  return print(io, json, await command.run({ ...given, loaded, config: loaded.config }))
}

/** Resolves once the output is written, so that a result that could not be shown is not a success. */
async function print(io: Io, json: boolean, outcome: Answer | ExitCode): Promise<ExitCode> {
  if (typeof outcome === 'number') return outcome
  await io.out(json ? `${JSON.stringify(outcome.json)}\n` : `${outcome.text}\n`)
  return outcome.exit ?? EXIT.ok
}

/** Prints an error on standard error, with `--json` as an object. It can quote a file or a name. */
function fail(io: Io, json: boolean, code: ExitCode, message: string): ExitCode {
  io.err(json ? `${JSON.stringify({ error: message })}\n` : `${harmless(message)}\n`)
  return code
}

/** Without characters that control a terminal. */
const harmless = (message: string): string =>
  message
    .split('\n')
    .map((line) => line.replaceAll(UNSAFE_IN_LINE, ' '))
    .join('\n')

/** Whether the operator can fix the error, which is then one sentence. Anything else is a bug. */
const isExpected = (error: unknown): error is Error =>
  error instanceof AppError ||
  error instanceof SchemaError ||
  error instanceof StorageError ||
  error instanceof MasterKeyError ||
  isSystemError(error)
