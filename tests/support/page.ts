import { expect } from 'bun:test'
import { join } from 'node:path'

const DOCS = join(import.meta.dir, '..', '..', 'docs')

export type Page = Awaited<ReturnType<typeof openPage>>

/** A page of docs/ in parts. */
export async function openPage(name: string) {
  const text = await Bun.file(join(DOCS, name)).text()

  const blocks = (language: string): string[] =>
    [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)]
      .filter(([, , itsLanguage]) => itsLanguage === language)
      .map(([, indent, , block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))

  /** The only code block in a language that contains `words`. */
  function block(language: string, words: string): string {
    const found = blocks(language).filter((block) => block.includes(words))
    expect(found).toHaveLength(1)
    return found[0] as string
  }

  /** The cells of the only table whose header starts with these names. */
  function table(...names: string[]): string[][] {
    const lines = text.split('\n')
    const heads = lines.flatMap((line, index) =>
      names.every((name, column) => cellsOf(line)[column] === name) ? [index] : [],
    )
    expect([names, heads]).toEqual([names, [expect.any(Number)]])
    const below = lines.slice((heads[0] as number) + 2)
    return below.slice(0, below.indexOf('')).map(cellsOf)
  }

  return { text, blocks, block, table }
}

const cellsOf = (row: string): string[] =>
  row.startsWith('|')
    ? row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim())
    : []

export const plain = (cell = ''): string => cell.replaceAll('`', '')
