import { emailIn, isTrue, nameIn, subjectIn } from '../claims.ts'
import { homeOfIssuer, issuedByItself, type OpenIdProvider } from '../provider.ts'

/** Twitch includes only claims that are requested by name. */
const CLAIMS = { email: null, email_verified: null, preferred_username: null }

export const twitch: OpenIdProvider = {
  kind: 'openid',
  addresses: {
    authorize: 'https://id.twitch.tv/oauth2/authorize',
    token: 'https://id.twitch.tv/oauth2/token',
    jwks: 'https://id.twitch.tv/oauth2/keys',
    issuer: 'https://id.twitch.tv/oauth2',
  },
  under: (base) => ({
    authorize: `${base}/oauth2/authorize`,
    token: `${base}/oauth2/token`,
    jwks: `${base}/oauth2/keys`,
    issuer: `${base}/oauth2`,
  }),
  scopes: 'openid user:read:email',
  pkce: false,
  nonce: true,
  clientAuth: 'post',
  parameters: { claims: JSON.stringify({ id_token: CLAIMS, userinfo: CLAIMS }) },
  home: homeOfIssuer,
  acceptsIssuer: issuedByItself,
  person: (claims) => ({
    subject: subjectIn(claims, 'sub'),
    email: emailIn(claims),
    isEmailVerified: isTrue(claims.email_verified),
    name: nameIn(claims, 'preferred_username'),
    locale: undefined,
  }),
}
