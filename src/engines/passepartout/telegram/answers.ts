import { HOUR_MS } from '../../../platform/durations.ts'
import { oneLine } from '../../../platform/mail/one-line.ts'
import { CallFailure } from '../../../platform/transport/failure.ts'
import { MessengerError } from '../messenger.ts'
import { fieldsOf } from './fields.ts'

const MAX_DESCRIPTION_LENGTH = 200

const USUAL_RETRY_MS = 5000
const MAX_RETRY_MS = HOUR_MS

/** Removes a secret from foreign text. */
export type Hide = (text: string) => string

/** The result of a method. Throws `MessengerError` for any other response. */
export async function resultOf(method: string, response: Response, hide: Hide): Promise<unknown> {
  const { ok, result, description, parameters } = fieldsOf(await jsonOf(method, response))
  if (response.ok && ok === true) return result
  const explanation = typeof description === 'string' ? tidied(description, hide) : ''
  const message = `${method}: ${explanation || `status ${response.status}`}`
  // Only Telegram's response format is trusted; a proxy may respond with anything.
  const reason = ok === false ? reasonOf(response.status) : 'unavailable'
  throw new MessengerError(
    reason,
    message,
    reason === 'rate_limited' ? retryAfterMs(fieldsOf(parameters).retry_after) : undefined,
  )
}

/** Throws for a JSON response that the method cannot return. */
export function unreadable(method: string): never {
  throw new MessengerError('unavailable', `${method}: invalid response`)
}

/** Converts a failed or incomplete request to a `MessengerError`. */
export function asMessengerError(method: string, error: unknown): MessengerError {
  const message = error instanceof CallFailure ? error.message : 'the request failed'
  return new MessengerError('unavailable', `${method}: ${message}`)
}

/** Telegram's error description on one line of limited length. */
export const tidied = (text: string, hide: Hide): string =>
  [...oneLine(hide(text))].slice(0, MAX_DESCRIPTION_LENGTH).join('')

async function jsonOf(method: string, response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    const message = `${method}: status ${response.status}, and the response is not JSON`
    throw new MessengerError('unavailable', message)
  }
}

function reasonOf(status: number): MessengerError['reason'] {
  // Telegram responds to a malformed token as to an unknown path.
  if (status === 401 || status === 404) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 409) return 'conflict'
  if (status === 429) return 'rate_limited'
  return status >= 400 && status < 500 ? 'refused' : 'unavailable'
}

/** Telegram sends seconds. */
function retryAfterMs(seconds: unknown): number {
  if (typeof seconds !== 'number' || !(seconds > 0)) return USUAL_RETRY_MS
  return Math.min(Math.ceil(seconds * 1000), MAX_RETRY_MS)
}
