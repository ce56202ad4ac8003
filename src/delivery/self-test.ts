import type { MatchResult } from './matching.ts'
import { type AboutSubject, endpointAbout } from './operational.ts'
import type { Store } from './store/index.ts'

export type SelfTest = ReturnType<typeof createSelfTest>

/**
 * Keeps endpoints from being told of themselves: the result of matching becomes `own` for an event
 * about the endpoint, or about another one of the tenant with the same URL.
 */
export const createSelfTest =
  ({ store }: { store: Store }) =>
  (
    tenantId: string,
    to: { id: string; url: string },
    message: AboutSubject,
    result: MatchResult,
  ): MatchResult | 'own' => {
    const id = endpointAbout(message)
    if (result !== 'matches' || id === undefined) return result
    const subject = id === to.id ? to : store.endpoints.ofTenant(tenantId, id)
    return subject && isSameUrl(subject.url, to.url) ? 'own' : 'matches'
  }

const isSameUrl = (one: string, other: string): boolean => targetOf(one) === targetOf(other)

/** What is requested, in one spelling. A fragment isn't sent. */
const targetOf = (text: string): string => (URL.parse(text)?.href ?? text).replace(/#.*$/, '')
