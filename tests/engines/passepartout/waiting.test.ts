import { expect, test } from 'bun:test'
import { createWaiting } from '../../../src/engines/passepartout/waiting.ts'
import { createTestClock } from '../../support/clock.ts'

const NEVER = new AbortController().signal

test('A tenant gets half of the room that others leave; news and closed connections free it', async () => {
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const waiting = createWaiting({ clock, db: { version: () => '' } as never })
  const wait = (tenantId: string, attemptId: string, signal = NEVER) =>
    waiting.news({ tenantId, attemptId }, 3_600_000, signal)
  /** As many requests of a tenant as there is room for. */
  function fill(tenantId: string) {
    const held: Promise<void>[] = []
    while (waiting.hasRoom(tenantId)) held.push(wait(tenantId, `${tenantId} ${held.length}`))
    return held
  }
  const held = ['a', 'b', 'c'].map(fill)
  expect(held.map(({ length }) => length)).toEqual([5000, 2500, 1250])
  expect(waiting.hasRoom('d')).toBe(true)
  waiting.tell('c 7')
  expect(waiting.hasRoom('c')).toBe(true)
  const leaving = new AbortController()
  const last = wait('c', 'x', leaving.signal)
  expect(waiting.hasRoom('c')).toBe(false)
  leaving.abort()
  await last
  expect(waiting.hasRoom('c')).toBe(true)
  waiting.close()
  await Promise.all(held.flat())
  expect([waiting.count(), waiting.hasRoom('d')]).toEqual([0, false])
})
