import type { ProviderName } from '../../../config/index.ts'
import type { TenantSettings } from '../settings.ts'
import type { Social } from '../social/index.ts'

export type Offers = ReturnType<typeof createOffers>

/** By what the people of a tenant may sign in: what it has switched on and this instance can do. */
export const createOffers = ({
  settings,
  social,
}: {
  settings: TenantSettings
  social: Social
}) => ({
  providers: ({ tenantId }: { tenantId: string }): ProviderName[] =>
    settings.of(tenantId).providers.filter(social.isConfigured),
  byCode: ({ tenantId }: { tenantId: string }): boolean =>
    settings.of(tenantId).isPasswordlessEnabled,
  secondFactor: ({ tenantId }: { tenantId: string }): boolean => settings.of(tenantId).isMfaEnabled,
})
