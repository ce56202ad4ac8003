import { Elysia } from 'elysia'
import type { AnyProvider } from '../../../config/index.ts'
import type { Access } from '../../../http/access.ts'
import type { AccessTokens } from '../access-tokens.ts'
import type { Authorization } from '../authorization.ts'
import type { CredentialRemoval } from '../credential-removal.ts'
import type { Decisions } from '../decisions.ts'
import type { Editing } from '../editing.ts'
import type { Flows } from '../flows/index.ts'
import type { Identities } from '../identities.ts'
import type { PolicySettings } from '../policy-settings.ts'
import type { Sessions } from '../sessions.ts'
import type { SignInMethods } from '../sign-in-methods.ts'
import type { Verification } from '../verification.ts'
import type { Webhooks } from '../webhooks.ts'
import { accessTokenRoutes } from './access-tokens.ts'
import { authorizationRoutes, authzenRoutes } from './authorization.ts'
import type { ClientOf } from './clients.ts'
import type { FlowPages } from './flow-pages.ts'
import { flowRoutes } from './flows.ts'
import { identityRoutes } from './identities.ts'
import { publicRoutes } from './public.ts'
import { selfServiceRoutes } from './self-service.ts'
import { sessionRoutes } from './sessions.ts'
import { settingsRoutes } from './settings.ts'
import { webhookRoutes } from './webhooks.ts'

/** Every route of the engine. */
export const createRoutes = (parts: {
  identities: Identities
  editing: Editing
  sessions: Sessions
  verification: Verification
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
