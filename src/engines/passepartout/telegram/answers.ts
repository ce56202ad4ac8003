import { FetchFailure } from '../../../platform/bounded-fetch.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import { oneLine } from '../../../platform/mail/one-line.ts'
import { MessengerError } from '../messenger.ts'
import { fieldsOf } from './fields.ts'

const LONGEST_DESCRIPTION = 200

const USUAL_RETRY_MS = 5000
const LONGEST_RETRY_MS = HOUR_MS

/** What hides a secret in texts of others. */
export type Hide = (text: string) => string

/** What a method resolves to. Throws `MessengerError` for any other answer. */
export async function resultOf(method: string, response: Response, hide: Hide): Promise<unknown> {
  const { ok, result, description, parameters } = fieldsOf(await jsonOf(method, response))
  if (response.ok && ok === true) return result
  const told = typeof description === 'string' ? tidied(description, hide) : ''
  const message = `${method}: ${told || `status ${response.status}`}`
  // Whatever else stands at the address, such as a proxy, does not speak for Telegram.
  const reason = ok === false ? reasonOf(response.status) : 'unavailable'
  throw new MessengerError(
    reason,
    message,
    reason === 'rate_limited' ? retryAfterMs(fieldsOf(parameters).retry_after) : undefined,
  )
}

/** An answer that is JSON, and yet not what the method answers. Throws where it stands. */
export function unreadable(method: string): never {
  throw new MessengerError('unavailable', `${method}: an answer that cannot be read`)
}

/** Why there was no answer, or none that was read whole. */
export function asMessengerError(method: string, error: unknown): MessengerError {
  const message = error instanceof FetchFailure ? error.message : 'the call failed'
  return new MessengerError('unavailable', `${method}: ${message}`)
}

/** What Telegram says of a failure, on one line that is not too long. */
export const tidied = (text: string, hide: Hide): string =>
  [...oneLine(hide(text))].slice(0, LONGEST_DESCRIPTION).join('')

async function jsonOf(method: string, response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    const message = `${method}: status ${response.status}, and an answer that is not JSON`
    throw new MessengerError('unavailable', message)
  }
}

function reasonOf(status: number): MessengerError['reason'] {
  // A token that is none makes a path that is none.
  if (status === 401 || status === 404) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 409) return 'conflict'
  if (status === 429) return 'rate_limited'
  return status >= 400 && status < 500 ? 'refused' : 'unavailable'
}

/** Telegram says seconds. */
function retryAfterMs(seconds: unknown): number {
  if (typeof seconds !== 'number' || !(seconds > 0)) return USUAL_RETRY_MS
  return Math.min(Math.ceil(seconds * 1000), LONGEST_RETRY_MS)
}
