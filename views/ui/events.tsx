import type { ComponentChildren } from 'preact'
import { StatusShape, type Tone } from './status.tsx'

export interface Event {
  tone: Tone
  title: ComponentChildren
  text?: ComponentChildren
  /** A time or an action, at the end of the line. */
  aside?: ComponentChildren
}

/** A list of problems or events. */
export const Events = ({ label, events }: { label: string; events: readonly Event[] }) => (
  <ol class="events" aria-label={label}>
    {events.map(({ tone, title, text, aside }) => (
      <li>
        <StatusShape tone={tone} />
        <div class="eventtext">
          <p class="eventtitle">{title}</p>
          {text && <p class="hint">{text}</p>}
        </div>
        {aside && <div class="eventaside">{aside}</div>}
      </li>
    ))}
  </ol>
)

/** Shown instead of an empty list of events. */
export const AllQuiet = ({ children = 'No problems' }: { children?: ComponentChildren }) => (
  <p class="quietrow">
    <StatusShape tone="good" />
    {children}
  </p>
)
