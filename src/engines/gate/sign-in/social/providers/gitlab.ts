import { emailIn, isTrue, nameIn, subjectIn } from '../claims.ts'
import { type Addresses, homeOfIssuer, issuedByItself, type OpenIdProvider } from '../provider.ts'

const under = (base: string): Addresses => ({
  authorize: `${base}/oauth/authorize`,
  token: `${base}/oauth/token`,
  userinfo: `${base}/oauth/userinfo`,
  jwks: `${base}/oauth/discovery/keys`,
  issuer: base,
})

/** GitLab, hosted or self-managed. The ID token has no name, so userinfo is called. */
export const gitlab: OpenIdProvider = {
  kind: 'openid',
  addresses: under('https://gitlab.com'),
  under,
  scopes: 'openid email profile',
  pkce: true,
  nonce: true,
  clientAuth: 'post',
  home: homeOfIssuer,
  acceptsIssuer: issuedByItself,
  person: (claims) => ({
    subject: subjectIn(claims, 'sub'),
    email: emailIn(claims),
    isEmailVerified: isTrue(claims.email_verified),
    name: nameIn(claims, 'name', 'nickname'),
    locale: undefined,
  }),
}
