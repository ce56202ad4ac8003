import type { Metrics } from '../metrics/index.ts'
import type { Store } from './store/index.ts'

/** Counts finished emails. */
export interface MailEvents {
  ended(result: 'sent' | 'failed'): void
}

export function createMailMetrics(metrics: Metrics, { queue }: Store): MailEvents {
  const ended = metrics.counter('mails_total', 'Finished emails by result.')
  const byResult = {
    sent: ended.with({ result: 'sent' }),
    failed: ended.with({ result: 'failed' }),
  }
  metrics.gauge(
    'mails_open',
    'Emails that are due or waiting for a retry, up to 10,000 each.',
    () => [
      { labels: { state: 'ready' }, value: queue.readyCount() },
      { labels: { state: 'waiting' }, value: queue.waitingCount() },
    ],
  )
  return { ended: (result) => byResult[result].add() }
}
