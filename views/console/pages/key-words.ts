import { ENGINE_SCOPES, type Engine } from '../../../src/platform/engines.ts'
import type { ApiKey } from '../../../src/platform/keys.ts'
import type { Tone } from '../tone.ts'

/** What an engine is for, where people choose one. */
export const ENGINE_WORDS: Record<Engine, { label: string; text: string }> = {
  gate: { label: 'Gate', text: 'People: sign-in, sessions, what they may do' },
  clockwork: { label: 'Clockwork', text: 'Calls to your URLs, by the clock' },
  passepartout: { label: 'Passepartout', text: 'Sign-in by messenger' },
  relay: { label: 'Relay', text: 'Events to those who subscribe' },
}

export type Life = 'active' | 'ending' | 'ended'

export const lifeOf = (
  { revoked_at: revokedAt, expires_at: expiresAt }: ApiKey,
  now: number,
): Life => {
  if (revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now)) return 'ended'
  return expiresAt === null ? 'active' : 'ending'
}

export const LIFE_MARKS: Record<Life, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  ending: { tone: 'warn', word: 'replaced' },
  ended: { tone: 'quiet', word: 'ended' },
}

/** How much of its engine a key may do, in a word or two. */
export function reachOf({ engine, scopes }: ApiKey): string {
  const known: readonly string[] = ENGINE_SCOPES[engine]
  const held = known.filter((scope) => scopes.includes(scope))
  if (held.length === known.length) return 'all'
  return held.length === 1 ? (held[0] ?? '') : `${held.length} of ${known.length}`
}
