import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { Introspection, TokenInQuestion } from '../../../http/introspection.ts'
import { CodedErrors, Empty, refusalsIn } from '../../../http/responses.ts'
import type { Logins } from '../logins.ts'
import { LoginQuestion, LoginStatus, NewLogin, StartedLogin } from '../model.ts'
import type { Tokens } from '../tokens.ts'

const { 402: Unpaid, 404: Unknown, 409: Conflict, 429: TooMany } = CodedErrors
const { badBody, refused } = refusalsIn(CodedErrors)

const scope = 'passepartout'

/** contract/passepartout-relay, login engine; revocation is added. */
export function loginRoutes(parts: { logins: Logins; tokens: Tokens; access: Access }) {
  const { logins, tokens, access } = parts

  return new Elysia({ tags: ['passepartout'] })
    .use(access)
    .post('/login/start', ({ caller, body }) => logins.start(caller, body), {
      scope,
      detail: {
        summary: 'Start a sign-in',
        description:
          'The body may be left out. With `client` the person is told where the sign-in was started, and asked for the number in `match_code`.',
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
        logins.status(caller, nonce, { waitMs: wait * 1000, signal: request.signal }),
      {
        scope,
        detail: {
          summary: 'Ask how a sign-in stands',
          description:
            'Once it is completed, each answer has the same token, until the nonce expires. 404 has code `login_denied`, `nonce_expired` or `not_found`: it will not complete any more.',
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
          description: '`active: false` for whatever is not a good token of this tenant.',
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
        detail: { summary: 'Revoke an access token', description: 'When somebody signs out.' },
        body: TokenInQuestion,
        response: { 204: Empty, ...badBody, ...refused },
      },
    )
}
