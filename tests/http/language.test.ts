import { expect, test } from 'bun:test'
import { preferredLanguage } from '../../src/http/language.ts'

const preferred = (header: string | null): string | undefined =>
  preferredLanguage(header, ['en', 'de'])

test.each<[what: string, language: string | undefined, headers: (string | null)[]]>([
  ['the first', 'de', ['de', 'de, en', 'de-AT', 'de-Latn-DE-1996', 'De-at', 'DE', 'fr, de']],
  ['the first', 'de', ['de-CH, de;q=0.9, en;q=0.8', 'fr-CA, fr;q=0.9, es;q=0.8, de;q=0.1']],
  ['the first', 'en', ['en', 'en, de', 'en-US,en;q=0.9,de;q=0.8', 'en;q=0.1, de;q=0.1']],
  ['that of most weight', 'de', ['en;q=0.5, de', 'en;q=0.8, de;q=0.9', 'en;Q=0.5, de;Q=0.6']],
  [
    'that of most weight',
    'en',
    ['de;q=0.8, en;q=0.801', 'en;q=0.001, fr', 'en;q=1.000, de;q=0.999'],
  ],
  ['that of most weight', 'de', ['en;q=0.5;x=y, de;level=1;q=0.6', 'en ; q=0.4,de ; q=0.5']],
  ['none of no weight', 'en', ['de;q=0, en', 'de;q=0.0, en;q=0.1', 'de;Q=0, en']],
  ['none of no weight', 'en', ['de;q=-1, en;q=0.1', 'de;q=x, en;q=0.1', 'de;q=, en;q=0.1']],
  ['no other', undefined, [null, '', ' ', ',', ';', ';q=1', '-', '*', '*;q=0.5', 'fr', 'de;q=0']],
  ['no other', undefined, ['deu', 'd', '-de', 'x-de', 'de_AT', '"de"', '__proto__', '\u0000']],
  ['empty entries aside', 'de', ['  ,, fr ;q=1 ,\tde  ;  q=0.5 ,']],
])('Of the languages offered, %s is taken: %s', (_, language, headers) => {
  expect(headers.map(preferred)).toEqual(headers.map(() => language))
})

test('The first twenty entries are read', () => {
  const others = (count: number) => Array(count).fill('fr').join()
  expect(preferred(`${others(19)},de`)).toBe('de')
  expect(preferred(`${others(20)},de`)).toBeUndefined()
  expect(preferred(`${others(100_000)},de`)).toBeUndefined()
})

test('Languages are taken in the spelling in which they are offered', () => {
  expect(preferredLanguage('pt-BR, fr', ['fr', 'pt'])).toBe('pt')
  expect(preferredLanguage('de', [])).toBeUndefined()
})
