import type { Actor } from '../../../../platform/audit/index.ts'

/** The actor for changes that users make to their own account. */
export const byThemselves = ({ id }: { id: string }): Actor => ({ kind: 'person', id })
