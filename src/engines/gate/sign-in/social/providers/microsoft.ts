import { type Claims, checkedSubject, emailIn, nameIn, textIn } from '../claims.ts'
import { failed } from '../errors.ts'
import type { Addresses, OpenIdProvider } from '../provider.ts'

/** The directory of all personal accounts. */
const CONSUMERS = '9188040d-6c67-4c5b-b112-36a304b66dad'
const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const WHOLE_ID = new RegExp(`^${ID}$`)
const ISSUER = new RegExp(`^(.+)/(${ID})/v2\\.0$`)
const DIRECTORY = /\/([^/?]+)\/oauth2\/v2\.0\/authorize(?:\?|$)/

/** `base` is `https://login.microsoftonline.com/<directory>`; the issuer lacks the directory. */
function under(base: string): Addresses {
  const isBare = new URL(base).pathname === '/'
  const directory = isBare ? `${base}/common` : base
  return {
    authorize: `${directory}/oauth2/v2.0/authorize`,
    token: `${directory}/oauth2/v2.0/token`,
    jwks: `${directory}/discovery/v2.0/keys`,
    issuer: isBare ? base : base.replace(/\/[^/]+$/, ''),
  }
}

/**
 * Microsoft and Entra ID accounts. Directories have their own issuers but share the keys, so that
 * of the authorization URL decides who may sign in: `common`, `organizations`, `consumers`, or one.
 */
export const microsoft: OpenIdProvider = {
  kind: 'openid',
  addresses: under('https://login.microsoftonline.com/common'),
  under,
  scopes: 'openid email profile',
  pkce: true,
  nonce: true,
  clientAuth: 'post',
  home: (addresses) => ISSUER.exec(addresses.issuer)?.[1] ?? addresses.issuer,
  acceptsIssuer(issuer, addresses) {
    const [, front, directory = ''] = ISSUER.exec(issuer) ?? []
    const isThere = front === addresses.issuer || issuer === addresses.issuer
    return isThere && isLetIn(directory, DIRECTORY.exec(addresses.authorize)?.[1] ?? 'common')
  },
  person(claims) {
    const directory = idIn(claims, 'tid')
    if (ISSUER.exec(textIn(claims, 'iss') ?? '')?.[2] !== directory) {
      failed('tid differs from the directory that issued the ID token')
    }
    return {
      // `sub` differs between clients, and names such as `upn` can be reassigned.
      subject: checkedSubject(`${directory}:${idIn(claims, 'oid')}`),
      email: emailIn(claims),
      isEmailVerified: isEmailVerified(claims, directory),
      name: nameIn(claims, 'name'),
      locale: undefined,
    }
  },
}

function isLetIn(directory: string, wanted: string): boolean {
  if (wanted === 'organizations') return directory !== CONSUMERS
  if (wanted === 'consumers') return directory === CONSUMERS
  return WHOLE_ID.test(wanted) ? directory === wanted : true
}

const idIn = (claims: Claims, name: string): string => {
  const id = textIn(claims, name)
  return id !== undefined && WHOLE_ID.test(id) ? id : failed(`${name} is missing or not a valid ID`)
}

/** A directory's administrator can write any `email`, so only what Microsoft confirms counts. */
function isEmailVerified(claims: Claims, directory: string): boolean {
  const email = emailIn(claims)?.toLowerCase()
  if (email === undefined) return false
  if (directory === CONSUMERS) return true
  if ([true, 1, 'true', '1'].some((yes) => claims.xms_edov === yes)) return true
  return [claims.verified_primary_email, claims.verified_secondary_email]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .some((each) => typeof each === 'string' && each.toLowerCase() === email)
}
