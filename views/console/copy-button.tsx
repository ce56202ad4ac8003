import { Icon } from './icons.tsx'

/** Copies `text`, or the code of its block if there is no text. Hidden without scripts. */
export const CopyButton = (button: { what: string; text?: string; isLabelled?: boolean }) => (
  <button
    type="button"
    class={button.isLabelled ? 'button small copy scripted' : 'copy scripted'}
    data-copy={button.text ?? ''}
    aria-label={button.isLabelled ? undefined : `Copy ${button.what}`}
    title={button.isLabelled ? undefined : `Copy ${button.what}`}
  >
    <Icon name="copy" />
    <Icon name="check" />
    {button.isLabelled && <span>Copy {button.what}</span>}
  </button>
)
