import type { ComponentChildren } from 'preact'
import { StatusShape } from './status-mark.tsx'
import type { Tone } from './tone.ts'

export interface BannerProps {
  tone: Tone
  children: ComponentChildren
  /** The one thing to do about it. */
  action?: { label: string; href: string }
}

/** Something that holds for every page, such as an allowance that nears its end. */
export const Banner = ({ tone, children, action }: BannerProps) => (
  <div class={`banner ${tone}`} role="note">
    <StatusShape tone={tone} />
    <p>{children}</p>
    {action && <a href={action.href}>{action.label}</a>}
  </div>
)
