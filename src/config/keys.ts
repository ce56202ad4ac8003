import { createPrivateKey } from 'node:crypto'
import { text } from './kinds.ts'

/** A private key for ES256 in PEM. In environment variables, `\\n` stands for line breaks. */
export const signingKey = text(
  'a P-256 private key in PEM format',
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
