import { expect, test } from 'bun:test'
import { createHttpMetrics } from '../../src/http/http-metrics.ts'
import { createMetrics } from '../../src/platform/metrics/index.ts'

test('a refusal counts once, whether its code is one that is shown from the start or not', () => {
  const metrics = createMetrics()
  const { refused } = createHttpMetrics(metrics)
  for (const code of ['rate_limited', 'rate_limited', 'too_many_attempts']) refused(code)

  const shown = metrics.render()
  expect(shown).toContain('gatehouse_refusals_total{code="rate_limited"} 2\n')
  expect(shown).toContain('gatehouse_refusals_total{code="too_many_attempts"} 1\n')
  expect(shown).toContain('gatehouse_refusals_total{code="spend_cap_reached"} 0\n')
})
