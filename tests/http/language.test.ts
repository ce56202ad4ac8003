import { describe, expect, test } from 'bun:test'
import { preferredLanguage } from '../../src/http/language.ts'

const OFFERED = ['en', 'de'] as const
const preferred = (header: string | null): string | undefined => preferredLanguage(header, OFFERED)

describe('of the languages offered', () => {
  test.each([
    ['de', 'de'],
    ['en', 'en'],
    ['de, en', 'de'],
    ['en, de', 'en'],
    ['de-AT', 'de'],
    ['de-Latn-DE-1996', 'de'],
    ['de-CH, de;q=0.9, en;q=0.8', 'de'],
    ['en-US,en;q=0.9,de;q=0.8', 'en'],
    ['DE', 'de'],
    ['De-at', 'de'],
    ['fr, de', 'de'],
    ['fr-CA, fr;q=0.9, es;q=0.8, de;q=0.1', 'de'],
  ])('the first that is asked for is taken: %s', (header, language) => {
    expect(preferred(header)).toBe(language)
  })

  test.each([
    ['en;q=0.5, de', 'de'],
    ['en;q=0.8, de;q=0.9', 'de'],
    ['de;q=0.8, en;q=0.801', 'en'],
    ['de;q=0.1, en;q=0.1', 'de'],
    ['en;q=0.1, de;q=0.1', 'en'],
    ['en;q=0.001, fr', 'en'],
    ['fr, de;q=0.2, en;q=0.3', 'en'],
    ['en;q=1.000, de;q=0.999', 'en'],
    ['en;q=0.5;x=y, de;level=1;q=0.6', 'de'],
    ['en;Q=0.5, de;Q=0.6', 'de'],
  ])('the one that weighs most is taken: %s', (header, language) => {
    expect(preferred(header)).toBe(language)
  })

  test.each([
    ['de;q=0, en', 'en'],
    ['de;q=0.0, en;q=0.1', 'en'],
    ['de;q=0', undefined],
    ['de;Q=0, en', 'en'],
    ['de;q=-1, en;q=0.1', 'en'],
    ['de;q=x, en;q=0.1', 'en'],
    ['de;q=, en;q=0.1', 'en'],
  ])('none is taken that is ruled out, or weighs nothing one can read: %s', (header, language) => {
    expect(preferred(header)).toBe(language)
  })

  test.each([
    [null],
    [''],
    [' '],
    [','],
    [';'],
    [';q=1'],
    ['-'],
    ['*'],
    ['*;q=0.5'],
    ['fr'],
    ['deu'],
    ['d'],
    ['-de'],
    ['x-de'],
    ['de_AT'],
    ['"de"'],
    ['__proto__'],
    ['\u0000'],
  ])('none is taken where none was asked for: %j', (header) => {
    expect(preferred(header)).toBeUndefined()
  })

  test('blanks and empty entries are read over', () => {
    expect(preferred('  ,, fr ;q=1 ,\tde  ;  q=0.5 ,')).toBe('de')
    expect(preferred('en ; q=0.4,de ; q=0.5')).toBe('de')
  })

  test('the first twenty entries are looked at', () => {
    const others = (count: number) => Array(count).fill('fr').join()
    expect(preferred(`${others(19)},de`)).toBe('de')
    expect(preferred(`${others(20)},de`)).toBeUndefined()
    expect(preferred(`${others(100_000)},de`)).toBeUndefined()
  })
})

test('languages are taken in the spelling in which they are offered', () => {
  expect(preferredLanguage('pt-BR, fr', ['fr', 'pt'])).toBe('pt')
  expect(preferredLanguage('de', [])).toBeUndefined()
})
