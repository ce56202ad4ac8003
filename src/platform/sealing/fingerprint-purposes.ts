/**
 * All purposes of fingerprints. When the master key is rotated, the fingerprint key of each is
 * kept; otherwise earlier fingerprints would no longer match.
 */
export const FINGERPRINT_PURPOSES = [
  'bot webhooks',
  'gate codes',
  'gate csrf tokens',
  'gate recovery codes',
  'mail recipients',
] as const

export type FingerprintPurpose = (typeof FINGERPRINT_PURPOSES)[number]
