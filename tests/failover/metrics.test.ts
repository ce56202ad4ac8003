import { expect, test } from 'bun:test'
import { createStandbyMetrics } from '../../src/failover/metrics.ts'
import type { Standby } from '../../src/failover/standby.ts'

test('A standby has metrics of its own: what it is, how far it is behind, and its process', () => {
  const standby = {
    lease: () => ({ generation: 4 }),
    report: () => ({ isReady: false, lagMs: 1500 }),
  } as unknown as Standby
  const text = createStandbyMetrics(standby)()
  for (const line of [
    'replication_role{role="standby"} 1',
    'replication_generation 4',
    'replication_ready 0',
    'replication_standby_lag_seconds 1.5',
  ])
    expect(text).toContain(`\ngatehouse_${line}\n`)
  expect(text).toMatch(/gatehouse_build_info{version=.*gatehouse_process_resident_memory_bytes/s)
})
