import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { PlainErrors, refusalsIn } from '../../../http/responses.ts'
import type { PolicySettings } from '../authorization/policy-settings.ts'
import {
  PasswordRules,
  PasswordRulesChange,
  Policies,
  PoliciesChange,
  ProviderChange,
  ProviderSettings,
  ReturnUrls,
  ReturnUrlsChange,
  Security,
  SecurityChange,
  SessionRules,
  SessionRulesChange,
} from './model.ts'
import type { Rules } from './rules.ts'
import type { SignInMethods } from './sign-in-methods.ts'

const { refused, badBody } = refusalsIn(PlainErrors)
const reads = 'settings:read'
const writes = 'settings:write'

/** contract/gate, tenant settings; plus return URLs, policies, and rules for sessions and passwords. */
export function settingsRoutes(parts: {
  signInMethods: SignInMethods
  policies: PolicySettings
  rules: Rules
  access: Access
}) {
  const { signInMethods, policies, rules, access } = parts

  return new Elysia({ prefix: '/settings', tags: ['gate'] })
    .use(access)
    .get('/oidc-providers', ({ caller }) => signInMethods.providers(caller), {
      scope: reads,
      detail: {
        summary: 'Get the social login providers',
        description:
          'An enabled provider may lack configuration in the installation; flows and the public list omit it.',
      },
      response: { 200: ProviderSettings, ...refused },
    })
    .put('/oidc-providers', ({ caller, body }) => signInMethods.setProviders(caller, body), {
      scope: writes,
      detail: {
        summary: 'Enable or disable social login providers',
        description: 'Changes only the given providers.',
      },
      body: ProviderChange,
      response: { 200: ProviderSettings, ...badBody, ...refused },
    })
    .get('/security', ({ caller }) => signInMethods.security(caller), {
      scope: reads,
      detail: { summary: 'Get the security settings' },
      response: { 200: Security, ...refused },
    })
    .put('/security', ({ caller, body }) => signInMethods.setSecurity(caller, body), {
      scope: writes,
      detail: {
        summary: 'Update the security settings',
        description: 'Changes only the given fields.',
      },
      body: SecurityChange,
      response: { 200: Security, ...badBody, ...refused },
    })
    .get('/return-urls', ({ caller }) => signInMethods.returnUrls(caller), {
      scope: reads,
      detail: { summary: 'Get the allowed return URLs' },
      response: { 200: ReturnUrls, ...refused },
    })
    .put(
      '/return-urls',
      ({ caller, body }) => signInMethods.setReturnUrls(caller, body.return_urls),
      {
        scope: writes,
        detail: { summary: 'Set the allowed return URLs' },
        body: ReturnUrlsChange,
        response: { 200: ReturnUrls, ...badBody, ...refused },
      },
    )
    .get('/sessions', ({ caller }) => rules.sessions(caller), {
      scope: reads,
      detail: { summary: 'Get the session rules' },
      response: { 200: SessionRules, ...refused },
    })
    .put('/sessions', ({ caller, body }) => rules.setSessions(caller, body), {
      scope: writes,
      detail: {
        summary: 'Update the session rules',
        description:
          'Changes only the given fields. A lifetime applies to new sessions, an idle timeout to all.',
      },
      body: SessionRulesChange,
      response: { 200: SessionRules, ...badBody, ...refused },
    })
    .get('/passwords', ({ caller }) => rules.passwords(caller), {
      scope: reads,
      detail: { summary: 'Get the password rules' },
      response: { 200: PasswordRules, ...refused },
    })
    .put('/passwords', ({ caller, body }) => rules.setPasswords(caller, body), {
      scope: writes,
      detail: {
        summary: 'Update the password rules',
        description: 'Apply to passwords that users choose from now on.',
      },
      body: PasswordRulesChange,
      response: { 200: PasswordRules, ...badBody, ...refused },
    })
    .get('/policies', ({ caller }) => policies.get(caller), {
      scope: reads,
      detail: { summary: 'Get the policies' },
      response: { 200: Policies, ...refused },
    })
    .put('/policies', ({ caller, body }) => policies.put(caller, body.policies), {
      scope: writes,
      detail: {
        summary: 'Replace the policies',
        description: 'Validates all policies; an error names the line and column.',
      },
      body: PoliciesChange,
      response: { 200: Policies, ...badBody, ...refused },
    })
}
