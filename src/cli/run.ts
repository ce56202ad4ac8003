import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util'
import { formatErrors, nearest, settingFlags } from '../config/index.ts'
import { StorageError } from '../db/errors.ts'
import { SchemaError } from '../db/migrate.ts'
import { AppError } from '../platform/errors.ts'
import { MasterKeyError } from '../platform/sealing/key-file.ts'
import {
  type Answer,
  type Command,
  EXIT,
  type ExitCode,
  type Invocation,
  type Io,
  UsageError,
} from './command.ts'
import { commands } from './commands.ts'
import { COMMON_OPTIONS, helpOf, overview } from './help.ts'
import { loadChecked } from './load.ts'

/** Runs what the command line asks for and says with which code to exit. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const json = argv.includes('--json')
  try {
    return await dispatch(argv, io)
  } catch (error) {
    if (error instanceof UsageError)
      return complain(io, json, EXIT.usage, `${error.message}\nTry ${io.program} --help.`)
    if (isExpected(error)) return complain(io, json, EXIT.failure, sentenceOf(error))
    throw error
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<ExitCode> {
  if (argv[0] === 'help' || (argv[0]?.startsWith('-') && asksForHelp(argv))) {
    io.out(overview(io.program))
    return EXIT.ok
  }
  const { command, rest } = findCommand(argv)
  const { options, args } = parse(command, rest)
  if (options.help) {
    io.out(helpOf(command, io.program))
    return EXIT.ok
  }
  requireAll(command, options, args)
  return configured(command, { io, options, args })
}

const asksForHelp = (argv: readonly string[]) =>
  argv.some((word) => word === '--help' || word === '-h')

/** The longest name that the words begin with; no words, or only options, mean `serve`. */
function findCommand(argv: readonly string[]): { command: Command; rest: string[] } {
  if (argv.length === 0 || argv[0]?.startsWith('-'))
    return { command: named('serve'), rest: [...argv] }
  const [first = '', second = ''] = argv
  const pair = commands.find(({ name }) => name === `${first} ${second}`)
  if (pair) return { command: pair, rest: argv.slice(2) }
  const single = commands.find(({ name }) => name === first)
  if (single) return { command: single, rest: argv.slice(1) }
  throw new UsageError(unknownCommand(first, second))
}

const named = (name: string): Command =>
  commands.find((command) => command.name === name) as Command

function unknownCommand(first: string, second: string): string {
  const names = commands.map(({ name }) => name)
  const hint = nearest(`${first} ${second}`.trim(), names)
  if (hint) return `unknown command ${`${first} ${second}`.trim()}; did you mean ${hint}?`
  const group = names.filter((name) => name.startsWith(`${first} `))
  return group.length > 0
    ? `${first}: expected one of ${group.join(', ')}`
    : `unknown command ${first}`
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

const optionsOf = ({ options }: Command): Record<string, ParseArgsOptionDescriptor> => ({
  ...Object.fromEntries(settingFlags.map(({ name }) => [name, { type: 'string' }] as const)),
  ...COMMON_OPTIONS,
  ...options,
})

/** Node's message goes on with advice that does not fit here. */
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
    throw new UsageError(`${name}: unexpected ${args[positionals.length]}`)
}

/** All that is wrong with the configuration is told at once, on standard error. */
async function configured(
  command: Command,
  given: Pick<Invocation, 'io' | 'options' | 'args'>,
): Promise<ExitCode> {
  const { io, options } = given
  const loaded = loadChecked({ flags: flagsAmong(options), env: io.env, cwd: io.cwd })
  const json = options.json === true
  if ('runBare' in command) return print(io, json, await command.runBare({ ...given, loaded }))
  if (!loaded.ok) return complain(io, json, EXIT.config, formatErrors(loaded.errors).trimEnd())
  if (loaded.warnings.length > 0) io.err(formatErrors(loaded.warnings))
  return print(io, json, await command.run({ ...given, loaded, config: loaded.config }))
}

function print(io: Io, json: boolean, outcome: Answer | ExitCode): ExitCode {
  if (typeof outcome === 'number') return outcome
  io.out(json ? `${JSON.stringify(outcome.json)}\n` : `${outcome.text}\n`)
  return outcome.exit ?? EXIT.ok
}

function flagsAmong(options: Invocation['options']): Record<string, string> {
  const names = ['config', ...settingFlags.map(({ name }) => name)]
  return Object.fromEntries(
    names.flatMap((name) => (typeof options[name] === 'string' ? [[name, options[name]]] : [])),
  )
}

/** With `--json` the complaint is an object too: on standard error, so that output stays clean. */
function complain(io: Io, json: boolean, code: ExitCode, message: string): ExitCode {
  io.err(json ? `${JSON.stringify({ error: message })}\n` : `${message}\n`)
  return code
}

/** What the operator can mend: said in a sentence. All else is a bug and shows its trace. */
const isExpected = (error: unknown): error is Error =>
  error instanceof AppError ||
  error instanceof SchemaError ||
  error instanceof StorageError ||
  error instanceof MasterKeyError ||
  isSystemError(error)

/** The system says `ENOENT: no such file or directory, open 'x.toml'`; people say it the other way. */
function sentenceOf({ message }: Error): string {
  const [, what, where] = /^E[A-Z]+: (.+), \w+ '(.+)'$/.exec(message) ?? []
  return what && where ? `${where}: ${what}` : message
}

/** A port in use, a folder that may not be written: the system names these E…. */
const isSystemError = (error: unknown): boolean =>
  error instanceof Error && /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? '')
