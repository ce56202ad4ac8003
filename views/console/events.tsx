import type { ComponentChildren } from 'preact'
import { StatusShape } from './status-mark.tsx'
import type { Tone } from './tone.ts'

export interface Event {
  tone: Tone
  title: ComponentChildren
  text?: ComponentChildren
  /** At the end of the line: a time, or the one action it asks for. */
  aside?: ComponentChildren
}

/** What needs attention, or what has happened: a line each, worst or latest first. */
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

/** In the place of events when there are none. */
export const AllQuiet = ({ children = 'All quiet.' }: { children?: ComponentChildren }) => (
  <p class="quietline">
    <StatusShape tone="good" />
    {children}
  </p>
)
