import { expect, test } from 'bun:test'
import { lasting, merged, textOf } from '../../../src/platform/metrics/family.ts'
import { createMetrics } from '../../../src/platform/metrics/index.ts'

/** A process that has counted `requests`, started at `start` and reads 7 from the database. */
function processWith(requests: number, start: number) {
  const metrics = createMetrics()
  const counter = metrics.counter('requests_total', 'Requests.')
  counter.add({ route: '/a' }, requests)
  if (requests > 1) counter.add({ route: '/b' })
  metrics.histogram('seconds', 'Time.', [1]).observe({}, requests)
  metrics.gauge('held', 'Held.', () => [{ value: requests }], 'sum')
  metrics.gauge('start', 'Start.', () => [{ value: start }], 'min')
  metrics.gauge('rows', 'Rows.', () => [{ value: 7 }])
  return metrics
}

const valuesIn = (text: string) =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))

test('The metrics of several processes are one: sums, the first start, and what all read alike once', () => {
  const [scraped, other] = [processWith(1, 20), processWith(4, 10)]
  const text = textOf(merged([scraped.collect(), other.collect({ ofProcess: true })]))
  expect(valuesIn(text)).toEqual([
    'gatehouse_requests_total{route="/a"} 5',
    'gatehouse_requests_total{route="/b"} 1',
    'gatehouse_seconds_bucket{le="1"} 1',
    'gatehouse_seconds_bucket{le="+Inf"} 2',
    'gatehouse_seconds_sum 5',
    'gatehouse_seconds_count 2',
    'gatehouse_held 5',
    'gatehouse_start 10',
    'gatehouse_rows 7',
    'gatehouse_scrape_errors_total 0',
  ])
  expect(textOf(merged([scraped.collect()]))).toBe(scraped.render())
})

test('Of a process that has ended, the counts remain and nothing else', () => {
  const names = lasting(processWith(1, 1).collect()).map(({ name }) => name)
  expect(names).toEqual([
    'gatehouse_requests_total',
    'gatehouse_seconds',
    'gatehouse_scrape_errors_total',
  ])
})
