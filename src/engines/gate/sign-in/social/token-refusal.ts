import { withoutParts } from '../../../../platform/redaction.ts'
import { errorNamed, type Refusal, SocialError } from './errors.ts'

const MAX_SHOWN = 200

/** The error for a response of the token endpoint with another status than 200; it may quote `secrets`. */
export async function tokenRefusal(
  answer: Response,
  secrets: readonly string[],
): Promise<SocialError> {
  const body = await bodyOf(answer)
  const code = typeof body.error === 'string' && body.error !== '' ? body.error : undefined
  const what = code === undefined ? `status ${answer.status}` : errorNamed(code)
  const words = withoutParts(textsIn(body).join(': '), secrets) || `status ${answer.status}`
  return new SocialError('failed', `the provider rejected the code with ${what}`, refusalOf(words))
}

/** A refusal in the provider's words. */
export const refusalOf = (words: string): Refusal => ({
  about: objectionIn(words),
  words: words.slice(0, MAX_SHOWN).replace(/\.$/, ''),
})

/** What to do about a refusal, as sentences; undefined if that depends on the request. */
export function remedyFor({ about, words }: Refusal): string | undefined {
  if (about === 'redirect')
    return `The redirect URL is not registered (${words}). Copy it from this page.`
  if (about === 'client') return `The client is rejected (${words}). Check ID and secret.`
  return undefined
}

/** These say that the client is wrong, whatever else the answer says. */
const CLIENT_ERRORS =
  /\b(invalid_client(_id)?|unauthorized_client|incorrect_client_credentials|bad_client_secret)\b/
const ABOUT_REDIRECT = /redirect_uri_mismatch/
const ABOUT_CODE =
  /\b(invalid_grant|bad_verification_code|invalid_code)\b|authorization code|verification code/i
const ABOUT_CLIENT = /client.{0,3}(id|secret)|invalid client|validating application/i

function objectionIn(words: string): Refusal['about'] {
  if (ABOUT_REDIRECT.test(words)) return 'redirect'
  const isAboutCode = ABOUT_CODE.test(words)
  if (CLIENT_ERRORS.test(words) || (!isAboutCode && ABOUT_CLIENT.test(words))) return 'client'
  return isAboutCode ? 'code' : undefined
}

type Body = Readonly<Record<string, unknown>>

async function bodyOf(answer: Response): Promise<Body> {
  try {
    return Object(await answer.json())
  } catch {
    return {}
  }
}

/** The texts of an error, which each provider puts elsewhere. */
function textsIn({ error, error_description, message }: Body): string[] {
  const inner: Body = Object(error)
  return [error, error_description, message, inner.message].filter(
    (text): text is string => typeof text === 'string' && text !== '',
  )
}
