import { expect, test } from 'bun:test'
import { createWaiting } from '../../../src/engines/passepartout/waiting.ts'
import { useApp } from '../../support/app.ts'
import { NEVER } from './fixture.ts'

const app = await useApp()
const LONG = 3_600_000

function startWaiting() {
  const waiting = createWaiting(app)
  /** As many requests of a tenant as there is room for. */
  function fill(tenantId: string) {
    const held: Promise<void>[] = []
    while (waiting.hasRoom(tenantId))
      held.push(waiting.news({ tenantId, attemptId: `${tenantId} ${held.length}` }, LONG, NEVER))
    return held
  }
  return { ...waiting, fill, [Symbol.dispose]: waiting.close }
}

test('a tenant gets half of the room that others leave', () => {
  using waiting = startWaiting()
  expect(['a', 'b', 'c'].map((id) => waiting.fill(id).length)).toEqual([5000, 2500, 1250])
  expect(waiting.hasRoom('d')).toBe(true)
})

test('room comes back with news, and when a client goes away', async () => {
  using waiting = startWaiting()
  waiting.fill('a')
  waiting.tell('a 7')
  expect(waiting.hasRoom('a')).toBe(true)
  const leaving = new AbortController()
  const held = waiting.news({ tenantId: 'a', attemptId: 'x' }, LONG, leaving.signal)
  expect(waiting.hasRoom('a')).toBe(false)
  leaving.abort()
  await held
  expect(waiting.hasRoom('a')).toBe(true)
})

test('all are answered when the server stops, and none is held any more', async () => {
  using waiting = startWaiting()
  const held = waiting.fill('a')
  waiting.close()
  await Promise.all(held)
  expect(waiting.count()).toBe(0)
  expect(waiting.hasRoom('b')).toBe(false)
})
