import type { Event } from '../../../../views/ui/events.tsx'
import { LongText } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { listed } from '../../../../views/ui/words.ts'
import { standbysIn } from '../../installation-alerts.ts'
import type { PairIssue } from '../../pair-issues.ts'

/** Describes a problem of servers that take over from each other. */
export function wordsOnPair(issue: PairIssue): Omit<Event, 'tone'> {
  switch (issue.what) {
    case 'lease':
      return {
        title: "This server can't renew its lease",
        text: (
          <LongText text={`${issue.reason}. If that lasts, it stops, and a standby takes over.`} />
        ),
      }
    case 'failover':
      return {
        title: (
          <LongText text={`${issue.server} took over from ${issue.from}, which had stopped`} />
        ),
        text:
          issue.lossMs === undefined
            ? `Find out why it stopped.`
            : `Find out why it stopped. Writes of its last ${duration(issue.lossMs)} may be lost.`,
        aside: <Time at={issue.at} />,
      }
    case 'no standby':
      return {
        title: 'No standby is ready to take over',
        text: <LongText text={standbysIn(issue.reasons)} />,
      }
    case 'set aside':
      return {
        title: <LongText text={`${issue.server.name} keeps a database that was set aside`} />,
        text: (
          <LongText
            text={`It may have writes that no other server has. Compare it with the current one, then delete ${listed(issue.folders)}.`}
          />
        ),
      }
  }
}
