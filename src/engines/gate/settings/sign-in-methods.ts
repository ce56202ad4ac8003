import { PROVIDERS, type ProviderName } from '../../../config/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { invalid, notFound, type Rule } from '../../../platform/errors.ts'
import type { Tenants } from '../../../platform/tenants.ts'
import type { EnabledMethods } from '../sign-in/flows/enabled-methods.ts'
import type { Settings, TenantSettings } from './index.ts'
import type { ProviderChange, ProviderSettings, Security, SecurityChange } from './model.ts'

export type SignInMethods = ReturnType<typeof createSignInMethods>

/** A tenant's sign-in methods and return URLs: contract/gate, settings. */
export function createSignInMethods({
  settings,
  tenants,
  enabledMethods,
}: {
  settings: TenantSettings
  tenants: Tenants
  enabledMethods: EnabledMethods
}) {
  const providers = ({ tenantId }: Caller): ProviderSettings =>
    presentProviders(settings.of(tenantId))

  /** Switches the listed providers; others stay unchanged. */
  async function setProviders(caller: Caller, { providers }: ProviderChange) {
    const changes = new Map(providers.map(({ provider, enabled }) => [provider, enabled]))
    if (changes.size < providers.length)
      throw invalid('must not name a provider twice', { field: 'providers', rule: 'duplicate' })
    const next = await settings.change(caller, 'providers', (before) => ({
      providers: PROVIDERS.filter((name) => changes.get(name) ?? before.providers.includes(name)),
    }))
    return presentProviders(next)
  }

  const security = ({ tenantId }: Caller): Security => presentSecurity(settings.of(tenantId))

  async function setSecurity(caller: Caller, input: SecurityChange): Promise<Security> {
    const { passwordless_enabled: isPasswordlessEnabled, mfa_enabled: isMfaEnabled } = input
    const next = await settings.change(caller, 'security', () => ({
      ...(isPasswordlessEnabled !== undefined && { isPasswordlessEnabled }),
      ...(isMfaEnabled !== undefined && { isMfaEnabled }),
    }))
    return presentSecurity(next)
  }

  const returnUrls = ({ tenantId }: Caller) => ({ return_urls: settings.of(tenantId).returnUrls })

  async function setReturnUrls(caller: Caller, urls: string[]) {
    urls.forEach(checkReturnUrl)
    const next = await settings.change(caller, 'return_urls', () => ({
      returnUrls: [...new Set(urls)],
    }))
    return { return_urls: next.returnUrls }
  }

  /** The providers of flows, in the contract's order. Throws `not_found` for an unknown tenant. */
  function enabledProviders(tenantId: string): { providers: ProviderName[] } {
    if (!tenants.exists(tenantId)) throw notFound('tenant not found')
    const offered = enabledMethods.providers({ tenantId })
    return { providers: PROVIDERS.filter((name) => offered.includes(name)) }
  }

  return {
    providers,
    setProviders,
    security,
    setSecurity,
    returnUrls,
    setReturnUrls,
    enabledProviders,
  }
}

const presentProviders = ({ providers }: Settings): ProviderSettings => ({
  providers: PROVIDERS.map((provider) => ({ provider, enabled: providers.includes(provider) })),
})

const presentSecurity = ({ isPasswordlessEnabled, isMfaEnabled }: Settings): Security => ({
  passwordless_enabled: isPasswordlessEnabled,
  mfa_enabled: isMfaEnabled,
})

const MAX_URL_LENGTH = 500

/** Refuses URLs that browsers interpret differently from how people read them. */
function checkReturnUrl(text: string, index: number) {
  const refuse = (problem: string, rule: Rule = 'format') =>
    invalid(problem, { field: `return_urls.${index}`, rule })
  if (text.length > MAX_URL_LENGTH)
    throw refuse(`must have at most ${MAX_URL_LENGTH} characters`, 'too_long')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:\/\//i.test(text)) throw refuse('must be an http or https URL')
  if (url.username || url.password)
    throw refuse('must not contain a user or password', 'credentials')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\x00-\x20\x7f\\]/.test(text))
    throw refuse('must not contain spaces, control characters or backslashes', 'characters')
  if (url.search || url.hash || /[?#]/.test(text))
    throw refuse('must not contain a query or fragment')
}
