import { createTestClock } from '../../../../support/clock.ts'
import {
  type Account,
  newAccount,
  OPENID_NAMES,
  type OpenIdName,
  startOpenIdProvider,
  type Tamper,
} from '../../../../support/social/index.ts'
import { arrive, callbackOf, refusalOf, START, socialWith, travel } from './client.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

/** The fake OpenID providers, and a client of all of them, on one clock. */
export async function bootOpenId() {
  const clock = createTestClock(START)
  const there = await startOpenIdProvider({ redirectUris: OPENID_NAMES.map(callbackOf), clock })
  const settings = OPENID_NAMES.map((name) => [name, there.providerConfig(name)])
  const social = socialWith(Object.fromEntries(settings), clock)

  /** Somebody comes back from `provider`, whose ID tokens are changed by `tamper`. */
  async function come(provider: OpenIdName, account: Account = newAccount(), tamper?: Tamper) {
    there.signInAs(account)
    there.tamper(tamper)
    return travel(social, provider)
  }

  const signIn = async (provider: OpenIdName, account: Account, tamper?: Tamper) =>
    arrive(social, await come(provider, account, tamper))

  /** Why an ID token like this is not taken. */
  const refusal = async (provider: OpenIdName, tamper: Tamper) =>
    refusalOf(social, await come(provider, undefined, tamper))

  return { clock, there, social, come, signIn, refusal, stop: there.stop }
}

/** Claims other than they would be; undefined takes one away. */
export const claiming =
  (changes: Record<string, unknown> | (() => Record<string, unknown>)): Tamper =>
  ({ claims }) => {
    Object.assign(claims, typeof changes === 'function' ? changes() : changes)
  }
