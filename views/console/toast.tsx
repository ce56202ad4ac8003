import { Icon } from './icons.tsx'
import { StatusShape } from './status-mark.tsx'
import type { Tone } from './tone.ts'

export interface Flash {
  tone: Tone
  text: string
}

/** What the last action came to. The region is there from the start, so that news in it are read out. */
export const Toasts = ({ flash }: { flash?: Flash }) => (
  <div id="toasts" class="toasts" role="status" aria-live="polite">
    {flash && (
      <div class="toast" data-toast={flash.tone}>
        <StatusShape tone={flash.tone} />
        <p>{flash.text}</p>
        <button type="button" class="iconbutton scripted" aria-label="Dismiss" data-dismiss>
          <Icon name="close" />
        </button>
      </div>
    )}
  </div>
)
