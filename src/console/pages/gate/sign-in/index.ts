import { Elysia } from 'elysia'
import { visitsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { methodsPage } from './page.ts'
import { providerPage } from './provider.ts'
import { signInTrial } from './trial.ts'

/** Sign-in methods and return URLs of a tenant. */
export function signInPages(parts: GateParts) {
  const asked = visitsOf(parts.callerOf)
  const page = methodsPage(parts)
  const provider = providerPage(parts)
  const begin = signInTrial(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'sign-in pages', prefix: '/console/sign-in', detail: { hide: true } })
    .use(parts.kit)
    .get('', (visit) => page.show(asked(visit)), { right: 'read' })
    .post('/try', (visit) => begin(asked(visit)), change)
    .get('/providers/:id', (visit) => provider.show(asked(visit)), { right: 'read' })
    .post('/providers/:id/on', (visit) => provider.turn(asked(visit), true), change)
    .post('/providers/:id/off', (visit) => provider.turn(asked(visit), false), change)
    .post('/methods/:id/on', (visit) => page.turn(asked(visit), true), change)
    .post('/methods/:id/off', (visit) => page.turn(asked(visit), false), change)
    .post('/return-urls', (visit) => page.saveReturnUrls(asked(visit)), change)
}
