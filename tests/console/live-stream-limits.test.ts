import { expect, test } from 'bun:test'
import { createLive } from '../../src/console/live/index.ts'
import { createLog } from '../../src/platform/log.ts'
import { createTestClock } from '../support/clock.ts'

const ALL = 256
const log = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })

/** Tenants whose operators open pages, each in as many sessions as it takes. */
function room() {
  const live = createLive({ clock: createTestClock('2026-03-01T12:00:00.000Z'), log })
  const held = new Map<string, number>()
  let opened = 0

  /** Opens a page; when its stream is closed, `tenantId` holds one fewer. */
  function open(tenantId: string) {
    const session = Math.floor(opened / 8)
    const { body } = live.open({
      name: tenantId,
      tenantId,
      sessionId: `session ${session}`,
      operatorId: `operator ${Math.floor(session / 4)}`,
      render: () => [],
      mayRead: () => true,
      shownId: '',
    })
    opened++
    const count = (n: number) => held.set(tenantId, (held.get(tenantId) ?? 0) + n)
    count(1)
    const reader = body?.getReader()
    const closed = (async () => {
      while (!(await reader?.read())?.done);
      count(-1)
    })()
    return { closed, leave: () => reader?.cancel() }
  }

  /** Opens pages until one is refused; how many were not. */
  async function fill(tenantId: string) {
    for (let pages = 0; ; pages++) {
      try {
        open(tenantId)
        await Bun.sleep(0)
      } catch (error) {
        expect(error).toMatchObject({ kind: 'unavailable' })
        return pages
      }
    }
  }

  const holds = (tenantId: string) => held.get(tenantId) ?? 0
  return { live, open, fill, holds }
}

test('a tenant that holds all streams gives one up to a tenant that has none', async () => {
  const { live, open, fill, holds } = room()
  expect(await fill('hostile')).toBe(ALL)

  open('acme')
  await Bun.sleep(0)

  expect([holds('acme'), holds('hostile'), live.count()]).toEqual([1, ALL - 1, ALL])
  // Its pages that connect again are refused, and take nothing back.
  expect(await fill('hostile')).toBe(0)
  expect(holds('acme')).toBe(1)
})

test('each of several tenants gets its share of a full room, and all are refused from then on', async () => {
  const { live, fill, holds } = room()
  const tenants = ['hostile', 'worse', 'acme']
  for (const tenant of tenants) await fill(tenant)

  for (const tenant of tenants) expect(await fill(tenant)).toBe(0)
  for (const tenant of tenants) expect(holds(tenant)).toBeGreaterThanOrEqual(Math.floor(ALL / 3))
  expect(live.count()).toBe(ALL)
})

test('as many tenants as there are streams keep one each, and the next is refused', async () => {
  const { open, fill } = room()
  for (let n = 0; n < ALL; n++) open(`tenant ${n}`)

  expect(await fill('tenant 0')).toBe(0)
  expect(await fill('late')).toBe(0)
})

test('no stream is closed while there is room', async () => {
  const { open, fill, holds } = room()
  const first = open('acme')
  expect(await fill('large')).toBe(ALL - 1)
  await first.leave()

  open('other')
  await Bun.sleep(0)

  expect([holds('large'), holds('other')]).toEqual([ALL - 1, 1])
})
