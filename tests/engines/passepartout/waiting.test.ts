import { expect, test } from 'bun:test'
import { createWaiting } from '../../../src/engines/passepartout/waiting.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'

const NEVER = new AbortController().signal
const LONG = 3_600_000

/** As many of a tenant's as there is room for wait. */
function fill(waiting: ReturnType<typeof createWaiting>, tenantId: string) {
  const held: Promise<void>[] = []
  while (waiting.hasRoom(tenantId))
    held.push(waiting.news({ tenantId, attemptId: `${tenantId} ${held.length}` }, LONG, NEVER))
  return held
}

const startWaiting = ({ db, clock }: TestApp) => createWaiting({ db, clock })

test('a tenant gets half of the room that others leave, so that the next finds some', async () => {
  await using app = await bootTestApp()
  const waiting = startWaiting(app)

  const [first, second, third] = ['a', 'b', 'c'].map((tenant) => fill(waiting, tenant).length)

  expect([first, second, third]).toEqual([5000, 2500, 1250])
  expect(waiting.hasRoom('d')).toBe(true)
  waiting.close()
})

test('room comes back once there is news, or whoever waited has gone', async () => {
  await using app = await bootTestApp()
  const waiting = startWaiting(app)
  fill(waiting, 'a')
  expect(waiting.hasRoom('a')).toBe(false)

  waiting.tell('a 7')
  expect(waiting.hasRoom('a')).toBe(true)
  const leaving = new AbortController()
  const held = waiting.news({ tenantId: 'a', attemptId: 'x' }, LONG, leaving.signal)
  expect(waiting.hasRoom('a')).toBe(false)
  leaving.abort()
  await held
  expect(waiting.hasRoom('a')).toBe(true)
  waiting.close()
})

test('whoever waits is sent away when the server ends, and nobody is held from then on', async () => {
  await using app = await bootTestApp()
  const waiting = startWaiting(app)
  const held = fill(waiting, 'a')

  waiting.close()
  await Promise.all(held)

  expect(waiting.count()).toBe(0)
  expect(waiting.hasRoom('b')).toBe(false)
})
