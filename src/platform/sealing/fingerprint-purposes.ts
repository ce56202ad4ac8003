/**
 * What fingerprints are made for, all of them: when the master key is replaced, the key of each is
 * kept, or what was fingerprinted before would be known no more.
 */
export const FINGERPRINT_PURPOSES = [
  'bot webhooks',
  'gate codes',
  'gate csrf tokens',
  'gate recovery codes',
  'mail recipients',
] as const

export type FingerprintPurpose = (typeof FINGERPRINT_PURPOSES)[number]
