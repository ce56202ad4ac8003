import { mintSecret } from '../../../../platform/crypto.ts'
import { withoutParts } from '../../../../platform/redaction.ts'
import { redeem } from './code.ts'
import type { Connection } from './connection.ts'
import { reasonIn } from './errors.ts'

/** A part of a provider's configuration, and what the provider says to it without a user. */
export interface ProviderCheck {
  about: 'addresses' | 'keys' | 'credentials'
  /** `unknown` if the answer proves nothing. */
  result: 'ok' | 'failed' | 'unknown'
  /** A sentence. */
  message: string
}

const MAX_SHOWN = 200

/**
 * Checks a provider as far as the protocol allows without a user: reads the keys that sign its ID tokens,
 * and exchanges an invented code. A provider that rejects only the code has accepted the client.
 */
export async function checkConnection(
  connection: Connection,
  redirectUri: string,
): Promise<ProviderCheck[]> {
  const credentials = checkCredentials(connection, redirectUri)
  return connection.addresses.jwks
    ? [await checkKeys(connection, connection.addresses.jwks), await credentials]
    : [await credentials]
}

async function checkKeys(connection: Connection, url: string): Promise<ProviderCheck> {
  const { host } = new URL(url)
  const told = (result: ProviderCheck['result'], message: string) =>
    ({ about: 'keys', result, message }) as const
  try {
    const response = await connection.fetch(url)
    if (response.status !== 200)
      return told('failed', `${host} answers ${response.status} instead of its signing keys.`)
    const { keys } = (await response.json()) as { keys?: unknown }
    return Array.isArray(keys) && keys.length > 0
      ? told('ok', `${host} publishes the keys that sign its ID tokens.`)
      : told('failed', `${host} publishes no signing keys. Check the URLs.`)
  } catch (error) {
    return told('failed', `${reasonOf(error)}. Check the URLs.`)
  }
}

async function checkCredentials(
  connection: Connection,
  redirectUri: string,
): Promise<ProviderCheck> {
  const [code, state, verifier] = [mintSecret(), mintSecret(), mintSecret()]
  const params = new URLSearchParams({ code, state })
  try {
    const answer = await redeem(connection, { redirectUri, params, state, secrets: { verifier } })
    const words = withoutParts(await wordsIn(answer), [connection.clientSecret, code, verifier])
    return { about: 'credentials', ...verdictOn(words, answer.status) }
  } catch (error) {
    return {
      about: 'credentials',
      result: 'failed',
      message: `${reasonOf(error)}. Check the URLs.`,
    }
  }
}

/** The words of an error, which each provider puts elsewhere. */
async function wordsIn(answer: Response): Promise<string> {
  try {
    const body = (await answer.json()) as Record<string, unknown>
    const inner = typeof body.error === 'object' && body.error !== null ? body.error : {}
    return [body.error, body.error_description, body.message, (inner as typeof body).message]
      .filter((text) => typeof text === 'string' && text !== '')
      .join(': ')
  } catch {
    return ''
  }
}

/** These say that the client is wrong, whatever else the answer says. */
const CLIENT_ERRORS =
  /\b(invalid_client(_id)?|unauthorized_client|incorrect_client_credentials|bad_client_secret)\b/
const ABOUT_REDIRECT = /redirect_uri_mismatch/
const ABOUT_CODE =
  /\b(invalid_grant|bad_verification_code|invalid_code)\b|authorization code|verification code/i
const ABOUT_CLIENT = /client.{0,3}(id|secret)|invalid client|validating application/i

function verdictOn(words: string, status: number): Omit<ProviderCheck, 'about'> {
  const shown = words.slice(0, MAX_SHOWN) || `status ${status}`
  if (ABOUT_REDIRECT.test(words))
    return {
      result: 'failed',
      message: `The redirect URL is not registered (${shown}). Copy it from this page.`,
    }
  const isAboutCode = ABOUT_CODE.test(words)
  if (CLIENT_ERRORS.test(words) || (!isAboutCode && ABOUT_CLIENT.test(words)))
    return { result: 'failed', message: `The client is rejected (${shown}). Check ID and secret.` }
  if (isAboutCode)
    return { result: 'ok', message: 'The client is accepted: only the invented code was rejected.' }
  return {
    result: 'unknown',
    message: `The answer does not say whether the client is accepted (${shown}). Sign in to find out.`,
  }
}

/** Why a call failed, as the beginning of a sentence. */
function reasonOf(error: unknown): string {
  const reason = reasonIn(error)
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`
}
