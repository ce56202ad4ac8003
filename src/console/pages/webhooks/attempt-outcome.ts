import { wordsOf } from '../../../../views/ui/exchange.tsx'
import type { Attempt } from '../../../http/delivery-log/model.ts'

/** Outcome of an attempt: response status or error. */
export function outcomeOf({ response, error, status }: Attempt): string {
  if (response) return `Status ${response.status}`
  return error ? wordsOf(error) : status
}
