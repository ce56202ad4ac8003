import { expect, test } from 'bun:test'
import { createMetrics } from '../../src/platform/metrics.ts'

test('counters, gauges and histograms are written in the text format of Prometheus', () => {
  const metrics = createMetrics()
  const counter = metrics.counter('things_total', 'Things.')
  metrics.gauge('level', 'Level.', () => [{ labels: { of: 'water' }, value: 3 }])
  const histogram = metrics.histogram('seconds', 'Time.', [0.1, 1])
  counter.add({ kind: 'a' })
  counter.add({ kind: 'a' }, 2)
  histogram.observe({}, 0.1)
  histogram.observe({}, 0.5)
  histogram.observe({}, 7)

  expect(metrics.render()).toBe(`# HELP gatehouse_things_total Things.
# TYPE gatehouse_things_total counter
gatehouse_things_total{kind="a"} 3
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
`)
})

test('label values cannot break out of their quotes', () => {
  const metrics = createMetrics()
  metrics.counter('x_total', 'X.').add({ name: 'a"b\\c\nd' })

  expect(metrics.render()).toContain('gatehouse_x_total{name="a\\"b\\\\c\\nd"} 1\n')
})
