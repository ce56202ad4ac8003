import { t } from 'elysia'
import { PROVIDERS } from '../../config/index.ts'
import type { PolicySettings } from '../../engines/gate/authorization/policy-settings.ts'
import {
  PasswordRulesChange,
  PoliciesChange,
  ReturnUrlsChange,
  SecurityChange,
  SessionRulesChange,
} from '../../engines/gate/settings/model.ts'
import type { Rules } from '../../engines/gate/settings/rules.ts'
import type { SignInMethods } from '../../engines/gate/settings/sign-in-methods.ts'
import { oneOf } from '../../http/schemas.ts'
import { type Setting, setting } from '../section.ts'

const strict = { additionalProperties: false } as const

/** Sign-in methods, rules and policies: the settings of a tenant for its users. */
export const gateSections = (parts: {
  signInMethods: SignInMethods
  rules: Rules
  policies: PolicySettings
}): Setting[] => [...signInSections(parts), policiesSection(parts.policies)]

function signInSections({ signInMethods, rules }: { signInMethods: SignInMethods; rules: Rules }) {
  return [
    setting({
      name: 'sign_in.methods',
      schema: t.Object(SecurityChange.properties, strict),
      defaults: { passwordless_enabled: false, mfa_enabled: false },
      read: (caller) => signInMethods.security(caller),
      write: (caller, value) => signInMethods.setSecurity(caller, value),
    }),
    setting({
      name: 'sign_in.providers',
      schema: t.Array(oneOf(PROVIDERS), { expected: `a list of ${PROVIDERS.join(', ')}` }),
      defaults: [] as string[],
      read: (caller) =>
        signInMethods
          .providers(caller)
          .providers.filter(({ enabled }) => enabled)
          .map(({ provider }) => provider as string),
      write: (caller, enabled) =>
        signInMethods.setProviders(caller, {
          providers: PROVIDERS.map((provider) => ({
            provider,
            enabled: enabled.includes(provider),
          })),
        }),
    }),
    setting({
      name: 'sign_in.return_urls',
      schema: ReturnUrlsChange.properties.return_urls,
      defaults: [] as string[],
      read: (caller) => signInMethods.returnUrls(caller).return_urls,
      write: (caller, urls) => signInMethods.setReturnUrls(caller, urls),
    }),
    setting({
      name: 'sign_in.sessions',
      schema: t.Object(SessionRulesChange.properties, strict),
      defaults: { lifetime_seconds: null, idle_timeout_seconds: null } as SessionRulesChange,
      read(caller) {
        const { lifetime_seconds, idle_timeout_seconds } = rules.sessions(caller)
        return { lifetime_seconds, idle_timeout_seconds }
      },
      write: (caller, value) => rules.setSessions(caller, value),
    }),
    setting({
      name: 'sign_in.passwords',
      schema: t.Object(PasswordRulesChange.properties, strict),
      defaults: { min_length: null } as PasswordRulesChange,
      read: (caller) => ({ min_length: rules.passwords(caller).min_length }),
      write: (caller, value) => rules.setPasswords(caller, value),
    }),
  ]
}

/** Null, and an absent text, stand for the starter set. */
const policiesSection = (policies: PolicySettings) =>
  setting<string | null>({
    name: 'policies',
    schema: PoliciesChange.properties.policies,
    defaults: null,
    read(caller) {
      const { policies: text, is_starter_set: isStarterSet } = policies.get(caller)
      return isStarterSet ? null : text
    },
    write: (caller, text) => policies.put(caller, text),
  })
