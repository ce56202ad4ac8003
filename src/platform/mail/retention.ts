import type { RetentionRule } from '../retention.ts'
import { EXPIRED } from './settling.ts'
import type { Store } from './store/index.ts'

/** Without a mail server, removes the bodies of expired mails; deletes old mails completely. */
export const mailRetention = (
  { mails }: Store,
  keptMs: number,
  hasServer: boolean,
): RetentionRule[] => [
  ...(hasServer
    ? []
    : [
        {
          name: 'unsent mails',
          deleteSlice: (now: number, limit: number) => mails.expire(EXPIRED, now, limit),
        },
      ]),
  { name: 'mails', deleteSlice: (now, limit) => mails.removeBefore(now - keptMs, now, limit) },
]
