import type { AnyProvider, Config } from '../../../config/index.ts'
import type { Mail } from '../../../platform/mail/index.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { Credentials } from '../credentials/index.ts'
import type { ChangePassword } from '../credentials/password-change.ts'
import type { Hashing } from '../credentials/passwords/hashing.ts'
import type { SecondFactors } from '../credentials/second-factor/index.ts'
import type { People } from '../identities/people.ts'
import { presentIdentity } from '../identities/present.ts'
import { createSignInMetrics } from '../metrics.ts'
import { createTestSignIns } from '../operators/test-sign-ins.ts'
import type { Sessions } from '../sessions/index.ts'
import type { SignIns } from '../sessions/sign-ins.ts'
import type { TenantSettings } from '../settings/index.ts'
import type { Rules } from '../settings/rules.ts'
import type { Store } from '../store.ts'
import type { Events } from '../webhooks/events.ts'
import { createClientOf } from './clients.ts'
import { createFlowPages } from './flow-pages.ts'
import { createAccountHolder } from './flows/account-holder.ts'
import { createAddressProof } from './flows/address-proof.ts'
import { createClaims } from './flows/claims.ts'
import { createCodeMails } from './flows/code-mails.ts'
import { createCodeSteps } from './flows/code-steps.ts'
import { createCodes } from './flows/codes.ts'
import { createCompleteRecovery } from './flows/complete-recovery.ts'
import { createCompletion } from './flows/completion.ts'
import { createEnabledMethods } from './flows/enabled-methods.ts'
import { createExchange } from './flows/exchange.ts'
import { createFlowRepository } from './flows/flow.ts'
import { createFlows } from './flows/index.ts'
import { createLogin } from './flows/kinds/login/index.ts'
import { createPasswordLogin } from './flows/kinds/login/password.ts'
import { createSecondFactorLogin } from './flows/kinds/login/second-factor.ts'
import { createRecovery } from './flows/kinds/recovery.ts'
import { createRegistration } from './flows/kinds/registration.ts'
import { createSettingsKind } from './flows/kinds/settings/index.ts'
import { createVerificationCodes } from './flows/kinds/verification/codes.ts'
import { createVerificationKind } from './flows/kinds/verification/index.ts'
import { createProvenMailbox } from './flows/kinds/verification/mailbox.ts'
import type { Notify } from './flows/notices.ts'
import type { Pages } from './flows/pages.ts'
import { createFormPasswords } from './flows/passwords.ts'
import { createPresentFlow } from './flows/present.ts'
import { createSessionAccess } from './flows/session-access.ts'
import { createSignUp } from './flows/sign-up.ts'
import { createStart } from './flows/start.ts'
import type { FlowRow } from './flows/store.ts'
import { createThrottle } from './flows/throttle.ts'
import { createMailAllowance } from './mail-allowance.ts'
import type { TenantMails } from './mail-templates/tenant-mails.ts'
import type { FlowKind } from './model.ts'
import { createRequestedMails } from './requested-mails.ts'
import { createSocialCallback } from './social/callback.ts'
import { createSocial } from './social/index.ts'
import { createLinking } from './social/linking.ts'
import { createOAuthStates } from './social/oauth-states.ts'
import { createSocialSignIn } from './social/sign-in.ts'

/** How clients reach this server, and how they are identified. */
export interface Web {
  /** The public URL without a trailing slash. */
  baseUrl: () => string
  /** The IP address of the client, behind trusted proxies. */
  addressOf: (request: Request) => string | undefined
  /** The session of a request of an admin of the installation. */
  adminSessionOf: (request: Request) => string | undefined
  pages: Pages
}

