import { emailIn, isTrueOrTheWord, localeIn, nameIn, subjectIn } from '../claims.ts'
import { homeOfIssuer, type OpenIdProvider } from '../provider.ts'

export const google: OpenIdProvider = {
  kind: 'openid',
  addresses: {
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    jwks: 'https://www.googleapis.com/oauth2/v3/certs',
    issuer: 'https://accounts.google.com',
  },
  under: (base) => ({
    authorize: `${base}/o/oauth2/v2/auth`,
    token: `${base}/token`,
    jwks: `${base}/oauth2/v3/certs`,
    issuer: base,
  }),
  scopes: 'openid email profile',
  pkce: true,
  nonce: true,
  clientAuth: 'post',
  home: homeOfIssuer,
  /** Older ID tokens omit the scheme; both forms are documented. */
  acceptsIssuer: (issuer, addresses) =>
    issuer === addresses.issuer || `https://${issuer}` === addresses.issuer,
  person: (claims) => ({
    subject: subjectIn(claims, 'sub'),
    email: emailIn(claims),
    isEmailVerified: isTrueOrTheWord(claims.email_verified),
    name: nameIn(claims, 'name', 'given_name'),
    locale: localeIn(claims),
  }),
}

/** For operators, with a separate OAuth client. */
export const googleTenant: OpenIdProvider = google
