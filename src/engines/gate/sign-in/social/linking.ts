import type { AnyProvider } from '../../../../config/index.ts'
import type { Audit } from '../../../../platform/audit/index.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Sealing } from '../../../../platform/sealing/index.ts'
import type { IdentityRow } from '../../identities/store.ts'
import { providerTokens } from '../../sealed.ts'
import type { Store } from '../../store.ts'
import { recordOwn } from '../flows/actor.ts'
import { fieldError } from '../flows/failure.ts'
import type { PendingAccount } from '../flows/flow.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import type { SocialProfile } from './index.ts'
import { isForOperators, operatorTraits } from './operator-traits.ts'

export type Linking = ReturnType<typeof createLinking>

/** Connects social accounts to identities, by subject and never by address. */
export function createLinking(parts: {
  store: Store
  clock: Clock
  audit: Audit
  sealing: Sealing
}) {
  const { store, clock, audit, sealing } = parts

  const ownerOf = (tenantId: string, provider: AnyProvider, subject: string) =>
    store.socialLinks.find(tenantId, provider, subject)?.identityId

  /** Throws if another identity has the account, or if this one has another at the provider. */
  function link({ tenantId, id }: IdentityRow, account: PendingAccount) {
    const { provider } = account
    const owner = ownerOf(tenantId, provider, account.subject)
    if (owner === id) return
    if (owner !== undefined) throw fieldError(4000027, { context: aboutProvider(provider) })
    requireRoom({ tenantId, id }, provider)
    const now = clock.now()
    const { subject, tokens } = account
    const boundTo = providerTokens.boundTo({ tenantId, provider, subject })
    store.socialLinks.insert({
      tenantId,
      provider,
      subject,
      identityId: id,
      tokens: tokens && sealing.seal(providerTokens.purpose, boundTo, tokens),
      createdAt: now,
      updatedAt: now,
    })
    recordOwn(audit, { tenantId, id }, 'identity.account_connected', aboutProvider(provider))
  }

  /** One account per provider, because disconnecting would otherwise be ambiguous. */
  function requireRoom({ tenantId, id }: Pick<IdentityRow, 'tenantId' | 'id'>, at: AnyProvider) {
    if (store.socialLinks.of(tenantId, id).some(({ provider }) => provider === at))
      throw fieldError(4000027, { context: aboutProvider(at) })
  }

  const pending = (provider: AnyProvider, profile: SocialProfile): PendingAccount => ({
    provider,
    subject: profile.subject,
    email: profile.email ?? null,
    isEmailVerified: profile.isEmailVerified,
    ...(isForOperators(provider) && { traits: operatorTraits(provider, profile) }),
    tokens: JSON.stringify(profile.tokens),
  })

  return { ownerOf, link, requireRoom, pending }
}
