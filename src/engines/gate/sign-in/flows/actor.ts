import type { Actor, Audit } from '../../../../platform/audit/index.ts'

/** The actor for changes that users make to their own account. */
export const byThemselves = ({ id }: { id: string }): Actor => ({ kind: 'person', id })

/** Records what users did to their own account. */
export const recordOwn = (
  audit: Audit,
  { tenantId, id }: { tenantId: string; id: string },
  action: string,
  detail: Record<string, unknown> = {},
) =>
  audit.record({ tenantId, actor: byThemselves({ id }), action, object: `identity:${id}`, detail })
