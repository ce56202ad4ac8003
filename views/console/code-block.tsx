import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'

interface Block {
  /** What it is, or the language that it is in. */
  title: string
  /** What is copied, where that is not the title. */
  what?: string
  /** Prose and markup of others, which has no lines worth keeping whole. */
  wraps?: boolean
  children: ComponentChildren
}

/** Code to read and to take along. It scrolls in itself, never the page. */
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
