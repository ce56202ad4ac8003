import { asClaims, type Claims, checkedSubject, emailIn, nameIn, subjectIn } from '../claims.ts'
import { homeOfApi, type OauthProvider } from '../provider.ts'

export const spotify: OauthProvider = {
  kind: 'oauth',
  addresses: {
    authorize: 'https://accounts.spotify.com/authorize',
    token: 'https://accounts.spotify.com/api/token',
    userinfo: 'https://api.spotify.com/v1/me',
    issuer: 'https://accounts.spotify.com',
  },
  under: (base) => ({
    authorize: `${base}/authorize`,
    token: `${base}/api/token`,
    userinfo: `${base}/v1/me`,
    issuer: base,
  }),
  scopes: 'user-read-email',
  pkce: true,
  clientAuth: 'basic',
  home: homeOfApi,
  async person(api) {
    const user = asClaims(await api.get(api.userinfo), 'the user')
    return {
      subject: subjectOf(user),
      email: emailIn(user),
      // Spotify states that its addresses are not verified.
      isEmailVerified: false,
      name: nameIn(user, 'display_name'),
      locale: undefined,
    }
  },
}

/** Prefixes `id`, which users can choose, so that it never equals another's `account_id`. */
const subjectOf = (user: Claims): string =>
  user.account_id ? subjectIn(user, 'account_id') : checkedSubject(`name:${subjectIn(user, 'id')}`)
