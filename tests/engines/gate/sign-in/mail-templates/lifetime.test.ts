import { expect, test } from 'bun:test'
import { inWords } from '../../../../../src/engines/gate/sign-in/mail-templates/lifetime.ts'

test.each([
  [1, '1 second', '1 Sekunde'],
  [59.999, '59 seconds', '59 Sekunden'],
  [60, '1 minute', '1 Minute'],
  [119.999, '1 minute', '1 Minute'],
  [15 * 60, '15 minutes', '15 Minuten'],
  [3599.999, '59 minutes', '59 Minuten'],
  [3600, '1 hour', '1 Stunde'],
  [3659, '1 hour', '1 Stunde'],
  [5400, '90 minutes', '90 Minuten'],
  [86_400, '24 hours', '24 Stunden'],
])('%d seconds are rounded down to %s', (seconds, english, german) => {
  expect(inWords(seconds * 1000, 'en')).toBe(english)
  expect(inWords(seconds * 1000, 'de')).toBe(german)
})
