import { expect, test } from 'bun:test'
import { flashOf } from '../../src/console/flash.ts'

const FLASHES = { saved: { tone: 'good', text: 'Saved.' } } as const

test('a page says what its address says was done', () => {
  expect(flashOf(FLASHES, 'saved')).toEqual(FLASHES.saved)
})

test.each(['', 'else', 'constructor', '__proto__', null, undefined])(
  'and nothing of %p',
  (done) => {
    expect(flashOf(FLASHES, done)).toBeUndefined()
  },
)
