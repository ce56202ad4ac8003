import type { MatchResult } from './matching.ts'
import { type AboutSubject, endpointAbout } from './operational.ts'
import type { Store } from './store/index.ts'

export type SelfTest = ReturnType<typeof createSelfTest>

/**
 * Keeps endpoints from receiving events about themselves: the result of matching becomes `own` for an event
 * about the endpoint, or about another one of the tenant with the same URL. The returned test of an event
 * looks its subject up at most once, as a tenant has up to a thousand endpoints.
 */
export const createSelfTest =
  ({ store }: { store: Store }) =>
  (tenantId: string, message: AboutSubject) => {
    const id = endpointAbout(message)
    let known: { target: string | undefined } | undefined

    function subjectTarget(id: string) {
      if (known) return known.target
      const subject = store.endpoints.ofTenant(tenantId, id)
      known = { target: subject && targetOf(subject.url) }
      return known.target
    }

    return (to: { id: string; url: string }, result: MatchResult): MatchResult | 'own' => {
      if (result !== 'matches' || id === undefined) return result
      const isOwn = id === to.id || subjectTarget(id) === targetOf(to.url)
      return isOwn ? 'own' : 'matches'
    }
  }

/** What is requested, in one spelling. A fragment isn't sent. */
const targetOf = (text: string): string => (URL.parse(text)?.href ?? text).replace(/#.*$/, '')
