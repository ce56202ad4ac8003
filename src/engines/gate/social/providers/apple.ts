import { asClaims, emailIn, isTrueOrTheWord, subjectIn, textIn, tidyName } from '../claims.ts'
import { type Addresses, homeOfIssuer, issuedByItself, type OpenIdProvider } from '../provider.ts'

const under = (base: string): Addresses => ({
  authorize: `${base}/auth/authorize`,
  token: `${base}/auth/token`,
  jwks: `${base}/auth/keys`,
  issuer: base,
})

/** Answers with a POST from its own page, which Apple demands where a name or e-mail is asked. */
export const apple: OpenIdProvider = {
  kind: 'openid',
  addresses: under('https://appleid.apple.com'),
  under,
  scopes: 'openid name email',
  pkce: true,
  nonce: true,
  clientAuth: 'signed',
  parameters: { response_mode: 'form_post' },
  home: homeOfIssuer,
  acceptsIssuer: issuedByItself,
  person: (claims, posted) => ({
    subject: subjectIn(claims, 'sub'),
    email: emailIn(claims),
    isEmailVerified: isTrueOrTheWord(claims.email_verified),
    name: nameIn(posted.get('user')),
    locale: undefined,
  }),
}

const LONGEST_USER = 4096

/**
 * Sent at the very first sign-in alone, by way of the browser and unsigned: good enough for what
 * somebody is called, and for nothing else. One that cannot be read keeps nobody out.
 */
function nameIn(user: string | null): string | undefined {
  if (user === null || user.length > LONGEST_USER) return undefined
  try {
    const { name } = asClaims(JSON.parse(user), 'user')
    const parts = asClaims(name, 'name')
    const words = [textIn(parts, 'firstName'), textIn(parts, 'lastName')]
    return tidyName(words.filter(Boolean).join(' ')) || undefined
  } catch {
    return undefined
  }
}
