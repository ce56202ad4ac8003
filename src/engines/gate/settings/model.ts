import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { PROVIDERS } from '../../../config/index.ts'
import { lenient, OptionalTimestamp, oneOf } from '../../../http/schemas.ts'
import { MAX_RETURN_URLS } from '../limits.ts'

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
export const SecurityChange = lenient({
  passwordless_enabled: t.Optional(t.Boolean()),
  mfa_enabled: t.Optional(t.Boolean()),
})
export type SecurityChange = typeof SecurityChange.static

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
