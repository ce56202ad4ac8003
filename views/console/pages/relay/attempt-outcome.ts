import type { Attempt } from '../../../../src/http/delivery-log/model.ts'
import { wordsOf } from '../../exchange.tsx'

/** Outcome of an attempt: response status or error. */
export function outcomeOf({ response, error, status }: Attempt): string {
  if (response) return `Status ${response.status}`
  return error ? wordsOf(error) : status
}
