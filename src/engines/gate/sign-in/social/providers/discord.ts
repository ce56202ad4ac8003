import { asClaims, emailIn, isTrue, localeIn, nameIn, subjectIn } from '../claims.ts'
import { homeOfApi, type OauthProvider } from '../provider.ts'

const under = (base: string) => ({
  authorize: `${base}/oauth2/authorize`,
  token: `${base}/api/oauth2/token`,
  userinfo: `${base}/api/users/@me`,
  issuer: base,
})

export const discord: OauthProvider = {
  kind: 'oauth',
  addresses: under('https://discord.com'),
  under,
  scopes: 'identify email',
  pkce: true,
  clientAuth: 'post',
  home: homeOfApi,
  async person(api) {
    const user = asClaims(await api.get(api.userinfo), 'the user')
    return {
      subject: subjectIn(user, 'id'),
      email: emailIn(user),
      isEmailVerified: isTrue(user.verified),
      name: nameIn(user, 'global_name', 'username'),
      locale: localeIn(user),
    }
  },
}
