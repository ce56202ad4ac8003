import { settingFlags } from '../config/index.ts'
import { type Command, type Option, table } from './command.ts'

/** Options of every command. */
export const COMMON_OPTIONS: Record<string, Option> = {
  config: { type: 'string', value: 'FILE', help: 'Read settings from FILE.' },
  json: { type: 'boolean', help: 'Print one JSON object.' },
  help: { type: 'boolean', short: 'h', help: 'Show this help.' },
}

/** The help of the program, with a line for each of `commands`. */
export const overview = (commands: readonly Command[], program: string): string =>
  `Gatehouse: users and sign-in, scheduled jobs, messenger login and webhooks in one executable.

Usage: ${program} [command] [options]

Commands:
${indented(commands.map((command) => [synopsis(command), command.summary]))}

All commands accept --config FILE, --json and --help. The default command is serve.
Every setting also has an environment variable (GATEHOUSE_SERVER_PORT for [server] port)
and, unless it is a secret, an option (see ${program} serve --help).
`

export const helpOf = (command: Command, program: string): string =>
  `${command.summary}

Usage: ${program} ${synopsis(command)} [options]

Options:
${indented(Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(optionRow))}

Settings, also available in the configuration file and the environment:
${indented(settingFlags.map(({ name, help }) => [`--${name}`, help]))}
`

const synopsis = ({ name, positionals = [] }: Command) =>
  [name, ...positionals.map((word) => word)].join(' ')

const optionRow = ([name, { value, help, required, multiple }]: [string, Option]) => [
  `--${name}${value ? ` ${value}` : ''}`,
  `${help}${required ? ' Required.' : ''}${multiple ? ' Repeatable.' : ''}`,
]

const indented = (rows: readonly (readonly string[])[]) => table(rows).replaceAll(/^/gm, '  ')