/** Wires up all self-service flows: contract/gate, self-service flows. */
export function createSelfService(
  platform: Platform,
  config: Pick<Config, 'gate' | 'limits' | 'console'>,
  parts: {
    store: Store
    mail: Mail
    people: People
    events: Events
    sessions: Sessions
    signIns: SignIns
    settings: TenantSettings
    tenantMails: TenantMails
    rules: Rules
    notify: Notify
    hashing: Hashing
    credentials: Credentials
    setPassword: ChangePassword
    secondFactors: SecondFactors
    schemaUrl: (schemaId: string) => string
    web: Web
    /** The providers in effect, which can change while the program runs. */
    providers: () => Config['gate']['providers']
  },
) {
  const { clock, branding, siblings } = platform
  const { store, schemaUrl, web, providers } = parts
  const { baseUrl } = web
  const { codeLifetimeMs, flowLifetimeMs } = config.gate

  const urlOf = (kind: FlowKind, query: Record<string, string>) =>
    `${baseUrl()}/auth/self-service/${kind}?${new URLSearchParams(query)}`
  const hostedUrl = ({ kind, id }: FlowRow) => urlOf(kind, { flow: id })
  const callbackUrl = (provider: AnyProvider) =>
    `${baseUrl()}/auth/self-service/methods/oidc/callback/${provider}`

  const social = createSocial({ providers, clock })
  const enabledMethods = createEnabledMethods({ ...parts, social, signup: config.console.signup })
  const throttle = createThrottle({
    siblings,
    clock,
    perMinute: config.limits.signInsPerMinute,
    perIdentifierPerMinute: config.limits.signInsPerIdentifierPerMinute,
  })
  const repository = createFlowRepository({ ...platform, store, lifetimeMs: flowLifetimeMs })
  const common = { ...platform, ...parts, repository, enabledMethods, throttle, urlOf, hostedUrl }
  const access = createSessionAccess(common)
  const passwords = createFormPasswords(parts)

  const codes = createCodes(common)
  const mailAllowance = createMailAllowance(common)
  const codeMails = createCodeMails({ ...common, mailAllowance, codes, lifetimeMs: codeLifetimeMs })
  const codeSteps = createCodeSteps({ ...common, codes, codeMails })
  const addressProof = createAddressProof(common)
  const verificationCodes = createVerificationCodes({ ...common, codeMails, addressProof })

  const linking = createLinking(common)
  const completion = createCompletion({ ...common, linking, addressProof })
  const signUp = createSignUp({ ...common, verificationCodes, completion })
  const completeRecovery = createCompleteRecovery({ ...common, addressProof })
  const oauthStates = createOAuthStates({ ...common, social, callbackUrl })
  const socialSignIn = createSocialSignIn({ ...common, linking, addressProof, completion, signUp })
  const testSignIns = createTestSignIns({ ...common, social, callbackUrl })
  const socialCallback = createSocialCallback({ ...common, oauthStates, linking, socialSignIn })

  const steps = { ...common, passwords, codeSteps, addressProof, completion, oauthStates }
  const kinds = {
    login: createLogin({
      ...steps,
      password: createPasswordLogin(steps),
      secondFactor: createSecondFactorLogin(steps),
    }),
    registration: createRegistration({ ...steps, signUp, socialSignIn }),
    recovery: createRecovery({ ...steps, completeRecovery }),
    verification: createVerificationKind({
      ...steps,
      verificationCodes,
      provenMailbox: createProvenMailbox({
        ...steps,
        accountHolder: createAccountHolder(common),
        completeRecovery,
      }),
    }),
    settings: createSettingsKind({
      ...steps,
      access,
      verificationCodes,
      linking,
      notify: parts.notify,
    }),
  }
  const present = createPresentFlow({
    mail: parts.mail,
    repository,
    kinds,
    urlOf,
    requestUrl: (kind) => `${baseUrl()}/v1/gate/auth/${kind}`,
    identityOf,
  })

  function identityOf({ tenantId, identityId }: FlowRow) {
    const person = identityId === null ? undefined : store.identities.find(tenantId, identityId)
    return person && presentIdentity(person, store.addresses.of(tenantId, person.id), schemaUrl)
  }

  const flows = {
    ...createStart({ ...common, present }),
    ...createFlows({
      ...common,
      kinds,
      claims: createClaims({ ...common, access }),
      present,
      socialCallback,
      signIns: createSignInMetrics(platform.metrics),
    }),
    exchange: createExchange(common),
  }
  const pages = createFlowPages({
    flows,
    pages: web.pages,
    branding,
    urlOf,
    enabledMethods,
    testSignIns,
    adminSessionOf: web.adminSessionOf,
    plainOrigins: () => plainOriginsIn(providers()),
  })

  return {
    flows,
    pages,
    callbackUrl,
    social,
    testSignIns,
    clientOf: createClientOf(web),
    enabledMethods,
    throttle,
    ...createRequestedMails({ ...common, mailAllowance, verificationCodes, codeMails }),
  }
}

/** Origins of providers without https, for local and test setups. */
const plainOriginsIn = (providers: Config['gate']['providers']): string[] => [
  ...new Set(
    Object.values(providers)
      .flatMap(({ baseUrl, authorizeUrl, issuer }) => [baseUrl, authorizeUrl, issuer])
      .flatMap((url) => (url?.startsWith('http:') ? [new URL(url).origin] : [])),
  ),
]
