import { type Opened, OutdatedPage, type ScopeName } from '../../views/console/pages/outdated.tsx'
import { url } from '../../views/console/url.ts'
import type { Fields } from '../http/body.ts'
import { pairsIn } from './form.ts'
import { type Layout, themeOf } from './layout.ts'
import { outdatedNotice, outdatedStream } from './live/outdated.ts'
import type { Operator } from './operators/current-operator.ts'
import { RESUBMIT_PATH, THEN_FIELD } from './pages/resubmit.ts'
import { environmentOf, pageScopeIn, type ScopeChecks } from './scope.ts'

/** Response to a request that `scopeChecks` rejected: a page, a notice within the open page, or the end of a stream. */
export const createOutdatedPages =
  ({ layout: { base, html }, scopeChecks }: { layout: Layout; scopeChecks: ScopeChecks }) =>
  (request: Request): Response | undefined => {
    const refusal = scopeChecks.refusalOf(request)
    if (!refusal) return undefined
    if (request.headers.get('accept')?.includes('text/event-stream')) return outdatedStream()
    if (request.headers.has('hx-request'))
      return new Response(outdatedNotice(), { status: 409, headers: BESIDE_THE_PAGE })
    const { operator, named, fields } = refusal
    const opened = openedIn(operator, named)
    const page = OutdatedPage({
      base: base(),
      theme: themeOf(request),
      opened,
      acting: actingOf(operator, request),
      resubmission:
        request.method === 'POST' && typeof opened === 'object'
          ? { action: url(base(), RESUBMIT_PATH), fields: resubmitted(request, fields) }
          : undefined,
    })
    return html(page, 409)
  }

/** htmx headers: the notice names its target, and nothing else of the page or its address changes. */
const BESIDE_THE_PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'hx-reswap': 'none',
  'hx-push-url': 'false',
}

/** Shows names to members only, because the tenant ID is untrusted. */
function openedIn({ memberships, isAdmin }: Operator, named: string | undefined): Opened {
  const scope = named === undefined ? undefined : pageScopeIn(named)
  if (!scope) return 'unknown'
  if (scope.tenantId === null) return isAdmin ? INSTALLATION : 'hidden'
  const membership = memberships.find(({ tenantId }) => tenantId === scope.tenantId)
  return membership ? { name: membership.tenantName, environment: scope.environment } : 'hidden'
}

function actingOf({ scope }: Operator, request: Request): ScopeName {
  if (scope?.kind === 'tenant') return { name: scope.name, environment: environmentOf(request) }
  return scope ? INSTALLATION : { name: 'no tenant' }
}

const INSTALLATION: ScopeName = { name: 'the installation' }

/** Submitted fields with their scope and path. */
function resubmitted({ url: address }: Request, fields: Fields): [string, string][] {
  const { pathname, search } = new URL(address)
  const entered = pairsIn(fields).filter(([name]) => name !== THEN_FIELD)
  return [...entered, [THEN_FIELD, pathname + search]]
}
