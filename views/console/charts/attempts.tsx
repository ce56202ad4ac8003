import type { ComponentChildren } from 'preact'
import { StatusShape } from '../status-mark.tsx'
import { duration, Time } from '../time.tsx'
import type { Tone } from '../tone.ts'

export interface Attempt {
  tone: Tone
  /** What came of it: a status line, or why there was none. */
  outcome: ComponentChildren
  at: number
  took?: number
  href?: string
  isSelected?: boolean
  /** Has not happened yet. */
  isPlanned?: boolean
}

/** What was tried, and when it will be tried again, in order. */
export const Attempts = ({ attempts, now }: { attempts: readonly Attempt[]; now: number }) => (
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
