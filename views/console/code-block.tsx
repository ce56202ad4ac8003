import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'

interface Block {
  /** Name or language of the code. */
  title: string
  /** Noun for the copy button; the title by default. */
  what?: string
  /** Wraps long lines. */
  wraps?: boolean
  children: ComponentChildren
}

/** Code with a copy button. Scrolls horizontally on its own. */
export const CodeBlock = ({ title, what = title, wraps, children }: Block) => (
  <figure class="codeblock">
    <figcaption>
      <span>{title}</span>
      <CopyButton what={what} />
    </figcaption>
    <pre class={wraps ? 'wraps' : undefined} tabindex={0}>
      <code>{children}</code>
    </pre>
  </figure>
)
