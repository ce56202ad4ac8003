import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands } from '../../../src/cli/commands.ts'
import { leaves } from '../../../src/config/catalogue.ts'

const FILE = join(import.meta.dir, '..', '..', '..', 'docs', 'troubleshooting.md')
const text = readFileSync(FILE, 'utf8')

/** Every call of the program, from its name to the end of the code it stands in. */
const calls = [...text.matchAll(/(?<=^|[`\s])gatehouse ((?:[a-z-]+|ID|FILE|<)[^`\n#,;|]*)/gm)]
  .map(([, words = '']) => words.trim().split(/\s+/))
  .filter(([first = '']) => /^[a-z-]/.test(first))

const commandIn = (words: string[]) =>
  commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ??
  commands.find(({ name }) => name === words[0])

/** Lines of shells that name the service, the account or the container before another program. */
const isOfOthers = (words: string[]) =>
  ['-n', 'gatehouse', 'sqlite3', '--help'].includes(words[0] ?? '')

const GENERAL = ['--help', '--json', '--config', '--data-dir']

test('every command that the page on trouble names is there, with its options', () => {
  const ours = calls.filter((words) => !isOfOthers(words))
  expect(ours.length).toBeGreaterThan(25)
  for (const words of ours) {
    const command = commandIn(words)
    expect([words.join(' '), command?.name]).toEqual([words.join(' '), expect.any(String)])
    const known = [...Object.keys(command?.options ?? {}).map((name) => `--${name}`), ...GENERAL]
    for (const option of words.filter((word) => word.startsWith('--')))
      expect(known).toContain(option)
  }
})

test('every setting that it names is there', () => {
  const labels = new Set(leaves.map(({ label }) => label))
  const named = [...text.matchAll(/`(\[[a-z.]+\] [a-z_]+)/g)].map(([, label]) => label ?? '')
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((label) => !labels.has(label))).toEqual([])
})
