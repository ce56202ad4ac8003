import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { Introspection, TokenInQuestion } from '../../../http/introspection.ts'
import { CodedErrors, Empty, refusalsIn } from '../../../http/responses.ts'
import type { LoginStart } from '../login-start.ts'
import type { StatusOf } from '../login-status.ts'
import { LoginQuestion, LoginStatus, NewLogin, StartedLogin } from '../model.ts'
import type { Tokens } from '../tokens.ts'

const { 402: Unpaid, 404: Unknown, 409: Conflict, 429: TooMany } = CodedErrors
const { badBody, refused } = refusalsIn(CodedErrors)

const scope = 'passepartout'

/** contract/passepartout-relay, login engine; plus revocation. */
export function loginRoutes(parts: {
  loginStart: LoginStart
  statusOf: StatusOf
  tokens: Tokens
  access: Access
}) {
  const { loginStart, statusOf, tokens, access } = parts

  return new Elysia({ tags: ['passepartout'] })
    .use(access)
    .post('/login/start', ({ caller, body }) => loginStart.start(caller, body), {
      scope,
      detail: {
        summary: 'Start a sign-in',
        description:
          'The body is optional. With `client`, the bot shows the user where the sign-in was started and asks for the number in `match_code`.',
      },
      body: NewLogin,
      response: {
        200: StartedLogin,
        ...badBody,
        ...refused,
        402: Unpaid,
        409: Conflict,
        429: TooMany,
      },
    })
    .get(
      '/login/status',
      ({ caller, query: { nonce, wait = 0 }, request }) =>
        statusOf(caller, nonce, { waitMs: wait * 1000, signal: request.signal }),
      {
        scope,
        detail: {
          summary: 'Get the status of a sign-in',
          description:
            'A completed sign-in returns the same token until the nonce expires. A 404 with code `login_denied`, `nonce_expired` or `not_found` is final.',
        },
        query: LoginQuestion,
        response: { 200: LoginStatus, ...refused, 404: Unknown },
      },
    )
    .post(
      '/tokens/introspect',
      ({ caller, body }) => tokens.introspect(caller, body.access_token),
      {
        scope,
        detail: {
          summary: 'Introspect an access token',
          description: 'Returns `active: false` for anything but a valid token of this tenant.',
        },
        body: TokenInQuestion,
        response: { 200: Introspection, ...badBody, ...refused },
      },
    )
    .post(
      '/tokens/revoke',
      ({ caller, body, status }) =>
        tokens.revoke(caller, body.access_token).then(() => status(204, undefined)),
      {
        scope,
        detail: {
          summary: 'Revoke an access token',
          description: 'Call it when the user signs out.',
        },
        body: TokenInQuestion,
        response: { 204: Empty, ...badBody, ...refused },
      },
    )
}
