import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { Introspection, TokenInQuestion } from '../../../http/introspection.ts'
import { CodedErrors, Empty, refusalsIn } from '../../../http/responses.ts'
import type { AccessTokens } from './index.ts'
import { AccessToken, TokenRequest } from './model.ts'

const { refused, badBody, spent } = refusalsIn(CodedErrors)

/** contract/gate, tokens; plus revocation. */
export function accessTokenRoutes(parts: { accessTokens: AccessTokens; access: Access }) {
  const { accessTokens, access } = parts

  return new Elysia({ prefix: '/tokens', tags: ['gate'] })
    .use(access)
    .post('', ({ caller, body }) => accessTokens.issue(caller, body), {
      scopeOfBodyKey: 'tokens:write',
      detail: {
        summary: 'Exchange an API key for an access token',
        description:
          'Send the API key, which needs the scope `tokens:write`, in the body. The token has at most the scopes of the key, and expires.',
      },
      body: TokenRequest,
      response: { 200: AccessToken, ...badBody, ...refused, ...spent },
    })
    .post('/introspect', ({ caller, body }) => accessTokens.introspect(caller, body.access_token), {
      scope: ['tokens:write', 'authorize'],
      detail: {
        summary: 'Introspect an access token',
        description:
          'Returns the code `invalid_token` for a malformed or expired token, and `active: false` for an unknown or revoked one.',
      },
      body: TokenInQuestion,
      response: { 200: Introspection, ...badBody, ...refused },
    })
    .post(
      '/revoke',
      ({ caller, body, status }) =>
        accessTokens.revoke(caller, body.access_token).then(() => status(204, undefined)),
      {
        scope: 'tokens:write',
        detail: { summary: 'Revoke an access token' },
        body: TokenInQuestion,
        response: { 204: Empty, ...badBody, ...refused },
      },
    )
}
