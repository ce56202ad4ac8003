import { Elysia } from 'elysia'
import { authorizationRoutes, authzenRoutes } from './authorization/routes.ts'
import { identityRoutes } from './identities/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { brandingRoutes } from './settings/branding/routes.ts'
import { publicRoutes } from './settings/public-routes.ts'
import { settingsRoutes } from './settings/routes.ts'
import { flowRoutes } from './sign-in/routes.ts'
import { selfServiceRoutes } from './sign-in/self-service-routes.ts'
import { accessTokenRoutes } from './tokens/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'

/** The services of all routes: what each group of them takes. */
type Services = Parameters<typeof identityRoutes>[0] &
  Parameters<typeof sessionRoutes>[0] &
  Parameters<typeof flowRoutes>[0] &
  Parameters<typeof accessTokenRoutes>[0] &
  Parameters<typeof authorizationRoutes>[0] &
  Parameters<typeof authzenRoutes>[0] &
  Parameters<typeof settingsRoutes>[0] &
  Parameters<typeof brandingRoutes>[0] &
  Parameters<typeof webhookRoutes>[0] &
  Parameters<typeof publicRoutes>[0] &
  Parameters<typeof selfServiceRoutes>[0]

/** Every route of the engine. A list, because the framework copies the routes of each level. */
export const createRoutes = (parts: Services) => [
  new Elysia({ prefix: '/v1/gate' })
    .use(identityRoutes(parts))
    .use(sessionRoutes(parts))
    .use(flowRoutes(parts))
    .use(accessTokenRoutes(parts))
    .use(authorizationRoutes(parts))
    .use(settingsRoutes(parts))
    .use(brandingRoutes(parts))
    .use(webhookRoutes(parts)),
  authzenRoutes(parts),
  publicRoutes(parts),
  selfServiceRoutes(parts),
]
