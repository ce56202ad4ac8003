import { CopyButton } from './copy-button.tsx'
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
