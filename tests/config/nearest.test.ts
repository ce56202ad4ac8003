import { describe, expect, test } from 'bun:test'
import { nearest } from '../../src/config/nearest.ts'

const names = ['host', 'port', 'base_url', 'trusted_proxies', 'max_body']

describe('a slip of the fingers leads to the name that was meant', () => {
  test.each([
    ['prot', 'port'],
    ['prt', 'port'],
    ['ports', 'port'],
    ['baseurl', 'base_url'],
    ['base-url', 'base_url'],
    ['trusted_proxy', 'trusted_proxies'],
    ['max_boddy', 'max_body'],
  ])('%s: %s', (word, meant) => {
    expect(nearest(word, names)).toBe(meant)
  })
})

describe('a word like none of them leads nowhere', () => {
  test.each([['colour'], ['p'], [''], ['__proto__'], ['x'.repeat(1_000_000)]])('%.20s', (word) => {
    expect(nearest(word, names)).toBeUndefined()
  })

  test('nor does any word among no names', () => {
    expect(nearest('port', [])).toBeUndefined()
  })
})
