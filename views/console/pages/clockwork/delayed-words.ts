import type { Tone } from '../../tone.ts'

export const DELAYED_STATUSES = ['pending', 'running', 'success', 'failed', 'cancelled'] as const
export type DelayedStatus = (typeof DELAYED_STATUSES)[number]

/** How many there are, where that is few enough to be counted. */
export interface DelayedCounts {
  all: number
  byStatus: ReadonlyMap<DelayedStatus, number>
}

/** How a delayed job stands: in its row, over a list of them, and what its time is then called. */
export const DELAYED_WORDS: Record<
  DelayedStatus,
  { tone: Tone; word: string; label: string; time: string }
> = {
  pending: { tone: 'quiet', word: 'pending', label: 'Pending', time: 'Runs' },
  running: { tone: 'busy', word: 'running', label: 'Running', time: 'Was due' },
  success: { tone: 'good', word: 'succeeded', label: 'Succeeded', time: 'Was due' },
  failed: { tone: 'bad', word: 'failed', label: 'Failed', time: 'Was due' },
  cancelled: { tone: 'quiet', word: 'cancelled', label: 'Cancelled', time: 'Would have run' },
}
