import { asClaims, type Claims, emailIn, isTrue, nameIn, numberedSubjectIn } from '../claims.ts'
import { failed } from '../errors.ts'
import { type Api, homeOfApi, type OauthProvider } from '../provider.ts'

/** GitHub, and GitHub Enterprise Server under a base of its own. */
export const github: OauthProvider = {
  kind: 'oauth',
  addresses: {
    authorize: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    userinfo: 'https://api.github.com/user',
    issuer: 'https://github.com/login/oauth',
  },
  under: (base) => ({
    authorize: `${base}/login/oauth/authorize`,
    token: `${base}/login/oauth/access_token`,
    userinfo: `${base}/api/v3/user`,
    issuer: `${base}/login/oauth`,
  }),
  scopes: 'read:user user:email',
  pkce: true,
  clientAuth: 'post',
  home: homeOfApi,
  async person(api) {
    const user = asClaims(await api.get(api.userinfo), 'the user')
    const primary = await primaryEmail(api)
    return {
      // Login names can be given up and taken by somebody else.
      subject: numberedSubjectIn(user, 'id'),
      email: primary && emailIn(primary),
      isEmailVerified: primary !== undefined && isTrue(primary.verified),
      name: nameIn(user, 'name', 'login'),
      locale: undefined,
    }
  },
}

/** For operators, whose language is kept: GitHub knows none, and speaks English itself. */
export const githubTenant: OauthProvider = {
  ...github,
  person: async (api) => ({ ...(await github.person(api)), locale: 'en' }),
}

/** The `email` of the user is what they show in public, and says nothing of who reads it. */
async function primaryEmail(api: Api): Promise<Claims | undefined> {
  if (api.scopes && !api.scopes.some((scope) => scope === 'user:email' || scope === 'user')) {
    return undefined
  }
  const list = await api.get(`${api.userinfo}/emails?per_page=100`)
  if (!Array.isArray(list)) failed('the e-mail addresses are not a list')
  const entries = list.map((entry) => asClaims(entry, 'an e-mail address'))
  return entries.find((entry) => isTrue(entry.primary))
}
