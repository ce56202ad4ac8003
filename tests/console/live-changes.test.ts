import { describe, expect, test } from 'bun:test'
import { h } from 'preact'
import { changesTo } from '../../src/console/live/changes.ts'
import { createLive } from '../../src/console/live/index.ts'
import { type Part, stateIdOf, stateOf } from '../../src/console/live/part.ts'
import { createLog } from '../../src/platform/log.ts'
import { createTestClock } from '../support/clock.ts'
import { SECOND } from './fixture.ts'

type Rows = Record<string, string>

/** A list of a page, by the ids and texts of its rows. */
const list = (rows: Rows): Part[] => {
  const items = Object.entries(rows).map(([id, text]) => h('li', { id }, text))
  return [{ target: 'list', facts: rows, draw: () => h('ol', null, items) }]
}

/** The changes of a message: target, way to swap, HTML. */
const changes = (text: string) =>
  [...text.matchAll(/<hx-partial hx-target="(.+?)" hx-swap="(.+?)">([\s\S]*?)<\/hx-partial>/g)].map(
    ([, ...change]) => change,
  )

const changesOf = (before: Rows, now: Rows) => {
  const known = stateOf(list(before), undefined)
  return changes(changesTo(stateOf(list(now), known), known))
}

test('A page gets everything where its state is unknown, else rows that were added, changed or removed', () => {
  const now = stateOf(list({ a: 'one' }), undefined)
  const all = ['#list', 'innerMorph', '<ol><li id="a">one</li></ol>']
  expect(changes(changesTo(now, undefined))).toEqual([all])
  expect(changesOf({ a: 'one' }, { a: 'one' })).toEqual([])
  const before = { c: 'three', b: 'two', a: 'one' }
  const added = '<li class="changed" id="e">five</li><li class="changed" id="d">four</li>'
  expect(changesOf(before, { e: 'five', d: 'four', c: 'THREE', b: 'two' })).toEqual([
    ['#a', 'delete', ''],
    ['#c', 'outerHTML', '<li class="changed" id="c">THREE</li>'],
    ['#c', 'beforebegin', added],
  ])
})

test('A page gets the whole part where rows change places, come in between, or all change', () => {
  for (const rows of [
    { b: 'two', a: 'one' },
    { a: 'one', c: 'three', b: 'two' },
    { x: 'ten' },
    {},
  ] as Rows[])
    expect(changesOf({ a: 'one', b: 'two' }, rows)).toEqual([
      ['#list', 'innerMorph', expect.anything()],
    ])
})

test('A page gets only parts that changed, no relative times, and no markup of tenants', () => {
  const quiet: Part = { target: 'quiet', facts: 1, draw: () => h('p', null, 'as ever') }
  const before = stateOf([...list({ a: 'one' }), quiet], undefined)
  const now = stateOf([...list({ b: 'two', a: 'one' }), quiet], before)
  expect(changesTo(now, before)).not.toContain('quiet')
  const at = (time: string): Part[] => {
    const row = h('li', { id: 'a' }, h('span', { 'data-relative': true }, time))
    return [{ target: 'list', facts: time, draw: () => h('ol', null, row) }]
  }
  const earlier = stateOf(at('now'), undefined)
  expect(changesTo(stateOf(at('1 s ago'), earlier), earlier)).toBe('')
  const hostile = '</li></ol><hx-partial hx-target="body"><script>alert(1)</script>'
  const found = changesOf({ a: 'one' }, { b: hostile, a: 'one' })
  expect([found.length, JSON.stringify(found).includes('<script>')]).toEqual([1, false])
})

test('A state is identified by its facts, and draws only parts whose facts changed', () => {
  const parts = list({ a: 'one' })
  expect(stateOf(parts, undefined).id).toBe(stateIdOf(list({ a: 'one' })))
  expect(stateIdOf(list({ a: 'two' }))).not.toBe(stateIdOf(parts))
  let drawn = 0
  const draw = () => h('p', null, `${++drawn}`)
  const part = (facts: number): Part[] => [{ target: 'part', facts, draw }]
  const first = stateOf(part(1), undefined)
  const second = stateOf(part(1), first)
  expect([drawn, second.id]).toEqual([1, first.id])
  stateOf(part(2), second)
  expect(drawn).toBe(2)
})

