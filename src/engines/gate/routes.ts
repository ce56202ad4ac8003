import { Elysia } from 'elysia'
import type { AnyProvider } from '../../config/index.ts'
import type { Access } from '../../http/access.ts'
import type { Decisions } from './authorization/decisions.ts'
import type { Authorization } from './authorization/index.ts'
import type { PolicySettings } from './authorization/policy-settings.ts'
import { authorizationRoutes, authzenRoutes } from './authorization/routes.ts'
import type { CredentialRemoval } from './credentials/removal.ts'
import type { Editing } from './identities/editing.ts'
import type { Identities } from './identities/index.ts'
import { identityRoutes } from './identities/routes.ts'
import type { Sessions } from './sessions/index.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { publicRoutes } from './settings/public-routes.ts'
import { settingsRoutes } from './settings/routes.ts'
import type { SignInMethods } from './settings/sign-in-methods.ts'
import type { ClientOf } from './sign-in/clients.ts'
import type { FlowPages } from './sign-in/flow-pages.ts'
import type { Flows } from './sign-in/flows/index.ts'
import type { RequestedMails } from './sign-in/requested-mails.ts'
import { flowRoutes } from './sign-in/routes.ts'
import { selfServiceRoutes } from './sign-in/self-service-routes.ts'
import type { AccessTokens } from './tokens/index.ts'
import { accessTokenRoutes } from './tokens/routes.ts'
import type { Webhooks } from './webhooks/index.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** Every route of the engine. */
export const createRoutes = (parts: {
  identities: Identities
  editing: Editing
  sessions: Sessions
  verification: RequestedMails['verification']
  credentialRemoval: CredentialRemoval
  flows: Flows
  pages: FlowPages
  clientOf: ClientOf
  callbackUrl: (provider: AnyProvider) => string
  accessTokens: AccessTokens
  authorization: Authorization
  decisions: Decisions
  signInMethods: SignInMethods
  policies: PolicySettings
  webhooks: Webhooks
  access: Access
}) =>
  new Elysia()
    .group('/v1/gate', (gate) =>
      gate
        .use(identityRoutes(parts))
        .use(sessionRoutes(parts))
        .use(flowRoutes(parts))
        .use(accessTokenRoutes(parts))
        .use(authorizationRoutes(parts))
        .use(settingsRoutes(parts))
        .use(webhookRoutes(parts)),
    )
    .use(authzenRoutes(parts))
    .use(publicRoutes(parts))
    .use(selfServiceRoutes(parts))
