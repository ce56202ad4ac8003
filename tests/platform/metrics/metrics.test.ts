import { expect, test } from 'bun:test'
import { createMetrics } from '../../../src/platform/metrics/index.ts'

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
  const counter = metrics.counter('x_total', 'X.')
  const series = counter.with({ result: 'sent' })
  metrics.histogram('y_seconds', 'Y.', [1]).with({})
  expect(metrics.render()).toContain('gatehouse_x_total{result="sent"} 0\n')
  expect(metrics.render()).toContain('gatehouse_y_seconds_count 0\n')
  series.add()
  counter.with({ result: 'sent' })
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
