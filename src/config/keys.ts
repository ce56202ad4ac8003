import { createPrivateKey } from 'node:crypto'
import { text, word } from './kinds.ts'

/** A private key for ES256 in PEM. In environment variables, `\\n` stands for line breaks. */
export const signingKey = text(
  'a P-256 private key in PEM format',
  (written) => isSigningKey(withLineBreaks(written)),
  (written) => `${withLineBreaks(written).trim()}\n`,
)

/** A public key of age, to which files are encrypted. */
export const ageRecipient = word(
  /^age1[02-9ac-hj-np-z]{50,2500}$/,
  'a public key of age, such as age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
)

const withLineBreaks = (written: string) => written.replaceAll('\\n', '\n')

function isSigningKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1'
  } catch {
    return false
  }
}
