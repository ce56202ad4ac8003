import { ENGINE_SCOPES, type Engine } from '../../../src/platform/engines.ts'
import type { ApiKey } from '../../../src/platform/keys.ts'
import type { Tone } from '../tone.ts'

/** Label and description of an engine, by what it does. */
export const ENGINE_WORDS: Record<Engine, { label: string; text: string }> = {
  gate: { label: 'Users (gate)', text: 'Sign-up, sign-in, sessions and authorization' },
  clockwork: { label: 'Jobs (clockwork)', text: 'Scheduled HTTP requests' },
  passepartout: { label: 'Messenger login (passepartout)', text: 'Sign-in with Telegram' },
  relay: { label: 'Webhooks (relay)', text: 'Event delivery to subscribed endpoints' },
}

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
