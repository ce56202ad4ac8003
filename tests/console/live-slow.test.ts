import { expect, test } from 'bun:test'
import { h } from 'preact'
import { createLive } from '../../src/console/live/index.ts'
import { createLog } from '../../src/platform/log.ts'
import { createTestClock } from '../support/clock.ts'

const SECOND = 1000
const log = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })

/** Something that is different at each look, and large. */
function watched() {
  const clock = createTestClock('2026-03-01T12:00:00.000Z')
  const live = createLive({ clock, log })
  let looks = 0
  const open = (mayRead = () => true) =>
    live.open({
      name: 'all',
      sessionId: 'session',
      operatorId: 'operator',
      tenantId: 'tenant',
      mayRead,
      shownId: '',
      render: () => {
        looks++
        const text = `${looks} ${'x'.repeat(100_000)}`
        return [{ target: 'part', facts: text, draw: () => h('p', null, text) }]
      },
    })
  return { clock, live, open, looks: () => looks }
}

test('who reads nothing is not written to for ever, and given up in the end', async () => {
  const { clock, live, open } = watched()
  const answer = open()
  await clock.advance(60 * SECOND)
  expect(live.count()).toBe(1)
  await clock.advance(60 * SECOND)
  expect(live.count()).toBe(0)
  const { byteLength } = await answer.arrayBuffer()
  expect(byteLength).toBeGreaterThan(500_000)
  expect(byteLength).toBeLessThan(800_000)
})

test('who has caught up gets what is there by then', async () => {
  const { clock, open, looks } = watched()
  const reader = open().body?.getReader()
  await clock.advance(30 * SECOND)
  const read = async () => new TextDecoder().decode((await reader?.read())?.value)
  let text = ''
  while (!text.includes('data: ')) text = await read()
  expect(text).toContain('>1 x')
  for (let chunks = 0; chunks < 5; chunks++) await read()
  await clock.advance(SECOND)
  while (!text.includes(`>${looks()} x`)) text = await read()
  await reader?.cancel()
})

test('all who look at the same thing cost one look a second, and nobody costs none', async () => {
  const { clock, open, looks } = watched()
  const answers = [open(), open(), open()]
  const before = looks()
  await clock.advance(5 * SECOND)
  expect(looks() - before).toBe(5)
  for (const { body } of answers) await body?.cancel()
  await clock.advance(5 * SECOND)
  expect(looks() - before).toBe(5)
})

test('what cannot be read now does not end a stream', async () => {
  const clock = createTestClock('2026-03-01T12:00:00.000Z')
  const live = createLive({ clock, log })
  let isBroken = false
  const open = () =>
    live.open({
      name: 'all',
      sessionId: 'session',
      operatorId: 'operator',
      tenantId: 'tenant',
      mayRead: () => true,
      shownId: '',
      render: () => {
        if (isBroken) throw new Error('the disk is gone')
        return []
      },
    })
  const { body } = open()
  isBroken = true
  await clock.advance(5 * SECOND)
  expect(live.count()).toBe(1)
  expect(open).toThrow('the disk is gone')
  expect(live.count()).toBe(1)
  await body?.cancel()
})
