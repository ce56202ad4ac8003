import * as oauth from 'oauth4webapi'
import { redeem } from './code.ts'
import {
  type Connection,
  clientOf,
  HEADERS,
  type Outcome,
  type Return,
  scopesIn,
  serverOf,
  tokensOf,
} from './connection.ts'
import { failed } from './errors.ts'
import type { Api, OauthProvider } from './provider.ts'
import { jsonOf } from './token-answer.ts'

/** Exchanges a code for an access token, and asks the provider for its user. */
export async function oauthExchange(
  connection: Connection<OauthProvider>,
  back: Return,
): Promise<Outcome> {
  const { provider, addresses } = connection
  const answer = await redeem(connection, back)
  const server = serverOf(addresses, addresses.issuer)
  const client = clientOf(connection)
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer)
  connection.reach('profile')
  const scopes = scopesIn(tokens)
  const person = await provider.person(apiOf(connection, tokens.access_token, scopes))
  return { person, tokens: tokensOf(tokens), scopes }
}

function apiOf(
  connection: Connection<OauthProvider>,
  accessToken: string,
  scopes: Api['scopes'],
): Api {
  const { addresses, clientSecret } = connection
  const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}`, ...HEADERS }
  return {
    userinfo: addresses.userinfo ?? failed('the profile URL is not configured'),
    scopes,
    accessToken,
    clientSecret,
    async get(url) {
      const response = await connection.fetch(url, { headers })
      if (response.status === 200) return jsonOf(response)
      return failed(`${new URL(url).host} responded with status ${response.status}`)
    },
  }
}
