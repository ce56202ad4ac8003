import { catalogue, isSection, type Leaf, type Section } from './catalogue.ts'
import { toToml } from './show.ts'

const WIDTH = 100

const HEAD =
  'The settings of Gatehouse, each with its default. None is required. Take away the # before ' +
  'a setting to change it. Durations are written like 250ms, 90s or 1h30m, sizes like 64KB or ' +
  '1MB. An empty text stands for nothing.\n\n' +
  'The environment outranks this file: GATEHOUSE_SERVER_PORT sets port under [server], and ' +
  'GATEHOUSE_SERVER_PORT_FILE names a file that holds it. Lists are separated by commas there. ' +
  'A secret can stand in a file of its own here too, named by its key and _file.'

/** The commented template: every setting with its default and what it is for. */
export const renderExample = (): string =>
  [comment(HEAD), ...blocksOf(catalogue)].join('\n\n').concat('\n')

function blocksOf(section: Section): string[] {
  const entries = [...section.entries.values()]
  const tables = entries.filter(isSection)
  if (section.alike) return tables.slice(0, 1).flatMap((first) => blocksOf(sample(first, section)))
  const single = entries.filter((entry): entry is Leaf => !isSection(entry)).map(settingLines)
  return [...headOf(section), ...single, ...tables.flatMap(blocksOf)]
}

/** One table that speaks for its likes. */
const sample = (section: Section, { about }: Section): Section => ({ ...section, about })

const headOf = ({ about, key }: Section): string[] =>
  key === '' ? [] : [`${comment(about)}\n[${key}]`]

function settingLines({ setting, word }: Leaf): string {
  const { help, kind, written, secret } = setting
  const expected = `${kind.expected.charAt(0).toUpperCase()}${kind.expected.slice(1)}.`
  return `${comment(`${help} ${expected}${secret ? ' Secret.' : ''}`)}\n#${word} = ${toToml(written)}`
}

/** Prose as comment lines; an empty line parts its paragraphs. */
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
