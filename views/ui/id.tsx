import { Icon } from './icons.tsx'
import { shortenMiddle } from './text.tsx'

/** An ID, shortened in the middle, with a button that copies all of it. */
export const Id = ({ id, what = 'ID', href }: { id: string; what?: string; href?: string }) => (
  <span class="id">
    {href === undefined ? <Short id={id} /> : <a href={href}>{<Short id={id} />}</a>}
    <CopyButton what={what} text={id} />
  </span>
)

/** A shortened ID without link or button. */
export const ShortId = ({ id }: { id: string }) => <Short id={id} />

const Short = ({ id }: { id: string }) => <code title={id}>{shortenMiddle(id)}</code>

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
