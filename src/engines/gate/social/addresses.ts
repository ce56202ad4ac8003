import type { Config } from '../../../config/index.ts'
import { failed } from './errors.ts'
import type { Addresses, Provider } from './provider.ts'

export type ProviderSettings = Config['gate']['providers'][keyof Config['gate']['providers']]

/** The built-in addresses, those under the operator's base, and above all those spelt out. */
export function addressesOf(provider: Provider, settings: ProviderSettings): Addresses {
  const { baseUrl, authorizeUrl, tokenUrl, userinfoUrl, issuer, jwksUrl } = settings
  const usual = baseUrl === undefined ? provider.addresses : provider.under(baseUrl)
  return {
    authorize: authorizeUrl ?? usual.authorize,
    token: tokenUrl ?? usual.token,
    userinfo: userinfoUrl ?? usual.userinfo,
    jwks: jwksUrl ?? usual.jwks,
    issuer: issuer ?? usual.issuer,
  }
}

/**
 * A subject as it is unique among all places that this provider was ever configured to be at. An
 * operator who moves from gitlab.com to a server of their own must not find number 1 there
 * signed in as number 1 here.
 */
export function subjectAt(provider: Provider, addresses: Addresses, subject: string): string {
  const home = provider.home(addresses)
  return home === provider.home(provider.addresses) ? subject : `${home}#${subject}`
}

/** Secrets travel in clear only where nobody can listen: within the machine. Throws otherwise. */
export function checkTransport(addresses: Addresses): void {
  const { authorize, token, userinfo, jwks } = addresses
  for (const address of [authorize, token, userinfo, jwks]) {
    if (address !== undefined && !isSafe(new URL(address))) {
      failed(`${new URL(address).host} must be called by https; plain http is for this machine`)
    }
  }
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
