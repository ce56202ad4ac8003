import { mintSecret } from '../../../../platform/crypto.ts'
import { redeem } from './code.ts'
import type { Connection, Step } from './connection.ts'
import { type Refusal, reasonIn, SocialError } from './errors.ts'
import { refusalOf, remedyFor } from './token-refusal.ts'

/** A part of a provider's configuration or of a sign-in, and how it works. */
export interface ProviderCheck {
  about: 'addresses' | 'keys' | 'email' | Step
  /** `unknown` if the answer proves nothing; `limited` if it works, but not fully. */
  result: 'ok' | 'failed' | 'unknown' | 'limited'
  /** A sentence. */
  message: string
}

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
    return told('failed', `${reasonIn(error)}. Check the URLs.`)
  }
}

async function checkCredentials(
  connection: Connection,
  redirectUri: string,
): Promise<ProviderCheck> {
  const [code, state, verifier] = [mintSecret(), mintSecret(), mintSecret()]
  const params = new URLSearchParams({ code, state })
  try {
    const { status } = await redeem(connection, {
      redirectUri,
      params,
      state,
      secrets: { verifier },
    })
    return { about: 'credentials', ...verdictOn(refusalOf(`status ${status}`)) }
  } catch (error) {
    if (error instanceof SocialError && error.refusal)
      return { about: 'credentials', ...verdictOn(error.refusal) }
    return {
      about: 'credentials',
      result: 'failed',
      message: `${reasonIn(error)}. Check the URLs.`,
    }
  }
}

function verdictOn(refusal: Refusal): Omit<ProviderCheck, 'about'> {
  const remedy = remedyFor(refusal)
  if (remedy !== undefined) return { result: 'failed', message: remedy }
  if (refusal.about === 'code')
    return { result: 'ok', message: 'The client is accepted: only the invented code was rejected.' }
  return {
    result: 'unknown',
    message: `The answer does not say whether the client is accepted (${refusal.words}). Sign in to find out.`,
  }
}
