import { expect, test } from 'bun:test'
import { createHttpMetrics } from '../../src/http/http-metrics.ts'
import { createMetrics } from '../../src/platform/metrics/index.ts'

test('A refusal counts once, whether its code is shown from the start or not', () => {
  const metrics = createMetrics()
  const { refused } = createHttpMetrics(metrics)
  for (const code of ['rate_limited', 'rate_limited', 'too_many_attempts']) refused(code)
  const shown = metrics.render()
  expect(shown).toContain('gatehouse_refusals_total{code="rate_limited"} 2\n')
  expect(shown).toContain('gatehouse_refusals_total{code="too_many_attempts"} 1\n')
  expect(shown).toContain('gatehouse_refusals_total{code="spend_cap_reached"} 0\n')
})

test('Requests of a route, method and status share a series that is looked up once', () => {
  const metrics = createMetrics()
  let lookups = 0
  const counter: typeof metrics.counter = (...args) => {
    const made = metrics.counter(...args)
    const seen = (labels: Record<string, string>) => {
      if ('route' in labels) lookups++
      return made.with(labels)
    }
    return { ...made, with: seen }
  }
  const { observe } = createHttpMetrics({ ...metrics, counter })
  for (const method of ['GET', 'GET', 'BREW', 'MELT'])
    observe({ route: '/v1/x', method, status: 200, durationMs: 1 })
  const shown = metrics.render()
  const total = 'gatehouse_http_requests_total{route="/v1/x"'
  expect(shown).toContain(`${total},method="GET",status="200"} 2\n`)
  expect(shown).toContain(`${total},method="other",status="200"} 2\n`)
  expect(lookups).toBe(2)
})
