import { type Claims, emailIn, isTrue, localeIn, nameIn, subjectIn } from '../claims.ts'
import { homeOfIssuer, type OpenIdProvider } from '../provider.ts'

/** Repeats no nonce, and rejects a PKCE verifier from clients with a secret. */
export const linkedin: OpenIdProvider = {
  kind: 'openid',
  addresses: {
    authorize: 'https://www.linkedin.com/oauth/v2/authorization',
    token: 'https://www.linkedin.com/oauth/v2/accessToken',
    userinfo: 'https://api.linkedin.com/v2/userinfo',
    jwks: 'https://www.linkedin.com/oauth/openid/jwks',
    issuer: 'https://www.linkedin.com/oauth',
  },
  under: (base) => ({
    authorize: `${base}/oauth/v2/authorization`,
    token: `${base}/oauth/v2/accessToken`,
    userinfo: `${base}/v2/userinfo`,
    jwks: `${base}/oauth/openid/jwks`,
    issuer: `${base}/oauth`,
  }),
  scopes: 'openid profile email',
  pkce: false,
  nonce: false,
  clientAuth: 'post',
  home: homeOfIssuer,
  /** The issuer used to have no path, and some endpoints still use the old one. */
  acceptsIssuer: (issuer, addresses) =>
    issuer === addresses.issuer || `${issuer}/oauth` === addresses.issuer,
  person: (claims) => ({
    subject: subjectIn(claims, 'sub'),
    email: emailIn(claims),
    isEmailVerified: isTrue(claims.email_verified),
    name: nameIn(claims, 'name', 'given_name'),
    locale: localeIn({ locale: languageIn(claims) }),
  }),
}

/** A tag, or an object such as `{"country": "DE", "language": "de"}`. */
function languageIn({ locale }: Claims): unknown {
  const isObject = typeof locale === 'object' && locale !== null && 'language' in locale
  return isObject ? locale.language : locale
}
