/** When the master key is rotated, their keys are kept, so that old fingerprints still match. */
export const FINGERPRINT_PURPOSES = [
  'bot webhooks',
  'gate codes',
  'gate csrf tokens',
  'gate recovery codes',
  'mail recipients',
  'test receivers',
] as const

export type FingerprintPurpose = (typeof FINGERPRINT_PURPOSES)[number]
