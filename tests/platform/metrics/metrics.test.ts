import { expect, test } from 'bun:test'
import { createDeliveryMetrics } from '../../../src/delivery/metrics.ts'
import { createStore as createDeliveryStore } from '../../../src/delivery/store/index.ts'
import { createClockworkMetrics } from '../../../src/engines/clockwork/metrics.ts'
import { createStore as createClockworkStore } from '../../../src/engines/clockwork/store/index.ts'
import { createRelayMetrics } from '../../../src/engines/relay/metrics.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'
import { bootTestApp } from '../../support/app.ts'

test('Counters, gauges and histograms are written in the text format of Prometheus', () => {
  const metrics = createMetrics()
  const counter = metrics.counter('things_total', 'Things.')
  metrics.gauge('level', 'Level.', () => [{ labels: { of: 'water' }, value: 3 }])
  const histogram = metrics.histogram('seconds', 'Time.', [0.1, 1])
  counter.add({ kind: 'a' })
  counter.add({ kind: 'a' }, 2)
  counter.add({ kind: 'a"b\\c\nd' })
  for (const seconds of [0.1, 0.5, 7]) histogram.observe({}, seconds)
  metrics.total('cpu_seconds_total', 'CPU.', () => [{ value: 4.5 }])
  expect(metrics.render()).toBe(`# HELP gatehouse_things_total Things.
# TYPE gatehouse_things_total counter
gatehouse_things_total{kind="a"} 3
gatehouse_things_total{kind="a\\"b\\\\c\\nd"} 1
# HELP gatehouse_level Level.
# TYPE gatehouse_level gauge
gatehouse_level{of="water"} 3
# HELP gatehouse_seconds Time.
# TYPE gatehouse_seconds histogram
gatehouse_seconds_bucket{le="0.1"} 1
gatehouse_seconds_bucket{le="1"} 2
gatehouse_seconds_bucket{le="+Inf"} 3
gatehouse_seconds_sum 7.6
gatehouse_seconds_count 3
# HELP gatehouse_cpu_seconds_total CPU.
# TYPE gatehouse_cpu_seconds_total counter
gatehouse_cpu_seconds_total 4.5
# HELP gatehouse_scrape_errors_total Metrics missing because they could not be read.
# TYPE gatehouse_scrape_errors_total counter
gatehouse_scrape_errors_total 0
`)
})

test('A known series is shown as 0 before it counts anything', () => {
  const metrics = createMetrics()
  const series = metrics.counter('x_total', 'X.').with({ result: 'sent' })
  metrics.histogram('y_seconds', 'Y.', [1]).with({})
  expect(metrics.render()).toContain('gatehouse_x_total{result="sent"} 0\n')
  expect(metrics.render()).toContain('gatehouse_y_seconds_count 0\n')
  series.add()
  expect(metrics.render()).toContain('gatehouse_x_total{result="sent"} 1\n')
})

test('An unreadable metric is left out and counted, in the same answer; the rest is there', () => {
  const metrics = createMetrics()
  metrics.gauge('broken', 'Broken.', () => {
    throw new Error('no database')
  })
  metrics.gauge('sound', 'Sound.', () => [{ value: 1 }])
  const first = metrics.render()
  expect(first).not.toContain('broken')
  expect(first).toContain('gatehouse_sound 1\n')
  expect(first).toEndWith('gatehouse_scrape_errors_total 1\n')
  expect(metrics.render()).toEndWith('gatehouse_scrape_errors_total 2\n')
})

test('What is lost with its commit is not counted', async () => {
  await using app = await bootTestApp()
  const { db, clock } = app
  const metrics = createMetrics()
  const parts = { metrics, clock, db }
  const clockwork = createClockworkMetrics(parts, createClockworkStore(db))
  const delivery = createDeliveryMetrics(parts, createDeliveryStore(db))
  const relay = createRelayMetrics(metrics, db)
  const happens = () => {
    clockwork.attemptEnded('success', 10)
    clockwork.slotsSkipped('outage', 1)
    clockwork.leaseReclaimed()
    delivery.attemptEnded('succeeded', 10)
    relay.accepted('live')
    relay.repeated()
  }
  const pattern = /^gatehouse_(?!scrape)(\w+(?:_total|_count)(?:{.*})?) [1-9]/gm
  const counted = () => [...metrics.render().matchAll(pattern)].map(([, series]) => series)
  const lost = db.commit(() => {
    happens()
    throw new Error('lost')
  })
  await expect(lost).rejects.toThrow('lost')
  expect(counted()).toEqual([])
  await db.commit(happens)
  expect(counted()).toHaveLength(8)
})
