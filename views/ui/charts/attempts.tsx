import type { ComponentChildren } from 'preact'
import { StatusShape, type Tone } from '../status.tsx'
import { duration, Time } from '../time.tsx'

export interface Attempt {
  tone: Tone
  /** Status line, or why there is none. */
  outcome: ComponentChildren
  at: number
  took?: number
  href?: string
  isSelected?: boolean
  /** Scheduled, not started. */
  isPlanned?: boolean
}

/** Attempts in order, including the next planned one. */
export const Attempts = ({ attempts, now }: { attempts: readonly Attempt[]; now?: number }) => (
  <ol class="attempts" aria-label="Attempts">
    {attempts.map((attempt, index) => (
      <li class={attempt.isPlanned ? 'planned' : undefined}>
        <StatusShape tone={attempt.tone} />
        <p class="attempttitle">
          {attempt.href === undefined ? (
            title(attempt, index)
          ) : (
            <a href={attempt.href} aria-current={attempt.isSelected ? 'true' : undefined}>
              {title(attempt, index)}
            </a>
          )}
        </p>
        <p class="hint">
          <Time at={attempt.at} now={now} />
          {attempt.took !== undefined && ` · ${duration(attempt.took)}`}
        </p>
      </li>
    ))}
  </ol>
)

const title = ({ outcome }: Attempt, index: number) => (
  <>
    <span class="ordinal">{index + 1}</span>
    {outcome}
  </>
)
