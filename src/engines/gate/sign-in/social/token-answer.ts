import type { BoundedFetch } from '../../../../platform/bounded-fetch.ts'
import { asClaims, type Claims } from './claims.ts'
import { failed } from './errors.ts'

/** Normalizes 200 errors (GitHub, Slack), scope arrays (Twitch) and missing types (LinkedIn). */
export const standardAnswers =
  (call: BoundedFetch, { isOpenId }: { isOpenId: boolean }): BoundedFetch =>
  async (url, init) => {
    const response = await call(url, init)
    if (response.status !== 200) return response
    const answer = asClaims(await jsonOf(response), 'the response of the token endpoint')
    if (isError(answer)) return Response.json({ error: answer.error }, { status: 400 })
    return Response.json(standard(answer, isOpenId))
  }

/** Throws for anything else, without the parser's message, which quotes the text. */
export async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return failed('a response is not JSON')
  }
}

const isError = (answer: Claims) => typeof answer.error === 'string' && answer.error !== ''

function standard(answer: Claims, isOpenId: boolean): Claims {
  const { scope, token_type = 'bearer', id_token, ...rest } = answer
  return {
    ...rest,
    token_type,
    ...(scope !== undefined && { scope: Array.isArray(scope) ? scope.join(' ') : scope }),
    // An ID token of other providers was not requested and could not be validated.
    ...(isOpenId && id_token !== undefined && { id_token }),
  }
}
