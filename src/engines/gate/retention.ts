import type { RetentionRule } from '../../platform/retention.ts'
import { KEPT_MS } from './operators/test-sign-ins.ts'
import type { Store } from './store.ts'

/** Retention rules of the engine. */
export const gateRetention = (
  { sessions, signIns, accessTokens, flows, testSignIns, decisions, erasures }: Store,
  kept: { expiredMs: number; decisionsMs: number; auditMs: number },
): RetentionRule[] => [
  {
    name: 'gate sessions',
    deleteSlice: (now, limit) => sessions.removeExpired(now - kept.expiredMs, limit),
  },
  {
    name: 'gate sign-ins',
    deleteSlice: (now, limit) => signIns.removeBefore(now - kept.auditMs, limit),
  },
  {
    name: 'gate access tokens',
    deleteSlice: (now, limit) => accessTokens.removeExpired(now - kept.expiredMs, limit),
  },
  {
    name: 'gate flows',
    deleteSlice: (now, limit) => flows.removeExpired(now - kept.expiredMs, limit),
  },
  {
    name: 'gate test sign-ins',
    deleteSlice: (now, limit) => testSignIns.removeBefore(now - KEPT_MS, limit),
  },
  {
    name: 'gate decisions',
    deleteSlice: (now, limit) => decisions.removeBefore(now - kept.decisionsMs, limit),
  },
  {
    name: 'ids of deleted identities',
    deleteSlice: (now, limit) => erasures.removeBefore(now - kept.auditMs, limit),
  },
]
