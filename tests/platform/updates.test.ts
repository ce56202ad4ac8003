import { afterAll, expect, test } from 'bun:test'
import { createUpdateCheck } from '../../src/platform/updates.ts'
import { useApp } from '../support/app.ts'
import { until } from '../support/binary.ts'
import { createTestClock } from '../support/clock.ts'
import { startTarget } from '../support/target.ts'

const DAY = 86_400_000

const target = startTarget()
const app = await useApp()
afterAll(() => target.stop())

const open = () =>
  app.platform.alerts
    .page(null, 'open', { limit: 9 })
    .map(({ kind, name, text }) => [kind, name, text])

const answers = (body: unknown, status = 200) =>
  target.answers(() =>
    typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status }),
  )

const newCheck = (version: string) =>
  createUpdateCheck({ ...app.platform, feed: `${target.url}/latest`, version })

const alertOf = (latest: string) => [
  'version.new',
  latest,
  'This installation runs 0.1.0. Read the changelog before you upgrade.',
]

test('A newer release is an alert until it runs or is replaced, and the request says nothing about the installation', async () => {
  const { check } = newCheck('0.1.0')
  for (const [tag_name, expected] of [
    ['v0.1.0', []],
    ['v0.0.9', []],
    ['v0.2.0', [alertOf('0.2.0')]],
    ['0.2.0', [alertOf('0.2.0')]],
    ['v0.10.0', [alertOf('0.10.0')]],
  ] as const) {
    answers({ tag_name, name: 'x' })
    await check()
    expect([tag_name, open()]).toEqual([tag_name, expected as never])
  }
  const sent = Object.fromEntries(target.requests[0]?.headers.entries() ?? [])
  const { host, connection, ...told } = sent
  expect(told).toEqual({ 'user-agent': 'gatehouse', accept: 'application/json' })
  expect(target.requests[0]).toMatchObject({ method: 'GET', path: '/hook/latest', body: '' })
  await newCheck('0.10.0').check()
  expect(open()).toEqual([])
  const { page } = app.platform.alerts
  expect(page(null, 'resolved', { limit: 9 })).toMatchObject([{ dueAt: null }, { dueAt: null }])
})

test.each<[what: string, body: unknown, status: number]>([
  ['no version', { tag_name: '<b>9.9.9</b>' }, 200],
  ['a preview', { tag_name: 'v9.9.9-rc.1' }, 200],
  ['a list', [{ tag_name: 'v9.9.9' }], 200],
  ['a number that is too long', { tag_name: `v9.9.${'9'.repeat(400)}` }, 200],
  ['no JSON', '{"tag_name": "v9.9.9"', 200],
  ['more than a megabyte', `{"tag_name": "v9.9.9", "body": "${'x'.repeat(2 ** 20)}"}`, 200],
  ['an error', { tag_name: 'v9.9.9' }, 404],
])('An answer with %s changes nothing', async (_, body, status) => {
  answers(body, status)
  await newCheck('0.1.0').check()
  expect(open()).toEqual([])
  expect(app.log.join('')).toContain('no version in the answer of [updates] feed')
})

test('Nothing is asked without a feed; with one, once a day', async () => {
  answers({ tag_name: 'v0.1.0' })
  const clock = createTestClock('2026-03-01T12:00:00.000Z')
  const start = (feed: string | undefined) => {
    const check = createUpdateCheck({ ...app.platform, clock, feed, version: '0.1.0' })
    check.start()
    return check
  }
  start(undefined)
  expect(clock.timers()).toBe(0)
  const check = start(target.url)
  target.requests.length = 0
  for (let day = 0; day < 3; day++) {
    await clock.advance(DAY)
    await until(() => target.requests.length > day)
  }
  expect(target.requests).toHaveLength(3)
  check.stop()
  expect(clock.timers()).toBe(0)
})
