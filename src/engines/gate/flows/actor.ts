import type { Actor } from '../../../platform/audit/index.ts'

/** Who acts when people change something about their own account. */
export const byThemselves = ({ id }: { id: string }): Actor => ({ kind: 'person', id })
