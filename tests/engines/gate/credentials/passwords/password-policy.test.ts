import { expect, test } from 'bun:test'
import {
  checkNewPassword,
  checkPasswordLength,
} from '../../../../../src/engines/gate/credentials/passwords/index.ts'
import { ruleOf } from '../../identities/documents/support.ts'

const ANNA = 'anna.schmidt@example.com'
const check = (password: string, identifier = ANNA, minLength = 8) =>
  checkNewPassword(password, { identifier, minLength })

/** A good password of any length. */
const randomText = (length: number) => 'x7Kq-Wd2!zR9_mT4 '.repeat(100).slice(0, length)

test.each([
  ...['k7#mQ2xw', 'correct horse battery staple', 'Füße auf Kies, 東京', 'grzbtvoq'],
  ...['🐎🦊🐢🐙🦉🐝🦔🐧', '🐎🦊🐢🐙🦉'.repeat(205).slice(0, 2048), randomText(1024)],
])('A user can choose the password %s', (password) => expect(check(password)).toBeUndefined())

test('A chosen password has between the configured number and 1024 characters', () => {
  const tooShort = (actual: number, minLength = 8) => ({ rule: 'too_short', minLength, actual })
  expect<unknown>(check('k7#mQ2x')).toEqual(tooShort(7))
  expect<unknown>(check('🐎🦊🐢🐙🦉🐝🦔')).toEqual(tooShort(7))
  expect<unknown>(check('')).toEqual(tooShort(0))
  expect<unknown>(check('k7#mQ2xwv9!', ANNA, 12)).toEqual(tooShort(11, 12))
  expect(check('k7#mQ2xwv9!t', ANNA, 12)).toBeUndefined()
  expect(check(randomText(1025))).toEqual({ rule: 'too_long', maxLength: 1024, actual: 1025 })
})

test('A password set by a program has 1 to 1024 characters, and no other rule', () => {
  const rule = (password: string) => ruleOf(() => checkPasswordLength(password, 'some.field'))
  for (const password of ['x', 'x'.repeat(1024), '🐎'.repeat(1024), '   ', 'password'])
    expect(rule(password)).toBeUndefined()
  expect(rule('')).toBe('some.field required')
  for (const one of ['x', '🐎']) expect(rule(one.repeat(1025))).toBe('some.field too_long')
})

test.each([
  ['the address', 'anna.schmidt@example.com', ANNA],
  ['the address with four changes', 'anna_schmidt_exampel.com', ANNA],
  ['the local part', 'anna.schmidt', ANNA],
  ['the local part with digits for letters', 'chr1st0ph3r', 'christopher@example.com'],
  ['the local part with a year', 'anna.schmidt1987', ANNA],
  ['more than half of the local part', 'schmidt!2x9k', ANNA],
  ['the domain with digits', 'example.com42', ANNA],
  ['a name that is not an address', 'operator-77', 'operator-7'],
  ['an address in wide letters and capitals', 'ａｎｎａ.schmidt', 'Anna.Schmidt@Example.com'],
])('A password like the identifier is refused: %s', (_, password, identifier) => {
  expect(check(password, identifier)).toEqual({ rule: 'like_identifier' })
})

test.each([
  ['a name of two letters', 'jo@example.com', 'joker-on-a-bike'],
  ['a scattered name of three letters', 'ann@example.com', 'a7n2n-9k'],
  ['a scattered name of four letters', 'anna@example.com', 'a7n2n9ak'],
  ['a name of six letters, five changes away', 'martin@example.com', 'mountaim'],
  ['exactly half of the password', 'anna@example.com', 'anna#7xq'],
  ['a name inside a long passphrase', 'anna@example.com', 'anna rides seven horses'],
  ['an address of five characters', 'a@b.c', 'a7b2c9dx'],
  ['no identifier', '', 'k7#mQ2xw'],
  ['an empty local part', '@', 'k7#mQ2xw'],
])('A password is not too like its identifier by %s', (_, identifier, password) => {
  expect(check(password, identifier)).toBeUndefined()
})

test.each([
  ...['ILoveYou', 'password123', 'password1!', 'Sunshine2024!', 'P@$$w0rd'],
  ...['sunsh1ne', 'baseba11', 'ｐａｓｓｗｏｒｄ', 'aaaaaaaa', 'z'.repeat(1024), 'жжжжжжжж'],
  ...['🐎'.repeat(8), '        ', 'ababababa', '1a2b1a2b1a2b', '23456789', '7890123456789012'],
  ...['87654321', 'abcdefgh', 'zyxwvuts', 'qwertyuiop', 'qwertzuiop', 'azertyuiop', 'йцукенгш'],
  ...['uiopasdfgh', 'poiuytrewq', '12345678!', 'AAAAAAAA#1'],
])('The password %s is common', (password) => expect(check(password)).toEqual({ rule: 'common' }))

test.each([
  ...['password-73829104', 'passwordofmine', 'zebra#8149', 'abcdfghi', 'abcdedcb', 'k7mq2k7mq2'],
  'sunshine iloveyou',
])('The password %s is not common', (password) => expect(check(password)).toBeUndefined())

test('The length is checked first, then the identifier, then the list', () => {
  expect(check('anna', 'anna@example.com')?.rule).toBe('too_short')
  expect(check('sunshine', 'sunshine@example.com')?.rule).toBe('like_identifier')
})

test('Long and expanding texts are answered quickly', () => {
  const expanding = '\ufdfa'
  expect(check(expanding.repeat(1024), expanding.repeat(84))).toBeUndefined()
  expect(check('ab'.repeat(511), 'ba'.repeat(100_000))).toEqual({ rule: 'common' })
  expect(check(`${'ab'.repeat(100)}c`, 'ba'.repeat(100_000))).toEqual({ rule: 'like_identifier' })
  expect(check('x'.repeat(5_000_000))?.rule).toBe('too_long')
})
