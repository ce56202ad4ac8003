import { type Command, EXIT, oneOf } from './command.ts'
import { commands } from './commands.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion: Command = {
  name: 'completion',
  summary: 'Print a completion script: source <(gatehouse completion bash).',
  positionals: ['SHELL'],
  runBare: async ({ io, args }) => {
    await io.out(scripts[oneOf(SHELLS, 'SHELL', args[0])]())
    return EXIT.ok
  },
}

/** First words, and behind each of them its second words. */
function words() {
  const groups = new Map<string, string[]>()
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ')
    groups.set(first, [...(groups.get(first) ?? []), ...(second ? [second] : [])])
  }
  return groups
}

const optionsOf = (name: string): string[] =>
  [
    'config',
    'json',
    'help',
    ...Object.keys(commands.find((c) => c.name === name)?.options ?? {}),
  ].map((option) => `--${option}`)

const bash = () => `_gatehouse() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${commands.map(({ name }) => `    "${name}"${name.includes(' ') ? '' : '*'}) local options="${optionsOf(name).join(' ')}" ;;`).join('\n')}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W "${[...words().keys()].join(' ')}" -- "$word"))
  elif [[ $COMP_CWORD == 2 ]]; then
    case "\${COMP_WORDS[1]}" in
${[...words()]
  .filter(([, seconds]) => seconds.length > 0)
  .map(
    ([first, seconds]) =>
      `      ${first}) COMPREPLY=($(compgen -W "${seconds.join(' ')}" -- "$word")) ;;`,
  )
  .join('\n')}
    esac
  fi
}
complete -F _gatehouse gatehouse
`

const zsh = () => `#compdef gatehouse
autoload -U +X bashcompinit && bashcompinit
${bash()}`

const fish = () =>
  [
    'complete -c gatehouse -f',
    ...[...words()].flatMap(([first, seconds]) => [
      `complete -c gatehouse -n __fish_use_subcommand -a ${first}`,
      ...seconds.map(
        (second) =>
          `complete -c gatehouse -n '__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${seconds.join(' ')}' -a ${second}`,
      ),
    ]),
    ...commands.flatMap(({ name, options = {} }) =>
      Object.entries(options).map(
        ([option, { help }]) =>
          `complete -c gatehouse -n '__fish_seen_subcommand_from ${name.split(' ').join('; and __fish_seen_subcommand_from ')}' -l ${option} -d ${JSON.stringify(help)}`,
      ),
    ),
    '',
  ].join('\n')

const scripts = { bash, zsh, fish }
