import type { BoundedFetch } from '../../../platform/bounded-fetch.ts'
import { asClaims, type Claims } from './claims.ts'
import { failed } from './errors.ts'

/**
 * The token endpoint as the standard has it. Some answer errors with status 200 (GitHub, Slack),
 * one lists scopes in an array (Twitch), and one was seen to leave out the type (LinkedIn).
 */
export const standardAnswers =
  (call: BoundedFetch, { isOpenId }: { isOpenId: boolean }): BoundedFetch =>
  async (url, init) => {
    const response = await call(url, init)
    if (response.status !== 200) return response
    const answer = asClaims(await jsonOf(response), 'the answer of the token endpoint')
    if (isError(answer)) return Response.json({ error: answer.error }, { status: 400 })
    return Response.json(standard(answer, isOpenId))
  }

/** Throws for anything else, without the parser's words: they quote the text. */
export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return failed('an answer is not JSON')
  }
}

const isError = (answer: Claims) => typeof answer.error === 'string' && answer.error !== ''

function standard(answer: Claims, isOpenId: boolean): Claims {
  const { scope, token_type = 'bearer', id_token, ...rest } = answer
  return {
    ...rest,
    token_type,
    ...(scope !== undefined && { scope: Array.isArray(scope) ? scope.join(' ') : scope }),
    // Nobody asked the others for one, and nobody could check it.
    ...(isOpenId && id_token !== undefined && { id_token }),
  }
}
