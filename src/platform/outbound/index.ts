export { parseAllowList } from './allow-list.ts'
export type { Phase, Timings } from './call.ts'
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResult,
} from './client.ts'
export type { FailureReason } from './failure.ts'
export { checkHeaders, isForwardableHeader } from './headers.ts'
export type { Resolve, ResolvedAddress } from './resolved-address.ts'
export { refusalSentence } from './url-rules.ts'
