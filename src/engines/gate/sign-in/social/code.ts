import * as oauth from 'oauth4webapi'
import { type Connection, clientOf, type Return, serverOf, through } from './connection.ts'
import { failed } from './errors.ts'
import { standardAnswers } from './token-answer.ts'
import { tokenRefusal } from './token-refusal.ts'

/** Validates the provider's response and exchanges its code. Throws for any response but a 200. */
export async function redeem(connection: Connection, back: Return): Promise<Response> {
  const { provider, addresses } = connection
  const server = serverOf(addresses, issuerOf(connection, back.params))
  const client = clientOf(connection)
  const params = oauth.validateAuthResponse(server, client, back.params, back.state)
  connection.reach('credentials')
  const isOpenId = provider.kind === 'openid'
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    clientAuthOf(connection),
    params,
    back.redirectUri,
    provider.pkce
      ? (back.secrets.verifier ?? failed('the code verifier is missing'))
      : oauth.nopkce,
    through(standardAnswers(connection.fetch, { isOpenId })),
  )
  if (answer.status === 200) return answer
  const { verifier = '' } = back.secrets
  throw await tokenRefusal(answer, [connection.clientSecret, params.get('code') ?? '', verifier])
}

/** An issuer in the response must be the expected one (RFC 9207), before it receives the code. */
function issuerOf({ provider, addresses }: Connection, params: URLSearchParams): string {
  const issuer = params.get('iss')
  if (!issuer) return addresses.issuer
  const isOurs =
    provider.kind === 'openid'
      ? provider.acceptsIssuer(issuer, addresses)
      : issuer === addresses.issuer
  return isOurs ? issuer : failed('the callback came from a different issuer')
}

const clientAuthOf = ({ provider, clientSecret }: Connection): oauth.ClientAuth =>
  provider.clientAuth === 'basic'
    ? oauth.ClientSecretBasic(clientSecret)
    : oauth.ClientSecretPost(clientSecret)
