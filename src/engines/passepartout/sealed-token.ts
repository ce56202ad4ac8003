import type { Sealing } from '../../platform/sealing/index.ts'
import { loginToken } from './sealed.ts'

const { purpose: PURPOSE, boundTo } = loginToken

/** Seals the copy of an access token that waits to be collected. */
export const sealToken = (sealing: Sealing, attemptId: string, token: string): string =>
  sealing.seal(PURPOSE, boundTo({ id: attemptId }), token)

export const openToken = (sealing: Sealing, attemptId: string, sealed: string): string =>
  sealing.open(PURPOSE, boundTo({ id: attemptId }), sealed)
