import type { ComponentChildren } from 'preact'
import { CurlBlock, type CurlRequest } from './code.tsx'
import { Icon, type IconName } from './icons.tsx'

/** Shown instead of an empty list: what is missing, the next step, and a command for it. */
export const EmptyState = (empty: {
  icon: IconName
  sentence: string
  next?: ComponentChildren
  action?: ComponentChildren
  curl?: CurlRequest
}) => (
  <div class="empty">
    <span class="emptyicon">
      <Icon name={empty.icon} />
    </span>
    <p class="emptysentence">{empty.sentence}</p>
    {empty.next && <p class="hint">{empty.next}</p>}
    {empty.action && <div class="actions">{empty.action}</div>}
    {empty.curl && <CurlBlock title="Terminal" {...empty.curl} />}
  </div>
)
