import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import type { LoginStart } from '../login-start.ts'
import type { StatusOf } from '../login-status.ts'
import type { People } from '../people.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { Pages } from '../sandbox/pages.ts'
import type { Webhook } from '../telegram/webhook.ts'
import type { Tokens } from '../tokens.ts'
import { loginRoutes } from './logins.ts'
import { sandboxRoutes } from './sandbox.ts'
import { telegramRoutes } from './telegram.ts'
import { userRoutes } from './users.ts'

/** Every route of the engine. A list, because the framework copies the routes of each level. */
export const createRoutes = (parts: {
  loginStart: LoginStart
  statusOf: StatusOf
  tokens: Tokens
  people: People
  webhook: Webhook
  sandbox: Sandbox
  pages: Pages
  access: Access
  maxBody: number
}) => [
  new Elysia({ prefix: '/v1/passepartout' })
    .use(loginRoutes(parts))
    .use(userRoutes(parts))
    .use(telegramRoutes(parts)),
  sandboxRoutes(parts),
]
