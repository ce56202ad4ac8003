import { formatDuration } from '../../../config/durations.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { SECOND_MS } from '../../../platform/durations.ts'
import { invalid } from '../../../platform/errors.ts'
import { MAX_PASSWORD_MIN_LENGTH, MAX_SESSION_SECONDS, MIN_SESSION_SECONDS } from '../limits.ts'
import type { Settings, TenantSettings } from './index.ts'
import type {
  PasswordRules,
  PasswordRulesChange,
  SessionRules,
  SessionRulesChange,
} from './model.ts'

export type Rules = ReturnType<typeof createRules>

/**
 * A tenant's rules for sessions and passwords. They can be stricter than those of the installation, never
 * weaker: if the installation becomes stricter, its rule applies.
 */
export function createRules(parts: {
  clock: Clock
  settings: TenantSettings
  installation: { sessionLifetimeMs: number; minLength: number }
}) {
  const { clock, settings, installation } = parts

  const lifetimeMsOf = (tenantId: string): number =>
    Math.min(
      settings.of(tenantId).sessionLifetimeMs ?? Number.POSITIVE_INFINITY,
      installation.sessionLifetimeMs,
    )

  /** The idle timeout, and since when it applies; undefined without one. */
  function idleOf(tenantId: string): { timeoutMs: number; setAt: number } | undefined {
    const { sessionIdleMs, sessionIdleSetAt } = settings.of(tenantId)
    return sessionIdleMs === null
      ? undefined
      : { timeoutMs: sessionIdleMs, setAt: sessionIdleSetAt ?? 0 }
  }

  const minLengthOf = (tenantId: string): number =>
    Math.max(settings.of(tenantId).passwordMinLength ?? 0, installation.minLength)

  const sessions = ({ tenantId }: Caller): SessionRules => presentSessions(settings.of(tenantId))

  /** Changes only the given fields. Throws `invalid` for a rule that is weaker than the installation's. */
  async function setSessions(caller: Caller, input: SessionRulesChange): Promise<SessionRules> {
    const { lifetime_seconds: lifetime, idle_timeout_seconds: idle } = input
    const longest = installation.sessionLifetimeMs / SECOND_MS
    checkSeconds('lifetime_seconds', lifetime, Math.min(MIN_SESSION_SECONDS, longest), longest)
    checkSeconds('idle_timeout_seconds', idle, MIN_SESSION_SECONDS, MAX_SESSION_SECONDS)
    const next = await settings.change(
      caller,
      'session_rules',
      ({ sessionIdleMs }) => ({
        ...(lifetime !== undefined && { sessionLifetimeMs: inMs(lifetime) }),
        ...(idle !== undefined &&
          inMs(idle) !== sessionIdleMs && {
            sessionIdleMs: inMs(idle),
            sessionIdleSetAt: idle === null ? null : clock.now(),
          }),
      }),
      { lifetime_seconds: lifetime, idle_timeout_seconds: idle },
    )
    return presentSessions(next)
  }

  const passwords = ({ tenantId }: Caller): PasswordRules => presentPasswords(settings.of(tenantId))

  /** Applies to passwords that users choose from now on. */
  async function setPasswords(caller: Caller, input: PasswordRulesChange): Promise<PasswordRules> {
    const { min_length: minLength } = input
    const { minLength: lowest } = installation
    if (minLength != null && (minLength < lowest || minLength > MAX_PASSWORD_MIN_LENGTH))
      throw invalid(`must be between ${lowest} and ${MAX_PASSWORD_MIN_LENGTH}`, {
        field: 'min_length',
        rule: 'range',
      })
    const next = await settings.change(
      caller,
      'password_rules',
      () => (minLength === undefined ? {} : { passwordMinLength: minLength }),
      { min_length: minLength },
    )
    return presentPasswords(next)
  }

  const presentSessions = ({ sessionLifetimeMs, sessionIdleMs }: Settings): SessionRules => ({
    lifetime_seconds: inSeconds(sessionLifetimeMs),
    idle_timeout_seconds: inSeconds(sessionIdleMs),
    installation_lifetime_seconds: Math.floor(installation.sessionLifetimeMs / SECOND_MS),
  })

  const presentPasswords = ({ passwordMinLength }: Settings): PasswordRules => ({
    min_length: passwordMinLength,
    installation_min_length: installation.minLength,
  })

  return { lifetimeMsOf, idleOf, minLengthOf, sessions, setSessions, passwords, setPasswords }
}

function checkSeconds(
  field: string,
  seconds: number | null | undefined,
  lowest: number,
  highest: number,
) {
  if (seconds == null || (seconds >= lowest && seconds <= highest)) return
  const [shortest, longest] = [lowest, highest].map((bound) => formatDuration(bound * SECOND_MS))
  throw invalid(`must be between ${lowest} and ${highest} seconds (${shortest} to ${longest})`, {
    field,
    rule: 'range',
  })
}

const inMs = (seconds: number | null): number | null =>
  seconds === null ? null : seconds * SECOND_MS

const inSeconds = (ms: number | null): number | null => (ms === null ? null : ms / SECOND_MS)
