import { catalogue, isSection, type Leaf, type Section } from './catalogue.ts'
import { toToml } from './show.ts'

const WIDTH = 100

const HEAD =
  'All settings of Gatehouse with their defaults. None is required. To change a setting, remove ' +
  'the # before it. Write durations as 250ms, 90s or 1h30m, sizes as 64KB or 1MB. "" means not ' +
  'set.\n\n' +
  'Environment variables override this file: GATEHOUSE_SERVER_PORT sets port under [server], and ' +
  'GATEHOUSE_SERVER_PORT_FILE names a file with the value. Separate list items with commas there. ' +
  'To keep a secret out of this file, add _file to its key and set the path of a file with the value.'

/** The example configuration file: every setting commented out, with its description and default. */
export const renderExample = (): string =>
  [comment(HEAD), ...blocksOf(catalogue)].join('\n\n').concat('\n')

function blocksOf(section: Section): string[] {
  const entries = [...section.entries.values()]
  const tables = entries.filter(isSection)
  if (section.alike) return tables.slice(0, 1).flatMap((first) => blocksOf(sample(first, section)))
  const single = entries.filter((entry): entry is Leaf => !isSection(entry)).map(settingLines)
  return [...headOf(section), ...single, ...tables.flatMap(blocksOf)]
}

/** The first of several tables with the same settings, with the description of all. */
const sample = (section: Section, { about }: Section): Section => ({ ...section, about })

const headOf = ({ about, key }: Section): string[] =>
  key === '' ? [] : [`${comment(about)}\n[${key}]`]

function settingLines({ setting, word }: Leaf): string {
  const { help, kind, written, secret } = setting
  const expected = `${kind.expected.charAt(0).toUpperCase()}${kind.expected.slice(1)}.`
  return `${comment(`${help} ${expected}${secret ? ' Secret.' : ''}`)}\n#${word} = ${toToml(written)}`
}

/** Text as comment lines; an empty line separates paragraphs. */
const comment = (text: string): string =>
  text
    .split('\n')
    .flatMap(wrap)
    .map((line) => `# ${line}`.trimEnd())
    .join('\n')

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (longer.length > WIDTH - 2) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
