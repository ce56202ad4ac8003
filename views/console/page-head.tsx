import type { ComponentChildren } from 'preact'
import { StatusShape } from './status-mark.tsx'
import type { Tone } from './tone.ts'

/**
 * What the page is about, how it stands in one sentence, and the one thing to do. `aside` takes
 * quieter actions before it.
 */
export const PageHead = (head: {
  title: ComponentChildren
  state?: { tone?: Tone; sentence: ComponentChildren }
  action?: ComponentChildren
  aside?: ComponentChildren
}) => (
  <header class="pagehead">
    <div>
      <h1>{head.title}</h1>
      {head.state && (
        <p class="sentence">
          {head.state.tone && <StatusShape tone={head.state.tone} />}
          <span>{head.state.sentence}</span>
        </p>
      )}
    </div>
    {(head.action || head.aside) && (
      <div class="actions">
        {head.aside}
        {head.action}
      </div>
    )}
  </header>
)
