import { Icon } from './icons.tsx'

/**
 * Copies `text`, or without one the code of the block that it stands in. There only where scripts
 * run: without them people mark and copy as ever.
 */
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
