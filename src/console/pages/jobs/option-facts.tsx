import type { ComponentChildren } from 'preact'
import { Text } from '../../../../views/ui/text.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import { url } from '../../../../views/ui/url.ts'
import type { RetryOptions } from '../../../engines/clockwork/job-options.ts'
import type { CronJob, DelayedJob } from '../../../engines/clockwork/model.ts'
import { SECOND_MS } from '../../../platform/durations.ts'
import { usePage } from '../../page.tsx'

type Fact = readonly [name: string, value: ComponentChildren]

const OVERLAPS = {
  skip: null,
  queue: 'Queue one run',
  allow: 'Start further runs, up to 20',
} as const

/** The options of a job that are set. */
export function optionFacts(
  job: Omit<DelayedJob, 'run_at' | 'status'> & Partial<Pick<CronJob, 'overlap' | 'alert_after'>>,
): Fact[] {
  const { href } = usePage()
  const list = href(job.overlap === undefined ? '/delayed' : '/jobs')
  const facts: [name: string, value: ComponentChildren][] = [
    ['Timeout', job.timeout_ms && duration(job.timeout_ms)],
    ['Retries', job.retry && retryWords(job.retry)],
    ['Success statuses', job.success_statuses?.join(', ')],
    ['Overlap', job.overlap && OVERLAPS[job.overlap]],
    ['Alert', alertWords(job.alert_after)],
    ['Secret headers', Object.keys(job.secret_headers).join(', ')],
    ['Signed', job.signed && <a href={href('/jobs/signing-secret')}>Standard Webhooks</a>],
    ['Connections', job.reuse_connection && 'Reused'],
    ['Tags', job.tags.map((tag) => <Tag tag={tag} list={list} />)],
    ['Deduplication ID', job.deduplication_id && <Text text={job.deduplication_id} limit={80} />],
    ['Notes', job.notes && <Text text={job.notes} limit={2000} />],
  ]
  return facts.filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value))
}

/** Links to the jobs with this tag. */
const Tag = ({ tag, list }: { tag: string; list: string }) => (
  <>
    <a href={url('', list, { tag })}>{tag}</a>{' '}
  </>
)

const alertWords = (runs = 1): string | null =>
  runs === 1 ? null : `After ${runs} failed runs in a row`

function retryWords({ max_attempts, delays, backoff }: RetryOptions): string {
  if (max_attempts === 1) return 'None'
  const attempts = max_attempts === undefined ? '' : `${max_attempts} attempts`
  const times = (seconds: readonly number[]) =>
    seconds.map((one) => duration(one * SECOND_MS)).join(', ')
  const when = delays
    ? `after ${times(delays)}`
    : backoff && `backoff from ${times([backoff.initial_seconds])}`
  return [attempts, when].filter(Boolean).join(', ') || 'Custom'
}
