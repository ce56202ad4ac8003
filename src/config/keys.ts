import { createPrivateKey } from 'node:crypto'
import { text } from './kinds.ts'

/** What ES256 signs with, in PEM. An environment that knows no line breaks has `\\n` for them. */
export const signingKey = text(
  'a private key on the curve P-256 in PEM',
  (written) => isSigningKey(withLineBreaks(written)),
  (written) => `${withLineBreaks(written).trim()}\n`,
)

const withLineBreaks = (written: string) => written.replaceAll('\\n', '\n')

function isSigningKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}
