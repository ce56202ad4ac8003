export type { Timings } from '../transport/call.ts'
export type { FailureReason, Phase } from '../transport/failure.ts'
export { parseAllowList } from './allow-list.ts'
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResult,
} from './client.ts'
export { checkHeaders, isForwardableHeader } from './headers.ts'
export type { Resolve, ResolvedAddress } from './resolved-address.ts'
export { refusalSentence } from './url-rules.ts'
