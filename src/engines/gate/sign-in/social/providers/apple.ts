import { asClaims, emailIn, isTrueOrTheWord, subjectIn, textIn, tidyName } from '../claims.ts'
import { type Addresses, homeOfIssuer, issuedByItself, type OpenIdProvider } from '../provider.ts'

const under = (base: string): Addresses => ({
  authorize: `${base}/auth/authorize`,
  token: `${base}/auth/token`,
  jwks: `${base}/auth/keys`,
  issuer: base,
})

/** Returns by a POST from Apple's page, which Apple requires for the scopes name and email. */
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

const MAX_USER_LENGTH = 4096

/** Sent only at the first sign-in and unsigned, so it is used only as a display name. */
function nameIn(user: string | null): string | undefined {
  if (user === null || user.length > MAX_USER_LENGTH) return undefined
  try {
    const { name } = asClaims(JSON.parse(user), 'user')
    const parts = asClaims(name, 'name')
    const words = [textIn(parts, 'firstName'), textIn(parts, 'lastName')]
    return tidyName(words.filter(Boolean).join(' ')) || undefined
  } catch {
    return undefined
  }
}
