import type { ComponentChildren } from 'preact'
import { StatusShape } from './status-badge.tsx'
import type { Tone } from './tone.ts'

/** Title of a page, its state in one sentence, and the primary action. `aside` are secondary actions. */
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
