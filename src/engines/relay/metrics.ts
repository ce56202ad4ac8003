import type { Db } from '../../db/open.ts'
import type { Environment } from '../../platform/engines.ts'
import type { Metrics } from '../../platform/metrics/index.ts'

/** Counts accepted messages. Called inside the commit that stores them. */
export interface RelayEvents {
  accepted(environment: Environment): void
  /** A message arrived with a known idempotency key. */
  repeated(): void
}

export function createRelayMetrics(metrics: Metrics, { afterCommit }: Db): RelayEvents {
  const accepted = metrics.counter('relay_messages_total', 'Accepted messages by environment.')
  const repeated = metrics
    .counter('relay_repeats_total', 'Repeated messages with a known idempotency key.')
    .with({})
  const byEnvironment = {
    live: accepted.with({ environment: 'live' }),
    test: accepted.with({ environment: 'test' }),
  }
  return {
    accepted: (environment) => afterCommit(() => byEnvironment[environment].add()),
    repeated: () => afterCommit(() => repeated.add()),
  }
}
