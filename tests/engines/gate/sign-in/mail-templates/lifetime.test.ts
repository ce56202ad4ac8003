import { expect, test } from 'bun:test'
import { inWords } from '../../../../../src/engines/gate/sign-in/mail-templates/lifetime.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

test.each([
  [SECOND, '1 second', '1 Sekunde'],
  [59 * SECOND, '59 seconds', '59 Sekunden'],
  [MINUTE, '1 minute', '1 Minute'],
  [15 * MINUTE, '15 minutes', '15 Minuten'],
  [59 * MINUTE, '59 minutes', '59 Minuten'],
  [HOUR, '1 hour', '1 Stunde'],
  [90 * MINUTE, '90 minutes', '90 Minuten'],
  [24 * HOUR, '24 hours', '24 Stunden'],
])('%d ms are %s', (ms, english, german) => {
  expect(inWords(ms, 'en')).toBe(english)
  expect(inWords(ms, 'de')).toBe(german)
})

test.each([
  [MINUTE - 1, '59 seconds'],
  [2 * MINUTE - 1, '1 minute'],
  [HOUR - 1, '59 minutes'],
  [HOUR + 59 * SECOND, '1 hour'],
])('%d ms are not made more than they are: %s', (ms, words) => {
  expect(inWords(ms, 'en')).toBe(words)
})
