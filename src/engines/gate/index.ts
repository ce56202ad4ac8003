import type { AnyProvider, Config } from '../../config/index.ts'
import type { Delivery } from '../../delivery/index.ts'
import type { Access } from '../../http/access.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { Platform } from '../../platform/platform.ts'
import { createDecisions } from './authorization/decisions.ts'
import { createAuthorization } from './authorization/index.ts'
import { createPdp } from './authorization/policy/pdp.ts'
import { createPolicySettings } from './authorization/policy-settings.ts'
import { createSubjectOf } from './authorization/subjects.ts'
import { createCredentials } from './credentials/index.ts'
import { createNewCredential } from './credentials/new-credential.ts'
import { createPasswordChange } from './credentials/password-change.ts'
import { createHashing } from './credentials/passwords/index.ts'
import { createCredentialRemoval } from './credentials/removal.ts'
import { createSecondFactors } from './credentials/second-factor/index.ts'
import { createEditing } from './identities/editing.ts'
import { createErasure } from './identities/erasure.ts'
import { createHistory } from './identities/history.ts'
import { createIdentities } from './identities/index.ts'
import { createMoveNotice } from './identities/move-notice.ts'
import { createPeople, type OperatorHooks } from './identities/people.ts'
import { createIdentitySearch } from './identities/search/index.ts'
import { createUserSummaries } from './identities/summaries.ts'
import { createAuthorizationMetrics } from './metrics.ts'
import { createGateOperators } from './operators/index.ts'
import { gateRetention } from './retention.ts'
import { createRoutes } from './routes.ts'
import { createSessions } from './sessions/index.ts'
import { createSignIns } from './sessions/sign-ins.ts'
import { createBrandingSettings } from './settings/branding/index.ts'
import { createSettings } from './settings/index.ts'
import { createRules } from './settings/rules.ts'
import { createSignInMethods } from './settings/sign-in-methods.ts'
import { createNotify } from './sign-in/flows/notices.ts'
import { createSelfService, type Web } from './sign-in/index.ts'
import { createTenantMails } from './sign-in/mail-templates/tenant-mails.ts'
import { createStore } from './store.ts'
import { createTokenGenerations } from './tokens/generations.ts'
import { createAccessTokens } from './tokens/index.ts'
import { createEvents } from './webhooks/events.ts'
import { createWebhooks } from './webhooks/index.ts'

export type Gate = ReturnType<typeof createGate>

/** The identity engine: a tenant's users, and what they are allowed to do. */
export function createGate(
  platform: Platform,
  {
    delivery,
    mail,
    current,
  }: {
    delivery: Delivery
    mail: Mail
    /** The configuration in effect, whose providers can change while the program runs. */
    current: () => Pick<Config, 'gate'>
  },
  config: Pick<Config, 'gate' | 'limits' | 'retention' | 'console'>,
  access: Access,
  web: Web,
  operatorHooks: OperatorHooks = {},
) {
  const { db, clock, log, audit, tenants, metrics, retention, resources } = platform
  const { sessionLifetimeMs, password } = config.gate
  const { baseUrl } = web
  const store = createStore(db)
  const events = createEvents({ delivery })
  const schemaUrl = (schemaId: string) => `${baseUrl()}/public/gate/schemas/${schemaId}`
  const generations = createTokenGenerations({ db, store })
  const search = createIdentitySearch({ db, store, clock, log })
  const people = createPeople({ store, clock, audit, events, generations, operatorHooks })
  const erasure = createErasure({ db, store, delivery, mail, clock, log })
  const hashing = createHashing({ ...password, siblings: platform.siblings })
  const newCredential = createNewCredential({ hashing })
  const settings = createSettings({ db, store, audit, mail })
  const tenantMails = createTenantMails({ ...platform, mail, store })
  const rules = createRules({
    clock,
    settings,
    installation: { sessionLifetimeMs, minLength: password.minLength },
  })
  const credentials = createCredentials({ store, clock })
  const secondFactors = createSecondFactors({ ...platform, store, settings, credentials })
  const identities = createIdentities({
    ...platform,
    store,
    people,
    erasure,
    newCredential,
    schemaUrl,
  })
  const notify = createNotify({ ...platform, mail, tenantMails })
  const moveNotice = createMoveNotice({ mail, store, notify })
  const editing = createEditing({ db, people, identities, moveNotice })
  const sessions = createSessions({
    db,
    clock,
    audit,
    store,
    people,
    schemaUrl,
    owesSecondFactor: secondFactors.isOwedBy,
    rules,
  })
  const signIns = createSignIns({ db, store, clock })
  const setPassword = createPasswordChange({ store, clock, credentials, sessions, events })
  const selfService = createSelfService(platform, config, {
    store,
    mail,
    people,
    events,
    sessions,
    signIns,
    settings,
    tenantMails,
    rules,
    notify,
    hashing,
    credentials,
    setPassword,
    secondFactors,
    schemaUrl,
    web,
    providers: () => current().gate.providers,
  })
  const pdp = createPdp()
  const subjectOf = createSubjectOf({ store })
  const decisions = createDecisions({ db, clock, store })
  const credentialRemoval = createCredentialRemoval({ db, audit, store, people, secondFactors })
  const authorization = createAuthorization({
    store,
    settings,
    subjectOf,
    resources,
    pdp,
    decisions,
    events: createAuthorizationMetrics(metrics),
  })
  const signInMethods = createSignInMethods({
    settings,
    tenants,
    enabledMethods: selfService.enabledMethods,
  })
  const { branding } = platform
  const brandingSettings = createBrandingSettings({ branding, tenantMails, baseUrl })
  const policies = createPolicySettings({ clock, settings, pdp })
  const webhooks = createWebhooks({ ...platform, delivery })
  const routes = createRoutes({
    identities,
    editing,
    sessions,
    ...selfService,
    credentialRemoval,
    accessTokens: createAccessTokens({ ...platform, store, subjectOf, generations }),
    decisions,
    authorization,
    signInMethods,
    policies,
    rules,
    brandingSettings,
    webhooks,
    access,
  })
  retention.add(...gateRetention(store, config.retention), erasure.rule)

  const gateOperators = createGateOperators({
    ...platform,
    ...selfService,
    store,
    people,
    sessions,
    hashing,
    credentials,
    newCredential,
    setPassword,
    credentialRemoval,
    secondFactors,
    minLength: password.minLength,
  })

  return {
    routes,
    search,
    sessions,
    users: createUserSummaries({ store, search }),
    signIns,
    history: createHistory({ clock, audit, store, delivery }),
    flows: selfService.flows,
    verification: selfService.verification,
    recoveryMails: selfService.recoveryMails,
    decisions,
    people,
    gateOperators,
    identities,
    editing,
    credentialRemoval,
    authorization,
    signInMethods,
    policies,
    tenantMails,
    rules,
    webhooks,
    callbackUrl: selfService.callbackUrl,
    testSignIns: selfService.testSignIns,
    /** Asks a configured provider what it says without a user. Never rejects. */
    checkProvider: (provider: AnyProvider) =>
      selfService.social.check(provider, selfService.callbackUrl(provider)),
  }
}
