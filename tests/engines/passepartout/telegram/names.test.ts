import { describe, expect, test } from 'bun:test'
import {
  firstNameOf,
  languageCodeOf,
  lastNameOf,
  usernameOf,
} from '../../../../src/engines/passepartout/telegram/names.ts'
import { seeded } from '../../gate/identities/documents/support.ts'

describe('an honest name stays as it is', () => {
  test.each([
    'Ada',
    'Größe & Söhne',
    'شركة',
    'نرم\u200cافزار',
    'क\u094d\u200dष',
    '株式会社',
    '辻\u{e0100}',
    'Nguyễn Thị',
    'Ngu\u0302\u0303n',
    '👨\u200d👩\u200d👧',
    '👩🏽\u200d💻',
    '🏳\ufe0f\u200d🌈',
    '<b>$& {name}</b>',
  ])('%s', (name) => {
    expect(firstNameOf(name)).toBe(name)
  })
})

describe('is taken out of a name:', () => {
  test.each([
    ['what ends a line', 'Ada\r\nYour code\u2028is\u20290\u00851', 'Ada Your code is 0 1'],
    ['control characters', 'A\u0000d\u001ba\u007f', 'A d a'],
    ['what turns text round', '\u202eadA\u202c \u2066x\u2069\u200f\u061c', 'adA x'],
    ['what cannot be seen', 'A\u200bd\u00ada\ufeff\u2060\u3164\u2800', 'A d a'],
    ['tags, which nobody sees', 'Ada\u{e0041}\u{e0064}', 'Ada'],
    ['halves of characters', 'A\ud800da\udc00', 'A da'],
    ['spaces at the ends and in rows', '  Ada \u00a0\t Lovelace\u3000', 'Ada Lovelace'],
    ['marks heaped upon a letter', `A${'\u0301'.repeat(40)}da`, 'A\u0301\u0301\u0301da'],
    [
      'marks heaped by way of joiners',
      `क${'\u0301\u200d'.repeat(40)}ष`,
      `क${'\u0301\u200d'.repeat(3)}ष`,
    ],
    ['marks upon nothing', '\u0301\u0301Ada \u0301\u200d\u0301L', 'Ada L'],
    ['joiners between letters that do not join', 'Ad\u200cm\u200din', 'Admin'],
    ['joiners that join nothing', '\u200dक \u200c क\u200d', 'क क'],
    ['all joiners but one', 'क\u200d\u200d\u200cष', 'क\u200dष'],
  ])('%s', (_, name, tidy) => {
    expect(firstNameOf(name)).toBe(tidy)
    expect(lastNameOf(name)).toBe(tidy)
  })
})

test('a name has at most 64 characters, each of them whole', () => {
  expect(firstNameOf('x'.repeat(64))).toBe('x'.repeat(64))
  expect(firstNameOf('😀'.repeat(65))).toBe('😀'.repeat(64))
  expect(firstNameOf('x'.repeat(5_000_000))).toBe('x'.repeat(64))
  expect(firstNameOf(`${'x'.repeat(63)} y`)).toBe('x'.repeat(63))
  expect(firstNameOf(`${'क'.repeat(63)}\u200dष`)).toBe('क'.repeat(63))
})

describe('nothing that can be read, be it', () => {
  test.each([
    ['no text', undefined],
    ['null', null],
    ['a number', 7],
    ['an object', { toString: 'Ada' }],
    ['empty', ''],
    ['blank', ' \u200b \u202e'],
    ['a joiner', '\u200d\u200d'],
    ['a mark', '\u0301\ufe0f'],
    ['a filler', '\u3164\u115f\uffa0'],
  ])('%s, is a first name of … and no last name', (_, value) => {
    expect(firstNameOf(value)).toBe('…')
    expect(lastNameOf(value)).toBeNull()
  })
})

test('whatever a name is made of, it is one line without tricks, and tidying it again adds nothing', () => {
  const random = seeded(20261122)
  const parts = ['a', 'क', 'ष', '😀', '👩', '🏽', ' ', '\u0301', '\ufe0f', '\u200d', '\u200c']
  const tricks = ['\n', '\u202e', '\u200b', '\ud800', '\udc00', '\u3164', '\u2028', '\u0000']
  const all = [...parts, ...tricks]

  for (let round = 0; round < 5000; round++) {
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

describe('a username', () => {
  test.each(['ada', 'Ada_1815', 'x'.repeat(64)])('can be %s', (username) => {
    expect(usernameOf(username)).toBe(username)
  })

  const IMPOSSIBLE = [undefined, null, 7, {}, '', 'a b', 'ada\n', '@ada', '\u0430da', 'a/b']

  test('cannot be anything else', () => {
    for (const username of [...IMPOSSIBLE, 'x'.repeat(65)])
      expect([username, usernameOf(username)]).toEqual([username, null])
  })
})

describe('the code of a language', () => {
  test.each(['de', 'de-AT', 'zh-Hans-CN', 'pt-br', 'x'.repeat(8)])('can be %s', (code) => {
    expect(languageCodeOf(code)).toBe(code)
  })

  const ODD = [undefined, null, 7, ['de'], '', 'd', 'de_AT', 'de-', 'de\n', '-de', 'd\u00e9']

  test('cannot be anything else', () => {
    for (const code of [...ODD, 'x'.repeat(9), `de${'-abcdefgh'.repeat(4)}`])
      expect([code, languageCodeOf(code)]).toEqual([code, null])
  })
})
