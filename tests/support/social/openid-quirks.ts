import type { KoaContextWithOIDC } from 'oidc-provider'
import { CLIENT_SECRET, type State } from './openid-state.ts'
import type { Persona } from './personas.ts'
import { published, readToken, signToken } from './signing.ts'

interface Quirks {
  persona: Persona
  url: string
  state: State
}

/** Bends what the certified provider does until it is what the one it stands for does. */
export async function withQuirks(
  ctx: KoaContextWithOIDC,
  next: () => Promise<unknown>,
  quirks: Quirks,
): Promise<void> {
  const { persona, state } = quirks
  const { authorization, token, jwks } = persona.routes
  const problem = ctx.path === authorization ? whatIsWrong(persona, ctx.query) : undefined
  if (problem) return refuse(ctx, problem)
  await next()
  if (ctx.path === token) ctx.body = tokenAnswer(ctx, quirks)
  if (ctx.path === jwks) ctx.body = { keys: [published(state.key)] }
  if (!persona.namesIssuer) dropIssuer(ctx)
  if (isPostOfCode(ctx)) ctx.body = greeting(String(ctx.body), state)
}

function whatIsWrong({ pkce, responseMode }: Persona, query: Record<string, unknown>) {
  if (pkce === 'refused' && query.code_challenge) return 'a challenge from a client with a secret'
  if (responseMode !== query.response_mode) return `the response mode must be ${responseMode}`
  return undefined
}

function refuse(ctx: KoaContextWithOIDC, problem: string) {
  ctx.status = 400
  ctx.body = problem
}

function tokenAnswer(ctx: KoaContextWithOIDC, { persona, url, state }: Quirks) {
  const answer = ctx.body as Record<string, unknown>
  if (typeof answer.id_token === 'string') {
    const id_token = resigned(answer.id_token, { persona, url, state })
    return persona.words?.({ ...answer, id_token }) ?? { ...answer, id_token }
  }
  if (!persona.hidesErrors) return answer
  ctx.status = 200
  return { ok: false, error: answer.error }
}

/** The ID token with the claims of this provider, at the time of the test's clock. */
function resigned(idToken: string, { persona, url, state }: Quirks): string {
  const { claims } = readToken(idToken)
  const account = state.accounts.get(String(claims.sub)) ?? state.account
  for (const name of persona.keepsBack ?? []) delete claims[name]
  if (!persona.nonce) delete claims.nonce
  const shift = Math.round((state.now() - Date.now()) / 1000)
  const times = { iat: Number(claims.iat) + shift, exp: Number(claims.exp) + shift }
  const token = {
    header: { alg: 'RS256', kid: state.key.kid },
    claims: { ...claims, ...times, iss: persona.issuer(url, account) },
    key: state.key,
  }
  state.tamper?.(token)
  return signToken(token, token.key.privateKey, CLIENT_SECRET)
}

function dropIssuer(ctx: KoaContextWithOIDC) {
  const location = ctx.response.get('location')
  if (!location?.includes('iss=')) return
  const url = new URL(location)
  url.searchParams.delete('iss')
  ctx.set('location', url.href)
}

const isPostOfCode = ({ body }: KoaContextWithOIDC): boolean =>
  typeof body === 'string' && body.includes('name="code"')

/** The name comes along the first time that somebody signs in, and never again. */
function greeting(page: string, { account, greeted }: State): string {
  const plain = page.replace(/<input[^>]*name="iss"[^>]*>/, '')
  if (greeted.has(account.id)) return plain
  greeted.add(account.id)
  const [firstName, ...rest] = account.name.split(' ')
  const name = { firstName, lastName: rest.join(' ') }
  const user = Bun.escapeHTML(JSON.stringify({ name, email: account.email }))
  return plain.replace('<noscript>', `<input type="hidden" name="user" value="${user}"/><noscript>`)
}
