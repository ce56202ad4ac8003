import type { Sealing } from '../../platform/sealing.ts'

const PURPOSE = 'login tokens'
const placeOf = (attemptId: string) => `passepartout_attempts/${attemptId}/access_token`

/** The copy of an access token that waits to be collected. */
export const sealToken = (sealing: Sealing, attemptId: string, token: string): string =>
  sealing.seal(PURPOSE, placeOf(attemptId), token)

export const openToken = (sealing: Sealing, attemptId: string, sealed: string): string =>
  sealing.open(PURPOSE, placeOf(attemptId), sealed)
