import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { PROVIDERS } from '../../../config/index.ts'
import { lenient, OptionalTimestamp, oneOf } from '../../../http/schemas.ts'
import {
  MAX_PASSWORD_MIN_LENGTH,
  MAX_RETURN_URLS,
  MAX_SESSION_SECONDS,
  MIN_PASSWORD_LENGTH,
  MIN_SESSION_SECONDS,
} from '../limits.ts'

const Provider = oneOf(PROVIDERS)

const ProviderSetting = t.Object({ provider: Provider, enabled: t.Boolean() })
export const ProviderSettings = t.Object({ providers: t.Array(ProviderSetting) })
export type ProviderSettings = typeof ProviderSettings.static

export const ProviderChange = lenient({
  providers: t.Array(lenient(ProviderSetting.properties), {
    minItems: 1,
    expected: 'a list of at least 1 provider',
  }),
})
export type ProviderChange = typeof ProviderChange.static

export const EnabledProviders = t.Object({ providers: t.Array(Provider) })

export const Security = t.Object({
  passwordless_enabled: t.Boolean({ description: 'Sign-in with an emailed code.' }),
  mfa_enabled: t.Boolean({
    description:
      'Requires two-factor authentication from users who have set it up. If false, it is never required.',
  }),
})
export type Security = typeof Security.static
export const SecurityChange = lenient(
  { passwordless_enabled: t.Optional(t.Boolean()), mfa_enabled: t.Optional(t.Boolean()) },
  { examples: [{ passwordless_enabled: true, mfa_enabled: true }] },
)
export type SecurityChange = typeof SecurityChange.static

const Rule = (lowest: number, highest: number, description: string) =>
  t.Nullable(Type.Integer({ minimum: lowest, maximum: highest }), {
    expected: `a whole number from ${lowest} to ${highest}, or null`,
    description,
  })

const sessionRules = {
  lifetime_seconds: Rule(
    MIN_SESSION_SECONDS,
    MAX_SESSION_SECONDS,
    'For new sessions; null for that of the installation.',
  ),
  idle_timeout_seconds: Rule(
    MIN_SESSION_SECONDS,
    MAX_SESSION_SECONDS,
    'A session ends if it is not used for this long; null for never.',
  ),
}
export const SessionRules = t.Object({
  ...sessionRules,
  installation_lifetime_seconds: Type.Integer({
    description: 'Lifetime that the installation sets, and the longest possible one.',
  }),
})
export type SessionRules = typeof SessionRules.static
export const SessionRulesChange = lenient(
  {
    lifetime_seconds: t.Optional(sessionRules.lifetime_seconds),
    idle_timeout_seconds: t.Optional(sessionRules.idle_timeout_seconds),
  },
  { examples: [{ lifetime_seconds: 43_200, idle_timeout_seconds: 3600 }] },
)
export type SessionRulesChange = typeof SessionRulesChange.static

const passwordRules = {
  min_length: Rule(
    MIN_PASSWORD_LENGTH,
    MAX_PASSWORD_MIN_LENGTH,
    'For new passwords; null for that of the installation.',
  ),
}
export const PasswordRules = t.Object({
  ...passwordRules,
  installation_min_length: Type.Integer({
    description: 'Minimum length that the installation sets, and the lowest possible one.',
  }),
})
export type PasswordRules = typeof PasswordRules.static
export const PasswordRulesChange = lenient(
  { min_length: t.Optional(passwordRules.min_length) },
  { examples: [{ min_length: 12 }] },
)
export type PasswordRulesChange = typeof PasswordRulesChange.static

const ReturnUrlList = t.Array(
  t.String({ expected: 'an http or https URL', examples: ['https://example.com/welcome'] }),
  {
    maxItems: MAX_RETURN_URLS,
    description:
      'URLs, including everything below them, that a flow may return to. If empty, any URL is allowed.',
  },
)
export const ReturnUrls = t.Object({ return_urls: ReturnUrlList })
export const ReturnUrlsChange = lenient({ return_urls: ReturnUrlList })

export const Policies = t.Object({
  policies: t.String({ description: 'Policies in Cedar.' }),
  version: Type.Integer({ description: 'Increases with each change.' }),
  is_starter_set: t.Boolean({
    description: 'Whether the starter set is in use: unchanged or restored.',
  }),
  updated_at: OptionalTimestamp,
})
export type Policies = typeof Policies.static
export const PoliciesChange = lenient({
  policies: t.Nullable(t.String({ expected: 'policies in Cedar, or null for the starter set' }), {
    expected: 'policies in Cedar, or null for the starter set',
    description: 'Replaces all policies; null restores the starter set.',
    examples: ['permit (principal, action, resource is Document);'],
  }),
})
