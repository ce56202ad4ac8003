import { type Command, EXIT, oneOf } from './command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** Prints a script that completes the verbs of `commands` and their options. */
export const completionOf = (commands: () => Promise<readonly Command[]>): Command => ({
  name: 'completion',
  summary: 'Print a shell completion script, as in: source <(gatehouse completion bash)',
  positionals: ['SHELL'],
  runBare: async ({ io, args }) => {
    const script = scripts[oneOf(SHELLS, 'SHELL', args[0])]
    await io.out(script(await commands()))
    return EXIT.ok
  },
})

/** First words of commands, each with its second words. */
function wordsOf(commands: readonly Command[]) {
  const groups = new Map<string, string[]>()
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ')
    groups.set(first, [...(groups.get(first) ?? []), ...(second ? [second] : [])])
  }
  return groups
}

const optionsOf = ({ options = {} }: Command): string[] =>
  ['config', 'json', 'help', ...Object.keys(options)].map((option) => `--${option}`)

const bash = (commands: readonly Command[]) => `_gatehouse() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${commands.map((command) => `    "${command.name}"${command.name.includes(' ') ? '' : '*'}) local options="${optionsOf(command).join(' ')}" ;;`).join('\n')}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W "${[...wordsOf(commands).keys()].join(' ')}" -- "$word"))
  elif [[ $COMP_CWORD == 2 ]]; then
    case "\${COMP_WORDS[1]}" in
${[...wordsOf(commands)]
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

const zsh = (commands: readonly Command[]) => `#compdef gatehouse
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`

const fish = (commands: readonly Command[]) =>
  [
    'complete -c gatehouse -f',
    ...[...wordsOf(commands)].flatMap(([first, seconds]) => [
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
