import type { Config } from '../../../../config/index.ts'
import { failed } from './errors.ts'
import type { Addresses, Provider } from './provider.ts'

export type ProviderSettings = Config['gate']['providers'][keyof Config['gate']['providers']]

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

/** Unique across installations: user 1 of gitlab.com must not become user 1 of another GitLab. */
export function subjectAt(provider: Provider, addresses: Addresses, subject: string): string {
  const home = provider.home(addresses)
  return home === provider.home(provider.addresses) ? subject : `${home}#${subject}`
}

/** Throws unless the URLs use https, or http on this machine, because secrets are sent to them. */
export function checkTransport(addresses: Addresses): void {
  const { authorize, token, userinfo, jwks } = addresses
  for (const address of [authorize, token, userinfo, jwks]) {
    if (address !== undefined && !isSafeUrl(new URL(address))) {
      failed(`${new URL(address).host} must use https; http is allowed on this machine only`)
    }
  }
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

/** Whether a URL may be sent secrets: https, or http on this machine. */
export const isSafeUrl = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