/** Streams of a page that is different and large each time it is read. */
function createStreams() {
  const clock = createTestClock('2026-03-01T12:00:00.000Z')
  const log = createLog({ level: 'error', format: 'text', now: () => 0, write: () => {} })
  const live = createLive({ clock, log })
  const state = { reads: 0, isBroken: false }
  const open = (fields: object = {}) =>
    live.open({
      name: 'all',
      sessionId: 'session',
      operatorId: 'operator',
      tenantId: 'tenant',
      mayRead: () => true,
      shownId: '',
      render: () => {
        if (state.isBroken) throw new Error('the disk is gone')
        const text = `${++state.reads} ${'x'.repeat(100_000)}`
        return [{ target: 'part', facts: text, draw: () => h('p', null, text) }]
      },
      ...fields,
    })
  return { clock, live, open, state }
}

test('A stream that is not read ends after two minutes, and takes little memory', async () => {
  const { clock, live, open } = createStreams()
  const answer = open()
  await clock.advance(60 * SECOND)
  expect(live.count()).toBe(1)
  await clock.advance(60 * SECOND)
  expect(live.count()).toBe(0)
  const { byteLength } = await answer.arrayBuffer()
  expect([byteLength > 500_000, byteLength < 800_000]).toEqual([true, true])
})

test('A stream that was read late goes on with the latest state', async () => {
  const { clock, open, state } = createStreams()
  const reader = open().body?.getReader()
  await clock.advance(30 * SECOND)
  const read = async () => new TextDecoder().decode((await reader?.read())?.value)
  let text = ''
  while (!text.includes('data: ')) text = await read()
  expect(text).toContain('>1 x')
  for (let chunks = 0; chunks < 5; chunks++) await read()
  await clock.advance(SECOND)
  while (!text.includes(`>${state.reads} x`)) text = await read()
  await reader?.cancel()
})

test('Streams of a page share one read a second, and survive a failed one', async () => {
  const { clock, live, open, state } = createStreams()
  const answers = [open(), open(), open()]
  const before = state.reads
  await clock.advance(5 * SECOND)
  expect(state.reads - before).toBe(5)
  state.isBroken = true
  await clock.advance(5 * SECOND)
  expect(open).toThrow('the disk is gone')
  expect(live.count()).toBe(3)
  state.isBroken = false
  for (const { body } of answers) await body?.cancel()
  await clock.advance(5 * SECOND)
  expect(state.reads - before).toBe(5)
})

describe('All streams together', () => {
  const ALL = 256

  /** Opens streams for tenants, each with as many sessions and operators as it needs. */
  function createRoom() {
    const { live, open } = createStreams()
    const held = new Map<string, number>()
    const holds = (tenantId: string) => held.get(tenantId) ?? 0
    let opened = 0

    function openFor(tenantId: string) {
      const session = Math.floor(opened / 8)
      const of = { sessionId: `${session}`, operatorId: `${Math.floor(session / 4)}` }
      const reader = open({ name: tenantId, tenantId, ...of, render: () => [] }).body?.getReader()
      opened++
      held.set(tenantId, holds(tenantId) + 1)
      void (async () => {
        while (!(await reader?.read())?.done);
        held.set(tenantId, holds(tenantId) - 1)
      })()
      return { leave: () => reader?.cancel() }
    }

    /** Opens streams until one is refused; answers with their number. */
    async function fill(tenantId: string) {
      for (let count = 0; ; count++) {
        try {
          openFor(tenantId)
          await Bun.sleep(0)
        } catch (error) {
          expect(error).toMatchObject({ kind: 'unavailable' })
          return count
        }
      }
    }
    return { live, openFor, fill, holds }
  }

  test('are shared: a tenant with all of them gives one up for another, when there is no room', async () => {
    const { live, openFor, fill, holds } = createRoom()
    const first = openFor('acme')
    expect(await fill('hostile')).toBe(ALL - 1)
    await first.leave()
    openFor('other')
    await Bun.sleep(0)
    expect([holds('hostile'), holds('other')]).toEqual([ALL - 1, 1])
    openFor('acme')
    await Bun.sleep(0)
    expect([holds('acme'), holds('hostile'), live.count()]).toEqual([1, ALL - 2, ALL])
    expect([await fill('hostile'), holds('acme')]).toEqual([0, 1])
  })

  test('are divided equally among tenants, and at least one for each as long as there are any', async () => {
    const { live, fill, holds } = createRoom()
    const tenants = ['hostile', 'worse', 'acme']
    for (const tenant of tenants) await fill(tenant)
    for (const tenant of tenants) {
      expect(await fill(tenant)).toBe(0)
      expect(holds(tenant)).toBeGreaterThanOrEqual(Math.floor(ALL / 3))
    }
    expect(live.count()).toBe(ALL)

    const many = createRoom()
    for (let n = 0; n < ALL; n++) many.openFor(`tenant ${n}`)
    expect([await many.fill('tenant 0'), await many.fill('late')]).toEqual([0, 0])
  })
})
