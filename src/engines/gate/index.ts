import type { Config } from '../../config/index.ts'
import type { Delivery } from '../../delivery/index.ts'
import type { Access } from '../../http/access.ts'
import type { Mail } from '../../platform/mail/index.ts'
import type { Platform } from '../../platform/platform.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createAuthorization } from './authorization.ts'
import { createCredentialRemoval } from './credential-removal.ts'
import { createCredentials } from './credentials.ts'
import { createDecisions } from './decisions.ts'
import { createEditing } from './editing.ts'
import { createErasure } from './erasure.ts'
import { createEvents } from './events.ts'
import { createHistory } from './history.ts'
import { createIdentities } from './identities.ts'
import { createAuthorizationMetrics } from './metrics.ts'
import { createNewCredential } from './new-credential.ts'
import { createGateOperators } from './operators/index.ts'
import { createPasswordChange } from './password-change.ts'
import { createHashing } from './passwords/index.ts'
import { createPeople, type OperatorHooks } from './people.ts'
import { createPdp } from './policy/pdp.ts'
import { createPolicySettings } from './policy-settings.ts'
import { gateRetention } from './retention.ts'
import { createRoutes } from './routes/index.ts'
import { createSecondFactors } from './second-factor/index.ts'
import { createSelfService, type Web } from './self-service.ts'
import { createSessions } from './sessions.ts'
import { createSettings } from './settings.ts'
import { createSignInMethods } from './sign-in-methods.ts'
import { createStore } from './store/index.ts'
import { createSubjectOf } from './subjects.ts'
import { createTokenGenerations } from './token-generations.ts'
import { createWebhooks } from './webhooks.ts'

export type Gate = ReturnType<typeof createGate>

/** The identity engine: a tenant's users, and what they are allowed to do. */
export function createGate(
  platform: Platform,
  { delivery, mail }: { delivery: Delivery; mail: Mail },
  config: Pick<Config, 'gate' | 'limits' | 'retention' | 'mail' | 'console'>,
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
  const people = createPeople({ store, clock, audit, events, generations, operatorHooks })
  const erasure = createErasure({ db, store, delivery, mail, clock, log })
  const hashing = createHashing(password)
  const newCredential = createNewCredential({ hashing })
  const settings = createSettings({
    db,
    store,
    audit,
    hasMailServer: config.mail.smtpUrl !== undefined,
  })
  const credentials = createCredentials({ store, clock })
  const secondFactors = createSecondFactors({ ...platform, store, settings, credentials })
  const identities = createIdentities({
    ...platform,
    store,
    people,
    events,
    erasure,
    newCredential,
    schemaUrl,
  })
  const editing = createEditing({ db, people, identities })
  const sessions = createSessions({
    db,
    clock,
    audit,
    store,
    people,
    schemaUrl,
    owesSecondFactor: secondFactors.isOwedBy,
    lifetimeMs: sessionLifetimeMs,
  })
  const setPassword = createPasswordChange({ store, clock, credentials, sessions, events })
  const selfService = createSelfService(platform, config, {
    store,
    mail,
    people,
    events,
    sessions,
    settings,
    hashing,
    credentials,
    setPassword,
    secondFactors,
    schemaUrl,
    web,
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
  const signInMethods = createSignInMethods({ settings, tenants, offers: selfService.offers })
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
    sessions,
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
    webhooks,
    callbackUrl: selfService.callbackUrl,
  }
}
