import { CopyButton } from './copy-button.tsx'
import { shortenMiddle } from './text.tsx'

/** A name made by machines: its ends are enough to tell it, the whole is to copy. */
export const Id = ({ id, what = 'id', href }: { id: string; what?: string; href?: string }) => (
  <span class="id">
    {href === undefined ? <Short id={id} /> : <a href={href}>{<Short id={id} />}</a>}
    <CopyButton what={what} text={id} />
  </span>
)

/** The same where it is part of a link already. */
export const ShortId = ({ id }: { id: string }) => <Short id={id} />

const Short = ({ id }: { id: string }) => <code title={id}>{shortenMiddle(id)}</code>
