import { createMetrics } from '../platform/metrics/index.ts'
import { createProcessMetrics } from '../platform/metrics/process.ts'
import { createPairMetrics } from '../platform/replication/metrics.ts'
import type { Standby } from './standby.ts'

/** The metrics of a standby as text, read at each call. */
export function createStandbyMetrics(standby: Pick<Standby, 'lease' | 'report'>): () => string {
  const metrics = createMetrics()
  const { watched } = createProcessMetrics(metrics)
  createPairMetrics(metrics, () => {
    const { isReady, lagMs } = standby.report()
    return { role: 'standby', generation: standby.lease()?.generation, isReady, lagMs }
  })
  return () => {
    watched()
    return metrics.render()
  }
}
