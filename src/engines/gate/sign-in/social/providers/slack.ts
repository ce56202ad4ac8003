import { checkedSubject, emailIn, localeIn, nameIn, subjectIn } from '../claims.ts'
import { type Addresses, homeOfIssuer, issuedByItself, type OpenIdProvider } from '../provider.ts'

const under = (base: string): Addresses => ({
  authorize: `${base}/openid/connect/authorize`,
  token: `${base}/api/openid.connect.token`,
  jwks: `${base}/openid/connect/keys`,
  issuer: base,
})

/** The ID token contains everything. Errors have status 200 and `ok: false`. */
export const slack: OpenIdProvider = {
  kind: 'openid',
  addresses: under('https://slack.com'),
  under,
  scopes: 'openid profile email',
  pkce: false,
  nonce: true,
  clientAuth: 'post',
  home: homeOfIssuer,
  acceptsIssuer: issuedByItself,
  person(claims) {
    // User ids are unique within their workspace.
    const workspace = subjectIn(claims, 'https://slack.com/team_id')
    return {
      subject: checkedSubject(`${workspace}:${subjectIn(claims, 'sub')}`),
      email: emailIn(claims),
      // The administrators of a workspace can assign any address to its members.
      isEmailVerified: false,
      name: nameIn(claims, 'name', 'given_name'),
      locale: localeIn(claims),
    }
  },
}
