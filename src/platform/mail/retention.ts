import type { RetentionRule } from '../retention.ts'
import { EXPIRED } from './settling.ts'
import type { Store } from './store/index.ts'

/** Deletes old mails completely, and the bodies of those that expired without a mail server. */
export const mailRetention = ({ mails }: Store, keptMs: number): RetentionRule[] => [
  { name: 'mails', deleteSlice: (now, limit) => mails.removeBefore(now - keptMs, now, limit) },
  { name: 'unsent mails', deleteSlice: (now, limit) => mails.expire(EXPIRED, now, limit) },
]
