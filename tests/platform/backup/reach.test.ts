import { expect, test } from 'bun:test'
import { createReach } from '../../../src/platform/backup/reach.ts'
import { createTestClock } from '../../support/clock.ts'

test('what a mount answers is handed on, and so is what it complains of', async () => {
  const reach = createReach(createTestClock('2026-11-22T05:12:38Z'))

  expect(await reach('f', async () => 7)).toBe(7)
  await expect(reach('f', () => Promise.reject(new Error('no such file')))).rejects.toThrow(
    'no such',
  )
  expect(await reach('f', async () => 8)).toBe(8)
})

test('a mount that is gone holds up one call, for five seconds, until it is back', async () => {
  const clock = createTestClock('2026-11-22T05:12:38Z')
  const reach = createReach(clock)
  const answer = Promise.withResolvers<number>()
  let calls = 0
  const first = reach('/mnt/f', () => {
    calls++
    return answer.promise
  })
  first.catch(() => {})

  await clock.advance(5000)
  await expect(first).rejects.toThrow('/mnt/f does not respond: check its mount')
  await expect(reach('/mnt/g', async () => calls++)).rejects.toThrow('does not respond')
  expect(calls).toBe(1)

  answer.resolve(1)
  await answer.promise
  expect(await reach('/mnt/g', async () => 2)).toBe(2)
})
