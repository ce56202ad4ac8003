import type { ReplayRest } from '../../../../src/delivery/store/endpoint-summaries.ts'
import { REPLAY_COUNTED } from '../../../../src/engines/relay/endpoint-summaries.ts'
import { Meter } from '../../charts/meter.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Section } from '../../section.tsx'
import { counted } from '../../words.ts'

/** Refresh interval while a replay is in progress. */
const POLL = 'every 2s'

/** Progress of a replay, by first attempts: retries are not part of it. Without scripts, a link refreshes. */
export const ReplayProgress = (progress: {
  count: number
  rest: ReplayRest
  /** Address of this page. */
  here: string
  logHref: string
}) => {
  const { count, here, rest } = progress
  const left = Math.min(rest.left, count)
  const isCapped = rest.seen >= REPLAY_COUNTED
  return (
    <div id="replay-progress" class="replayprogress">
      <Section
        id="replay"
        title="Replay"
        isCard
        aside={
          left > 0 ? (
            <LinkButton isSmall href={here}>
              Refresh
            </LinkButton>
          ) : (
            <LinkButton isSmall href={progress.logHref}>
              View deliveries
            </LinkButton>
          )
        }
      >
        {left > 0 && (
          <span
            hidden
            hx-get={here}
            hx-trigger={POLL}
            hx-target="#replay-progress"
            hx-select="#replay-progress"
            hx-swap="outerMorph"
          />
        )}
        {left > 0 && isCapped ? (
          <p role="status">
            More than {left.toLocaleString('en')} of {counted(count, 'message')} remaining
          </p>
        ) : (
          <Meter
            label={left === 0 ? 'All sent' : 'Sent'}
            value={count - left}
            max={count}
            amount={`${(count - left).toLocaleString('en')} of ${count.toLocaleString('en')}`}
            tone={left === 0 ? 'good' : 'busy'}
          />
        )}
      </Section>
    </div>
  )
}
