import type { Attempt } from '../../../../src/http/delivery-log/model.ts'
import { wordsOf } from '../../exchange.tsx'

/** What came of an attempt, in a few words. */
export function outcomeOf({ response, error, status }: Attempt): string {
  if (response) return `Status ${response.status}`
  return error ? wordsOf(error) : status
}
