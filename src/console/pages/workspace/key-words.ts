import type { Tone } from '../../../../views/ui/status.tsx'
import { ENGINE_SCOPES, ENGINES, type Engine } from '../../../platform/engines.ts'
import type { ApiKey } from '../../../platform/keys.ts'

export type KeyState = 'active' | 'ending' | 'ended'

export const stateOf = (
  { revoked_at: revokedAt, expires_at: expiresAt }: ApiKey,
  now: number,
): KeyState => {
  if (revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now)) return 'ended'
  return expiresAt === null ? 'active' : 'ending'
}

export const STATE_BADGES: Record<KeyState, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  ending: { tone: 'warn', word: 'expiring' },
  ended: { tone: 'quiet', word: 'inactive' },
}

/** The scopes of a key, in a word or two. */
export function scopesLabel({ engine, scopes }: ApiKey): string {
  const known: readonly string[] = ENGINE_SCOPES[engine]
  const held = known.filter((scope) => scopes.includes(scope))
  if (held.length === known.length) return 'All'
  return held.length === 1 ? (held[0] ?? '') : `${held.length} of ${known.length}`
}

export const engineIn = (name: string | undefined): Engine | undefined =>
  ENGINES.find((one) => one === name)
