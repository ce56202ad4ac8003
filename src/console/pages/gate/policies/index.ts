import { Elysia } from 'elysia'
import { visitsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { decisionPages } from './decisions.ts'
import { policyPage } from './page.ts'

/** Policies of a tenant: editor, trial and decisions. */
export function policyPages(parts: GateParts) {
  const asked = visitsOf(parts.callerOf)
  const page = policyPage(parts)
  const decisions = decisionPages(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'policy pages', prefix: '/console/policies', detail: { hide: true } })
    .use(parts.kit)
    .get('', (visit) => page.show(asked(visit)), { right: 'read' })
    .post('', (visit) => page.save(asked(visit)), change)
    .post('/starter', (visit) => page.takeStarterSet(asked(visit)), change)
    .get('/decisions', (visit) => decisions.list(asked(visit)), { right: 'read' })
    .get('/decisions/:id', (visit) => decisions.show(asked(visit)), { right: 'read' })
}
