import { asClaims, type Claims, emailIn, isTrue, nameIn, numberedSubjectIn } from '../claims.ts'
import { failed } from '../errors.ts'
import { type Api, homeOfApi, type OauthProvider } from '../provider.ts'

/** GitHub, and GitHub Enterprise Server with a base URL. */
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
      // Login names can be released and taken by another user.
      subject: numberedSubjectIn(user, 'id'),
      email: primary && emailIn(primary),
      isEmailVerified: primary !== undefined && isTrue(primary.verified),
      name: nameIn(user, 'name', 'login'),
      locale: undefined,
    }
  },
}

/** For operators, whose locale is stored. GitHub does not provide one, so it is English. */
export const githubTenant: OauthProvider = {
  ...github,
  person: async (api) => ({ ...(await github.person(api)), locale: 'en' }),
}

/** The user's `email` is the public one and may be unverified, so the list of addresses is read. */
async function primaryEmail(api: Api): Promise<Claims | undefined> {
  if (api.scopes && !api.scopes.some((scope) => scope === 'user:email' || scope === 'user')) {
    return undefined
  }
  const list = await api.get(`${api.userinfo}/emails?per_page=100`)
  if (!Array.isArray(list)) failed('the email addresses are not a list')
  const entries = list.map((entry) => asClaims(entry, 'an email address'))
  return entries.find((entry) => isTrue(entry.primary))
}
