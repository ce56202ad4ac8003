import { describe, expect, test } from 'bun:test'
import { h } from 'preact'
import { changesTo } from '../../src/console/live/changes.ts'
import { type Part, type State, stateIdOf, stateOf } from '../../src/console/live/part.ts'

/** A list as a page draws it: of rows by their name and what they say. */
const list = (rows: Record<string, string>): Part[] => [
  {
    target: 'list',
    facts: rows,
    draw: () =>
      h(
        'ol',
        null,
        Object.entries(rows).map(([id, text]) => h('li', { id }, text)),
      ),
  },
]

const state = (parts: readonly Part[], before?: State) => stateOf(parts, before)

/** The pieces of a message: what is put where, and how. */
const pieces = (text: string) =>
  [...text.matchAll(/<hx-partial hx-target="(.+?)" hx-swap="(.+?)">([\s\S]*?)<\/hx-partial>/g)].map(
    ([, target, swap, html]) => [target, swap, html],
  )

describe('what a page gets', () => {
  test('is everything where nobody knows what it shows', () => {
    const now = state(list({ a: 'one' }))
    expect(pieces(changesTo(now, undefined))).toEqual([
      ['#list', 'innerMorph', '<ol><li id="a">one</li></ol>'],
    ])
  })

  test('is nothing where nothing is different', () => {
    const before = state(list({ a: 'one' }))
    expect(changesTo(state(list({ a: 'one' }), before), before)).toBe('')
  })

  test('are the rows that came, changed in their place, or went', () => {
    const before = state(list({ c: 'three', b: 'two', a: 'one' }))
    const now = state(list({ e: 'five', d: 'four', c: 'THREE', b: 'two' }), before)
    expect(pieces(changesTo(now, before))).toEqual([
      ['#a', 'delete', ''],
      ['#c', 'outerHTML', '<li class="changed" id="c">THREE</li>'],
      [
        '#c',
        'beforebegin',
        '<li class="changed" id="e">five</li><li class="changed" id="d">four</li>',
      ],
    ])
  })

  test.each([
    ['rows that change places', { b: 'two', a: 'one' }],
    ['a row in between', { a: 'one', c: 'three', b: 'two' }],
    ['rows of which none was there', { x: 'ten' }],
    ['the end of all rows', {}],
  ])('is the whole part for %s', (_, rows: Record<string, string>) => {
    const before = state(list({ a: 'one', b: 'two' }))
    const [piece, ...others] = pieces(changesTo(state(list(rows), before), before))
    expect([piece?.slice(0, 2), others]).toEqual([['#list', 'innerMorph'], []])
  })

  test('are the parts alone that are different', () => {
    const quiet: Part = { target: 'quiet', facts: 1, draw: () => h('p', null, 'as ever') }
    const before = state([...list({ a: 'one' }), quiet])
    const now = state([...list({ b: 'two', a: 'one' }), quiet], before)
    expect(changesTo(now, before)).not.toContain('quiet')
  })

  test('does not tell again how long ago something was', () => {
    const ago = (time: string): Part[] => [
      {
        target: 'list',
        facts: time,
        draw: () => h('ol', null, h('li', { id: 'a' }, h('span', { 'data-relative': true }, time))),
      },
    ]
    const before = state(ago('now'))
    expect(changesTo(state(ago('1 s ago'), before), before)).toBe('')
  })

  test('is no markup that a tenant has written', () => {
    const hostile = '</li></ol><hx-partial hx-target="body"><script>alert(1)</script>'
    const before = state(list({ a: 'one' }))
    const text = changesTo(state(list({ b: hostile, a: 'one' }), before), before)
    expect(text).not.toContain('<script>')
    expect(pieces(text)).toHaveLength(1)
  })
})

describe('a state', () => {
  test('has the name that the page knows it by, whoever reads it', () => {
    const parts = list({ a: 'one' })
    expect(state(parts).id).toBe(stateIdOf(list({ a: 'one' })))
    expect(stateIdOf(list({ a: 'two' }))).not.toBe(stateIdOf(parts))
  })

  test('draws again only what has other facts than before', () => {
    let drawn = 0
    const part = (facts: number): Part[] => [
      { target: 'part', facts, draw: () => h('p', null, `drawn ${++drawn} times`) },
    ]
    const first = state(part(1))
    const second = state(part(1), first)
    expect([drawn, second.id]).toEqual([1, first.id])
    state(part(2), second)
    expect(drawn).toBe(2)
  })
})
