import type { Configuration } from 'oidc-provider'
import { memoryAdapter } from './adapter.ts'
import { interactionPolicy } from './library.ts'
import { CLIENT_SECRET, type State } from './openid-state.ts'
import type { OpenIdName, Persona } from './personas.ts'
import { newSigningKey } from './signing.ts'

const HOUR_S = 3600

/** Never seen by anybody: each ID token is signed anew on its way out. */
const OWN_KEY = newSigningKey()

/** One client, whose secret comes in the body, and as much of the standard as `persona` has. */
export const configurationOf = (
  persona: Persona,
  name: OpenIdName,
  clientId: string,
  { accounts }: State,
): Configuration => ({
  adapter: memoryAdapter(),
  clients: [
    {
      client_id: clientId,
      client_secret: CLIENT_SECRET,
      redirect_uris: ['https://never.example/used'],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  routes: persona.routes,
  scopes: persona.scopes,
  claims: persona.claims,
  conformIdTokenClaims: !persona.fillsIdToken,
  pkce: { required: () => persona.pkce === 'demanded' },
  cookies: { keys: ['a-key-for-cookies'] },
  jwks: { keys: [{ ...OWN_KEY.privateKey.export({ format: 'jwk' }), use: 'sig' }] },
  features: { devInteractions: { enabled: false }, claimsParameter: { enabled: true } },
  interactions: { url: (_, { uid }) => `/${name}/interaction/${uid}`, policy: loginAlone() },
  findAccount: (_, id) => {
    const account = accounts.get(id)
    return account && { accountId: id, claims: () => ({ sub: id, ...persona.says(account) }) }
  },
  loadExistingGrant: async ({ oidc }) => {
    const { client, session, params, provider } = oidc
    const { clientId } = client ?? {}
    const grant = new provider.Grant({ clientId, accountId: session?.accountId })
    grant.addOIDCScope(String(params?.scope))
    grant.addOIDCClaims(['email', 'email_verified', 'preferred_username'])
    await grant.save()
    return grant
  },
  ttl: {
    AccessToken: HOUR_S,
    AuthorizationCode: 60,
    Grant: HOUR_S,
    IdToken: HOUR_S,
    Interaction: HOUR_S,
    Session: HOUR_S,
  },
  renderError: (ctx, out) => {
    ctx.type = 'text'
    ctx.body = `${out.error}: ${out.error_description}`
  },
})

/** Who presses the button consents as well. */
function loginAlone() {
  const prompts = interactionPolicy.base()
  prompts.remove('consent')
  return prompts
}
