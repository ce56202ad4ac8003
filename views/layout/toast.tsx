import { Icon } from '../ui/icons.tsx'
import { StatusShape, type Tone } from '../ui/status.tsx'

export interface Flash {
  tone: Tone
  text: string
}

/** Result of the last action. The live region is always present, so that screen readers announce it. */
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
