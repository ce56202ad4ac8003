import type { Tone } from '../../tone.ts'

export const DELAYED_STATUSES = ['pending', 'running', 'success', 'failed', 'cancelled'] as const
export type DelayedStatus = (typeof DELAYED_STATUSES)[number]

/** Number of delayed jobs by status; undefined if there are too many to count. */
export interface DelayedCounts {
  all: number
  byStatus: ReadonlyMap<DelayedStatus, number>
}

/** Labels of a status: in a row, as a filter, and of the job's time. */
export const DELAYED_WORDS: Record<
  DelayedStatus,
  { tone: Tone; word: string; label: string; time: string }
> = {
  pending: { tone: 'quiet', word: 'pending', label: 'Pending', time: 'Runs' },
  running: { tone: 'busy', word: 'running', label: 'Running', time: 'Scheduled for' },
  success: { tone: 'good', word: 'succeeded', label: 'Succeeded', time: 'Scheduled for' },
  failed: { tone: 'bad', word: 'failed', label: 'Failed', time: 'Scheduled for' },
  cancelled: { tone: 'quiet', word: 'cancelled', label: 'Cancelled', time: 'Scheduled for' },
}
