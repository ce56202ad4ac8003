import type { AnyProvider, Config } from '../../../../config/index.ts'
import type { Mail } from '../../../../platform/mail/index.ts'
import { isOperatorTenant } from '../../operators/tenant.ts'
import type { TenantSettings } from '../../settings/index.ts'
import type { FlowKind } from '../model.ts'
import type { Social } from '../social/index.ts'

export type EnabledMethods = ReturnType<typeof createEnabledMethods>

/** The sign-in methods of a tenant: those it has enabled and this installation supports. */
export const createEnabledMethods = ({
  settings,
  social,
  mail,
  signup,
}: {
  settings: TenantSettings
  social: Social
  mail: Pick<Mail, 'hasServer'>
  /** Whether anyone can register as an operator. */
  signup: Config['console']['signup']
}) => ({
  providers: ({ tenantId }: { tenantId: string }): AnyProvider[] =>
    settings.of(tenantId).providers.filter(social.isConfigured),
  byCode: ({ tenantId }: { tenantId: string }): boolean =>
    mail.hasServer && settings.of(tenantId).isPasswordlessEnabled,
  secondFactor: ({ tenantId }: { tenantId: string }): boolean => settings.of(tenantId).isMfaEnabled,
  /** Tenants always allow registration; the console only if `console.signup` is open. */
  allowsFlow: ({ tenantId, kind }: { tenantId: string; kind: FlowKind }): boolean =>
    !isOperatorTenant(tenantId) || kind !== 'registration' || signup === 'open',
})
