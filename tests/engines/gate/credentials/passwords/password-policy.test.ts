import { expect, test } from 'bun:test'
import { checkNewPassword } from '../../../../../src/engines/gate/credentials/passwords/index.ts'

const check = (password: string, identifier = 'anna.schmidt@example.com', minLength = 8) =>
  checkNewPassword(password, { identifier, minLength })

/** Good by any measure, and as long as is asked. */
const randomText = (length: number) => 'x7Kq-Wd2!zR9_mT4 '.repeat(100).slice(0, length)

test.each([
  ['eight characters', 'k7#mQ2xw'],
  ['a passphrase', 'correct horse battery staple'],
  ['letters of other scripts', 'Füße auf Kies, 東京'],
  ['eight emojis', '🐎🦊🐢🐙🦉🐝🦔🐧'],
  ['1024 characters', randomText(1024)],
  ['1024 emojis, which are 2048 units', '🐎🦊🐢🐙🦉'.repeat(205).slice(0, 2048)],
  ['no more than small letters', 'grzbtvoq'],
])('%s can be a password', (_, password) => {
  expect(check(password)).toBeUndefined()
})

test('lengths are counted in characters, and both bounds are said with what there was', () => {
  expect(check('k7#mQ2x')).toEqual({ rule: 'too_short', minLength: 8, actual: 7 })
  expect(check('🐎🦊🐢🐙🦉🐝🦔')).toEqual({ rule: 'too_short', minLength: 8, actual: 7 })
  expect(check('')).toEqual({ rule: 'too_short', minLength: 8, actual: 0 })
  expect(check(randomText(1025))).toEqual({ rule: 'too_long', maxLength: 1024, actual: 1025 })
})

test('the least length is the one that is configured', () => {
  expect(check('k7#mQ2xwv9!', undefined, 12)).toEqual({
    rule: 'too_short',
    minLength: 12,
    actual: 11,
  })
  expect(check('k7#mQ2xwv9!t', undefined, 12)).toBeUndefined()
})

test.each([
  ['the address', 'anna.schmidt@example.com', 'anna.schmidt@example.com'],
  ['the address in capitals', 'ANNA.SCHMIDT@EXAMPLE.COM', 'anna.schmidt@example.com'],
  ['the address with four changes', 'anna_schmidt_exampel.com', 'anna.schmidt@example.com'],
  ['the part before the sign', 'anna.schmidt', 'anna.schmidt@example.com'],
  ['that part without its dot', 'AnnaSchmidt', 'anna.schmidt@example.com'],
  ['that part with other digits', 'chr1st0ph3r', 'christopher@example.com'],
  ['that part with a year', 'anna.schmidt1987', 'anna.schmidt@example.com'],
  ['more than half of it', 'schmidt!2x9k', 'anna.schmidt@example.com'],
  ['the domain with digits', 'example.com42', 'anna.schmidt@example.com'],
  ['a long domain', 'https://intranet.example', 'a@intranet.example'],
  ['a name that is no address', 'operator-77', 'operator-7'],
  ['wide letters of the same', 'ａｎｎａ.schmidt', 'anna.schmidt@example.com'],
  ['an address with a capital', 'anna.schmidt', 'Anna.Schmidt@Example.com'],
])('%s is refused as too like the identifier', (_, password, identifier) => {
  expect(check(password, identifier)).toEqual({ rule: 'like_identifier' })
})

test.each([
  ['a name of two letters', 'jo@example.com', 'joker-on-a-bike'],
  ['a name of three that is hidden in it', 'ann@example.com', 'a7n2n-9k'],
  ['a name of four that is hidden in it', 'anna@example.com', 'a7n2n9ak'],
  ['a name of six that is five changes away at most', 'martin@example.com', 'mountaim'],
  ['exactly half of the password', 'anna@example.com', 'anna#7xq'],
  ['a name inside a long passphrase', 'anna@example.com', 'anna rides seven horses'],
  ['an address of five characters', 'a@b.c', 'a7b2c9dx'],
  ['no identifier', '', 'k7#mQ2xw'],
  ['nothing before the sign', '@', 'k7#mQ2xw'],
])('%s does not make another password too like it', (_, identifier, password) => {
  expect(check(password, identifier)).toBeUndefined()
})

test.each([
  ['one of the list', 'iloveyou'],
  ['one in capitals', 'ILoveYou'],
  ['one with digits', 'password123'],
  ['one with a sign', 'password1!'],
  ['one with a year and a sign', 'Sunshine2024!'],
  ['signs for its letters', 'P@$$w0rd'],
  ['a one for its i', 'sunsh1ne'],
  ['ones for its l', 'baseba11'],
  ['wide letters', 'ｐａｓｓｗｏｒｄ'],
  ['one character', 'aaaaaaaa'],
  ['one character, very often', 'z'.repeat(1024)],
  ['one character of another script', 'жжжжжжжж'],
  ['one emoji', '🐎'.repeat(8)],
  ['blanks', '        '],
  ['two characters in turn', 'ababababa'],
  ['four characters in turn', '1a2b1a2b1a2b'],
  ['digits in order', '23456789'],
  ['digits in order, round and round', '7890123456789012'],
  ['digits backwards', '87654321'],
  ['the alphabet', 'abcdefgh'],
  ['the alphabet backwards', 'zyxwvuts'],
  ['a row of keys', 'qwertyuiop'],
  ['a row of German keys', 'qwertzuiop'],
  ['a row of French keys', 'azertyuiop'],
  ['a row of Russian keys', 'йцукенгш'],
  ['keys from one row to the next', 'uiopasdfgh'],
  ['keys backwards', 'poiuytrewq'],
  ['an order with an ending', '12345678!'],
  ['a repetition with an ending', 'AAAAAAAA#1'],
])('%s is refused as common', (_, password) => {
  expect(check(password)).toEqual({ rule: 'common' })
})

test.each([
  ['more behind a common one than an ending', 'password-73829104'],
  ['letters behind a common one', 'passwordofmine'],
  ['an ending on a word too short to be on the list', 'zebra#8149'],
  ['an order with a gap', 'abcdfghi'],
  ['an order that turns', 'abcdedcb'],
  ['five characters in turn', 'k7mq2k7mq2'],
  ['common ones in a row', 'sunshine iloveyou'],
])('%s is not', (_, password) => {
  expect(check(password)).toBeUndefined()
})

test('a length is told of before all else, and the identifier before the list', () => {
  expect(check('anna', 'anna@example.com')?.rule).toBe('too_short')
  expect(check('sunshine', 'sunshine@example.com')?.rule).toBe('like_identifier')
})

test('texts made to be costly are answered all the same', () => {
  const expanding = '\ufdfa'
  expect(check(expanding.repeat(1024), expanding.repeat(84))).toBeUndefined()
  expect(check('ab'.repeat(511), 'ba'.repeat(100_000))).toEqual({ rule: 'common' })
  expect(check(`${'ab'.repeat(100)}c`, 'ba'.repeat(100_000))).toEqual({ rule: 'like_identifier' })
  expect(check('x'.repeat(5_000_000))?.rule).toBe('too_long')
})
