import { settingFlags } from '../config/index.ts'
import { type Command, type Option, table } from './command.ts'
import { commands } from './commands.ts'

/** Options that every command takes. */
export const COMMON_OPTIONS: Record<string, Option> = {
  config: { type: 'string', value: 'FILE', help: 'Read settings from this file.' },
  json: { type: 'boolean', help: 'Answer with one JSON object on standard output.' },
  help: { type: 'boolean', short: 'h', help: 'Show this help.' },
}

export const overview = (program: string): string =>
  `Gatehouse: identity, scheduler, messenger login and event relay in one executable.

Usage: ${program} [command] [options]

Commands:
${indented(commands.map((command) => [synopsis(command), command.summary]))}

Every command takes --config FILE, --json and --help. Without a command it serves.
Any setting can also be given as an option (${program} serve --help lists them)
or as an environment variable (GATEHOUSE_SERVER_PORT for [server] port).
`

export const helpOf = (command: Command, program: string): string =>
  `${command.summary}

Usage: ${program} ${synopsis(command)} [options]

Options:
${indented(Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(optionRow))}

Settings, each also in the file and in the environment:
${indented(settingFlags.map(({ name, help }) => [`--${name}`, help]))}
`

const synopsis = ({ name, positionals = [] }: Command) =>
  [name, ...positionals.map((word) => word)].join(' ')

const optionRow = ([name, { value, help, required, multiple }]: [string, Option]) => [
  `--${name}${value ? ` ${value}` : ''}`,
  `${help}${required ? ' Required.' : ''}${multiple ? ' May be repeated.' : ''}`,
]

const indented = (rows: readonly (readonly string[])[]) => table(rows).replaceAll(/^/gm, '  ')
