import { describe, expect, test } from 'bun:test'
import { type DiffLine, diffOf } from '../../../views/console/pages/relay/line-diff.ts'

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', gone: '-', new: '+', 'left out': '~' }
const shown = (was: string, now: string) =>
  diffOf(was, now).map(({ kind, text }) => SIGNS[kind] + text)

describe('what became of a text', () => {
  test('is told line by line, with what is around it', () => {
    const was = 'a\nb\nc\nd\ne\nf\ng'
    expect(shown(was, 'a\nb\nc\nd\nX\nf\ng')).toEqual(['~…', ' c', ' d', '-e', '+X', ' f', ' g'])
    expect(shown(was, was.replace('d\n', ''))).toEqual(['~…', ' b', ' c', '-d', ' e', ' f', '~…'])
    expect(shown(was, `${was}\nh`)).toEqual(['~…', ' f', ' g', '+h'])
    expect(shown('a\nb\nc', 'b\nX\nc\na')).toEqual(['-a', ' b', '+X', ' c', '+a'])
  })

  test('is nothing where it is the same, and JSON is the same however it is written', () => {
    expect(diffOf('a\nb', 'a\nb').filter(({ kind }) => kind !== 'left out')).toEqual([])
    expect(diffOf('{"a":1}', '{ "a": 1 }').filter(({ kind }) => kind !== 'left out')).toEqual([])
    expect(shown('{"a":1}', '{"a":2}')).toEqual([' {', '-  "a": 1', '+  "a": 2', ' }'])
  })

  test('begins and ends with an empty text', () => {
    expect(shown('', 'a')).toEqual(['-', '+a'])
    expect(shown('a', '')).toEqual(['-a', '+'])
  })

  test('is cut where it is long, and costs no more than that', () => {
    const lines = (of: string) => Array.from({ length: 20_000 }, (_, n) => `${of}${n}`).join('\n')
    const cut = diffOf(lines('a'), lines('b'))
    expect(cut).toHaveLength(81)
    expect(cut.at(-1)?.kind).toBe('left out')
  })
})
