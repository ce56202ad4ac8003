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
import type { Sessions } from '../sessions/index.ts'
import type { TenantSettings } from '../settings/index.ts'
import type { Store } from '../store.ts'
import type { Events } from '../webhooks/events.ts'
import { createClientOf } from './clients.ts'
import { createFlowPages } from './flow-pages.ts'
import { createAddressProof } from './flows/address-proof.ts'
import { createCodeSteps } from './flows/code-steps.ts'
import { createCodes } from './flows/codes.ts'
import { createCompletion } from './flows/completion.ts'
import { createFlowRepository } from './flows/flow.ts'
import { createHolders } from './flows/holders.ts'
import { createFlows } from './flows/index.ts'
import { createLogin } from './flows/kinds/login.ts'
import { createRecovery } from './flows/kinds/recovery.ts'
import { createRegistration } from './flows/kinds/registration.ts'
import { createSettingsKind } from './flows/kinds/settings/index.ts'
import { createVerificationKind, createVerifying } from './flows/kinds/verification.ts'
import { createNotify } from './flows/notices.ts'
import { createOffers } from './flows/offers.ts'
import type { Pages } from './flows/pages.ts'
import { createPresentFlow } from './flows/present.ts'
import { createRecovered } from './flows/recovered.ts'
import { createSessionAccess } from './flows/session-access.ts'
import type { FlowRow } from './flows/store.ts'
import { createThrottle } from './flows/throttle.ts'
import { createMailAllowance } from './mail-allowance.ts'
import type { FlowKind } from './model.ts'
import { createRecoveryMails } from './recovery-mails.ts'
import { createSocial } from './social/index.ts'
import { createLinking } from './social/linking.ts'
import { createOAuthStates } from './social/oauth-states.ts'
import { createSocialSignIn } from './social/sign-in.ts'
import { createVerification } from './verification.ts'

/** How clients reach this server, and how they are identified. */
export interface Web {
  /** The public URL without a trailing slash. */
  baseUrl: () => string
  /** The IP address of the client, behind trusted proxies. */
  addressOf: (request: Request) => string | undefined
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
    settings: TenantSettings
    hashing: Hashing
    credentials: Credentials
    setPassword: ChangePassword
    secondFactors: SecondFactors
    schemaUrl: (schemaId: string) => string
    web: Web
  },
) {
  const { clock, tenants } = platform
  const { store, schemaUrl, web } = parts
  const { baseUrl } = web
  const { password, providers, codeLifetimeMs, flowLifetimeMs } = config.gate

  const urlOf = (kind: FlowKind, query: Record<string, string>) =>
    `${baseUrl()}/auth/self-service/${kind}?${new URLSearchParams(query)}`
  const hostedUrl = ({ kind, id }: FlowRow) => urlOf(kind, { flow: id })
  const callbackUrl = (provider: AnyProvider) =>
    `${baseUrl()}/auth/self-service/methods/oidc/callback/${provider}`

  const social = createSocial({ providers, clock })
  const repository = createFlowRepository({ ...platform, store, lifetimeMs: flowLifetimeMs })
  const common = { ...platform, ...parts, repository, hostedUrl, password }
  const offers = createOffers({ ...parts, social, signup: config.console.signup })
  const throttle = createThrottle({
    clock,
    perMinute: config.limits.signInsPerMinute,
    perIdentifierPerMinute: config.limits.signInsPerIdentifierPerMinute,
  })
  const codes = createCodes({ ...common, throttle, urlOf, lifetimeMs: codeLifetimeMs })
  const codeSteps = createCodeSteps({ ...common, codes, throttle })
  const linking = createLinking(common)
  const proof = createAddressProof(common)
  const completion = createCompletion({ ...common, linking, proof })
  const verifying = createVerifying({ ...common, codes })
  const oauthStates = createOAuthStates({ ...common, social, throttle, callbackUrl })
  const socialSignIn = createSocialSignIn({
    ...common,
    offers,
    linking,
    completion,
    proof,
    verifying,
  })
  const access = createSessionAccess({ ...common, throttle })
  const notify = createNotify(common)
  const forms = {
    ...common,
    codes,
    codeSteps,
    completion,
    proof,
    holders: createHolders(common),
    recovered: createRecovered({ ...common, completion }),
    verifying,
    throttle,
    offers,
    linking,
    oauthStates,
    socialSignIn,
    access,
    notify,
  }
  const kinds = {
    login: createLogin(forms),
    registration: createRegistration(forms),
    recovery: createRecovery(forms),
    verification: createVerificationKind(forms),
    settings: createSettingsKind(forms),
  }
  const present = createPresentFlow({
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

  const mailAllowance = createMailAllowance(common)
  const flows = createFlows({
    ...forms,
    kinds,
    present,
    signIns: createSignInMetrics(platform.metrics),
  })
  const pages = createFlowPages({
    flows,
    pages: web.pages,
    tenantName: tenants.nameOf,
    urlOf,
    offers,
    plainOrigins: plainOriginsIn(providers),
  })

  return {
    flows,
    pages,
    proof,
    callbackUrl,
    clientOf: createClientOf(web),
    offers,
    throttle,
    verification: createVerification({ ...common, mailAllowance, verifying }),
    recoveryMails: createRecoveryMails({ ...common, mailAllowance, codes }),
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
