import type { ReplayRest } from '../../../../src/delivery/store/endpoint-looks.ts'
import { REPLAY_COUNTED } from '../../../../src/engines/relay/endpoint-looks.ts'
import { Meter } from '../../charts/meter.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Section } from '../../section.tsx'
import { counted } from '../../words.ts'

/** How often a page looks how far a replay is: it ends with the element that asks. */
const POLL = 'every 2s'

/**
 * How much of a replay has been sent. What is sent once and fails is tried again like anything else,
 * and is no longer a part of it. Without scripts, a link looks again.
 */
export const ReplayProgress = (progress: {
  count: number
  rest: ReplayRest
  /** The address that shows it. */
  here: string
  logHref: string
}) => {
  const { count, here, rest } = progress
  const left = Math.min(rest.left, count)
  const isVast = rest.seen >= REPLAY_COUNTED
  return (
    <div id="replay-progress" class="replayprogress">
      <Section
        id="replay"
        title="Replay"
        isCard
        aside={
          left > 0 ? (
            <LinkButton isSmall href={here}>
              Look again
            </LinkButton>
          ) : (
            <LinkButton isSmall href={progress.logHref}>
              See deliveries
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
        {left > 0 && isVast ? (
          <p role="status">
            More than {left.toLocaleString('en')} of {counted(count, 'message')} are still to be
            sent.
          </p>
        ) : (
          <Meter
            label={left === 0 ? 'All are sent' : 'Sent again'}
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
