import * as oauth from 'oauth4webapi'
import { asClaims, type Claims } from './claims.ts'
import { redeem } from './code.ts'
import {
  type Connection,
  clientOf,
  type Outcome,
  type Return,
  scopesIn,
  serverOf,
  through,
  tokensOf,
} from './connection.ts'
import { failed } from './errors.ts'
import { checkClaims, checkSignature, issuerIn } from './id-token.ts'
import type { OpenIdProvider } from './provider.ts'
import { jsonOf } from './token-answer.ts'

/** Exchanges a code for an ID token, validates it, and reads its user. */
export async function openIdExchange(
  connection: Connection<OpenIdProvider>,
  back: Return,
): Promise<Outcome> {
  const { provider, addresses, clientId, nowMs, keySets } = connection
  const answer = await redeem(connection, back)
  connection.reach('id_token')
  const server = serverOf(addresses, await issuerIn(answer, provider, addresses))
  const client = clientOf(connection)
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    requireIdToken: true,
    expectedNonce: provider.nonce
      ? (back.secrets.nonce ?? failed('the nonce is missing'))
      : undefined,
  })
  const idToken = asClaims(oauth.getValidatedIdTokenClaims(tokens), 'the ID token')
  checkClaims(idToken, clientId, nowMs)
  await checkSignature(server, answer, keySets)
  connection.reach('profile')
  const userinfo = addresses.userinfo
    ? await readUserinfo(connection, server, tokens.access_token, String(idToken.sub))
    : {}
  return {
    person: provider.person(together(idToken, userinfo), back.params),
    tokens: tokensOf(tokens),
    scopes: scopesIn(tokens),
  }
}

/** The profile must belong to the same user as the ID token, in case of a foreign access token. */
async function readUserinfo(
  connection: Connection,
  server: oauth.AuthorizationServer,
  accessToken: string,
  subject: string,
): Promise<Claims> {
  const client = clientOf(connection)
  const options = through(connection.fetch)
  const response = await oauth.userInfoRequest(server, client, accessToken, options)
  // Signed profiles (JWT) would need validation like ID tokens; no supported provider sends them.
  if (response.status === 200) await jsonOf(response.clone())
  return asClaims(
    await oauth.processUserInfoResponse(server, client, subject, response),
    'the profile',
  )
}

/** A confirmation counts only together with the address it came with. */
const EMAIL_CLAIMS = [
  'email',
  'email_verified',
  'verified_primary_email',
  'verified_secondary_email',
  'xms_edov',
]

function together(idToken: Claims, userinfo: Claims): Claims {
  const source = userinfo.email ? userinfo : idToken
  const email = EMAIL_CLAIMS.map((name) => [name, source[name]])
  return { ...userinfo, ...idToken, ...Object.fromEntries(email) }
}
