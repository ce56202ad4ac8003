import type { AnyProvider, Config } from '../../../config/index.ts'
import { HOUSE_ID } from '../../../platform/house.ts'
import type { FlowKind } from '../model/flows.ts'
import type { TenantSettings } from '../settings.ts'
import type { Social } from '../social/index.ts'

export type Offers = ReturnType<typeof createOffers>

/** By what the people of a tenant may sign in: what it has switched on and this instance can do. */
export const createOffers = ({
  settings,
  social,
  signup,
}: {
  settings: TenantSettings
  social: Social
  /** Whether strangers may become operators. */
  signup: Config['console']['signup']
}) => ({
  providers: ({ tenantId }: { tenantId: string }): AnyProvider[] =>
    settings.of(tenantId).providers.filter(social.isConfigured),
  byCode: ({ tenantId }: { tenantId: string }): boolean =>
    settings.of(tenantId).isPasswordlessEnabled,
  secondFactor: ({ tenantId }: { tenantId: string }): boolean => settings.of(tenantId).isMfaEnabled,
  /** Everybody may sign up with a tenant; with the house only where that is open. */
  flow: ({ tenantId, kind }: { tenantId: string; kind: FlowKind }): boolean =>
    tenantId !== HOUSE_ID || kind !== 'registration' || signup === 'open',
})
