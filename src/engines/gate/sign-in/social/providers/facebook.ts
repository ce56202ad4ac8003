import { createHmac } from 'node:crypto'
import { asClaims, emailIn, nameIn, subjectIn } from '../claims.ts'
import { homeOfApi, type OauthProvider } from '../provider.ts'

/** Without a version in the path, an app gets the oldest version it may still use. */
export const facebook: OauthProvider = {
  kind: 'oauth',
  addresses: {
    authorize: 'https://www.facebook.com/dialog/oauth',
    token: 'https://graph.facebook.com/oauth/access_token',
    userinfo: 'https://graph.facebook.com/me',
    issuer: 'https://www.facebook.com',
  },
  under: (base) => ({
    authorize: `${base}/dialog/oauth`,
    token: `${base}/oauth/access_token`,
    userinfo: `${base}/me`,
    issuer: base,
  }),
  scopes: 'email public_profile',
  pkce: true,
  clientAuth: 'post',
  home: homeOfApi,
  async person(api) {
    const url = new URL(api.userinfo)
    url.searchParams.set('fields', 'id,name,email')
    url.searchParams.set('appsecret_proof', proof(api.clientSecret, api.accessToken))
    const user = asClaims(await api.get(url.href), 'the user')
    return {
      subject: subjectIn(user, 'id'),
      email: emailIn(user),
      // Facebook does not state whether the address is verified.
      isEmailVerified: false,
      name: nameIn(user, 'name'),
      locale: undefined,
    }
  },
}

/** Proves that the caller is the app that the token was issued to. */
const proof = (secret: string, accessToken: string) =>
  createHmac('sha256', secret).update(accessToken).digest('hex')
