import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { Meter } from '../../../../views/ui/charts/meter.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import type { ReplayRest } from '../../../delivery/store/endpoint-summaries.ts'
import { REPLAY_COUNTED } from '../../../engines/relay/endpoint-summaries.ts'

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
        {left > 0 && <AutoRefresh id="replay-progress" here={here} />}
        {left > 0 && isCapped ? (
          <p role="status">
            More than {numeral(left)} of {counted(count, 'message')} remaining
          </p>
        ) : (
          <Meter
            label={left === 0 ? 'All sent' : 'Sent'}
            value={count - left}
            max={count}
            amount={`${numeral(count - left)} of ${numeral(count)}`}
            tone={left === 0 ? 'good' : 'busy'}
          />
        )}
      </Section>
    </div>
  )
}
