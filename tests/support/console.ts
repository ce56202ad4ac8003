export interface Shown {
  command: string
  output: string
}

/** Reads a block of `console`: commands start with `$ ` and continue after `\` or an open quote. */
export function readConsole(block: string): Shown[] {
  const shown: Shown[] = []
  for (const line of block.split('\n')) {
    const last = shown.at(-1)
    if (line.startsWith('$ ')) shown.push({ command: line.slice(2), output: '' })
    else if (last && last.output === '' && goesOn(last.command)) last.command += `\n${line}`
    else if (last && line !== '') last.output += line.trimStart()
  }
  return shown
}

const goesOn = (command: string): boolean =>
  command.endsWith('\\') || (command.split("'").length - 1) % 2 === 1

/** Ids, tokens and secrets, which differ from run to run. */
const NAME =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|gat_\w+_at_\w+…|whsec_[\w+/]+=*/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
const KINDS: [RegExp, string][] = [
  [/^gat_/, 'gat_\\w+'],
  [/^whsec_/, 'whsec_[\\w+/]+=*'],
  [/^/, '[0-9a-f-]{36}'],
]

export type Names = ReturnType<typeof createNames>

/** Maps the names of a transcript to those of the current run. */
export function createNames() {
  const actual = new Map<string, string>()

  const translate = (text: string): string =>
    text.replaceAll(NAME, (name) => actual.get(name) ?? name)

  /** Whether the output is as shown: `…` is any text, a time any time, a new name any name. */
  function matches({ output }: Shown, printed: string): boolean {
    const learnt: string[] = []
    const parts = output.split(new RegExp(`(${NAME.source}|${TIME.source}|…)`))
    const pattern = parts.map((part, index) => {
      if (index % 2 === 0) return escaped(part)
      if (part === '…') return '[\\s\\S]*?'
      if (part.match(TIME)) return TIME.source
      const known = actual.get(part)
      if (known !== undefined) return escaped(known)
      if (learnt.includes(part)) return `\\${learnt.indexOf(part) + 1}`
      learnt.push(part)
      return `(${KINDS.find(([kind]) => kind.test(part))?.[1]})`
    })
    const found = new RegExp(`^${pattern.join('')}$`).exec(printed)
    if (found) learnt.forEach((name, index) => void actual.set(name, found[index + 1] as string))
    return found !== null
  }

  return { translate, matches, learn: (name: string, is: string) => void actual.set(name, is) }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
