import type { ComponentChildren } from 'preact'
import { StatusShape, type Tone } from './status.tsx'

export interface BannerProps {
  tone: Tone
  children: ComponentChildren
  /** Link to fix the problem. */
  action?: { label: string; href: string }
}

/** A notice above every page, such as a usage limit. */
export const Banner = ({ tone, children, action }: BannerProps) => (
  <div class={`banner ${tone}`} role="note">
    <StatusShape tone={tone} />
    <p>{children}</p>
    {action && <a href={action.href}>{action.label}</a>}
  </div>
)
