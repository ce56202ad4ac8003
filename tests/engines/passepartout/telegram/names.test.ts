import { expect, test } from 'bun:test'
import * as names from '../../../../src/engines/passepartout/telegram/names.ts'
import { seeded } from '../../gate/identities/documents/support.ts'

const { firstNameOf, languageCodeOf, lastNameOf, usernameOf } = names

test('A readable name stays as it is', () => {
  for (const name of [
    ...['Größe & Söhne', 'نرم\u200cافزار', 'क\u094d\u200dष', '株式会社', '辻\u{e0100}'],
    ...['Ngu\u0302\u0303n', '👨\u200d👩\u200d👧', '👩🏽\u200d💻', '🏳\ufe0f\u200d🌈'],
    ...['<b>$& {name}</b>', 'x'.repeat(64)],
  ])
    expect(firstNameOf(name)).toBe(name)
})

test.each([
  ['ends of lines', 'Ada\r\nYour code\u2028is\u20290\u00851', 'Ada Your code is 0 1'],
  ['invisible characters', 'A\u200bd\u00ada\ufeff\u2060\u3164\u2800', 'A d a'],
  ['tags', 'Ada\u{e0041}\u{e0064}', 'Ada'],
  ['extra spaces', '  Ada \u00a0\t Lovelace\u3000', 'Ada Lovelace'],
  ['heaps of marks', `A${'\u0301'.repeat(40)}da`, 'A\u0301\u0301\u0301da'],
  ['joiners between letters that do not join', 'Ad\u200cm\u200din', 'Admin'],
  ['all joiners but one', 'क\u200d\u200d\u200cष', 'क\u200dष'],
  ['what is beyond 64 characters', 'x'.repeat(1_000_000), 'x'.repeat(64)],
  ['whole characters', '😀'.repeat(65), '😀'.repeat(64)],
  ['a joiner at the end', `${'क'.repeat(63)}\u200dष`, 'क'.repeat(63)],
])('A name loses %s', (_, name, tidy) => {
  expect([firstNameOf(name), lastNameOf(name)]).toEqual([tidy, tidy])
})

test('A name that cannot be read is … as a first name, and null as a last name', () => {
  const blank = ['', ' \u200b \u202e', '\u200d\u200d', '\u0301\ufe0f', '\u3164\u115f\uffa0']
  for (const value of [undefined, null, 7, { toString: 'Ada' }, ...blank])
    expect([value, firstNameOf(value), lastNameOf(value)]).toEqual([value, '…', null])
})

test('Any name becomes one safe line, and that stays as it is', () => {
  const random = seeded(20261122)
  const parts = ['a', 'क', 'ष', '😀', '👩', '🏽', ' ', '\u0301', '\ufe0f', '\u200d', '\u200c']
  const unsafe = ['\n', '\u202e', '\u200b', '\ud800', '\udc00', '\u3164', '\u2028', '\u0000']
  const all = [...parts, ...unsafe]
  for (let round = 0; round < 1000; round++) {
    const name = Array.from({ length: random(90) }, () => all[random(all.length)]).join('')
    const tidy = firstNameOf(name)
    expect([name, tidy.isWellFormed()]).toEqual([name, true])
    expect(tidy).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u202e\u200b\u3164]|^\p{M}|\p{M}{4}|\s\s|^\s|\s$/u)
    expect(tidy).not.toMatch(
      /(?:^|[a\s\p{Join_Control}])\p{Join_Control}|\p{Join_Control}(?:$|[a\s])/u,
    )
    expect([...tidy].length).toBeWithin(1, 65)
    expect([name, firstNameOf(tidy)]).toEqual([name, tidy])
  }
})

test('Usernames and language codes are taken as they are, or not at all', () => {
  for (const name of ['ada', 'Ada_1815', 'x'.repeat(64)]) expect(usernameOf(name)).toBe(name)
  for (const code of ['de', 'de-AT', 'zh-Hans-CN', 'pt-br', 'x'.repeat(8)])
    expect(languageCodeOf(code)).toBe(code)
  const odd = [undefined, null, 7, {}, ['de'], '', 'a b', 'de\n']
  for (const name of [...odd, '@ada', '\u0430da', 'a/b', 'x'.repeat(65)])
    expect([name, usernameOf(name)]).toEqual([name, null])
  const long = ['x'.repeat(9), `de${'-abcdefgh'.repeat(4)}`]
  for (const code of [...odd, 'd', 'de_AT', 'de-', '-de', 'd\u00e9', ...long])
    expect([code, languageCodeOf(code)]).toEqual([code, null])
})
