import { expect, test } from 'bun:test'
import { createReach } from '../../../src/platform/backup/reach.ts'
import { createTestClock } from '../../support/clock.ts'

const clock = createTestClock('2026-11-22T05:12:38Z')

test('The result or error of a call to a mount is passed on', async () => {
  const reach = createReach(clock)
  const failing = reach('f', () => Promise.reject(new Error('no such file')))
  await expect(failing).rejects.toThrow('no such file')
  expect(await reach('f', async () => 8)).toBe(8)
})

test('A hung mount holds up one call, for 5 seconds, and others fail until it is back', async () => {
  const reach = createReach(clock)
  const answer = Promise.withResolvers<number>()
  const first = reach('/mnt/f', () => answer.promise)
  first.catch(() => {})
  await clock.advance(5000)
  await expect(first).rejects.toThrow('/mnt/f does not respond')
  const second = reach('/mnt/g', async () => expect.unreachable())
  await expect(second).rejects.toThrow('does not respond')
  answer.resolve(1)
  await answer.promise
  expect(await reach('/mnt/g', async () => 2)).toBe(2)
})
