import { expect, test } from 'bun:test'
import { checkPasswordLength } from '../../../../../src/engines/gate/credentials/passwords/index.ts'

const check = (password: string) => () => checkPasswordLength(password, 'some.password')

test.each([
  ['one character', 'x'],
  ['1024 characters', 'x'.repeat(1024)],
  ['1024 emojis, which are 2048 units', '🐎'.repeat(1024)],
  ['nothing but blanks', '   '],
  ['what a policy would refuse', 'password'],
])('%s can be a password', (_, password) => {
  expect(check(password)).not.toThrow()
})

test.each([
  ['an empty text', ''],
  ['1025 characters', 'x'.repeat(1025)],
  ['1025 emojis', '🐎'.repeat(1025)],
])('%s cannot, and the message names the field but not the password', (_, password) => {
  expect(check(password)).toThrow('some.password: must have 1 to 1024 characters')
})
