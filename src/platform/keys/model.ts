import type { Actor } from '../audit/index.ts'
import { isoOrNull, isoTime } from '../clock.ts'
import { WEEK_MS } from '../durations.ts'
import type { Environment, KeyEngine } from '../engines.ts'
import { SYSTEM_TENANT_ID } from '../system-tenant.ts'
import type { KeyRow } from './store.ts'

/** A key in lists, without its secret. */
export interface ApiKey {
  id: string
  /** Null for a key of the installation. */
  tenant_id: string | null
  name: string | null
  note: string | null
  engines: KeyEngine[]
  environment: Environment | null
  scopes: string[]
  hint: string
  created_at: string
  /** Null for keys that are older than this record. */
  created_by: { kind: Actor['kind'] | 'import'; id: string | null } | null
  last_used_at: string | null
  /** When the key stops working: its expiry, or the end of the grace period after a rotation. */
  expires_at: string | null
  /** The lifetime that rotation gives the new key; null if it never ends or ends at a fixed time. */
  lifetime_ms: number | null
  revoked_at: string | null
  /** The id of the key that replaced this one at rotation. */
  replaced_by: string | null
}

/** A new key; its value is shown only once. */
export interface IssuedKey {
  id: string
  key: string
  name: string | null
  engines: KeyEngine[]
  environment: Environment | null
  scopes: string[]
  expires_at: string | null
}

/** `expiring` within a week; `rotated` during the grace period after a rotation. */
export const KEY_STATES = ['active', 'expiring', 'rotated', 'expired', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

/** How long before its expiry a key counts as expiring. */
export const EXPIRY_NOTICE_MS = WEEK_MS

/** The state of a key at a time, in milliseconds since the epoch. */
export function stateOf(
  key: Pick<ApiKey, 'revoked_at' | 'expires_at' | 'replaced_by'>,
  now: number,
): KeyState {
  if (key.revoked_at !== null) return 'revoked'
  const left = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now
  if (left <= 0) return 'expired'
  if (key.replaced_by !== null) return 'rotated'
  return left <= EXPIRY_NOTICE_MS ? 'expiring' : 'active'
}

export const present = (row: KeyRow): ApiKey => ({
  id: row.id,
  tenant_id: row.tenantId === SYSTEM_TENANT_ID ? null : row.tenantId,
  name: row.name,
  note: row.note,
  engines: JSON.parse(row.engines),
  environment: row.environment,
  scopes: JSON.parse(row.scopes),
  hint: row.hint,
  created_at: isoTime(row.createdAt),
  created_by: row.creatorKind && { kind: row.creatorKind, id: row.creatorId },
  last_used_at: isoOrNull(row.lastUsedAt),
  expires_at: isoOrNull(row.expiresAt),
  lifetime_ms: row.lifetimeMs,
  revoked_at: isoOrNull(row.revokedAt),
  replaced_by: row.replacedBy,
})
