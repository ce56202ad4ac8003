import { type Opened, OutdatedPage, type ScopeName } from '../../views/console/pages/outdated.tsx'
import { url } from '../../views/console/url.ts'
import type { Fields } from '../http/body.ts'
import { pairsIn } from './form.ts'
import { type Frames, themeOf } from './frame.ts'
import { outdatedNotice, outdatedStream } from './live/outdated.ts'
import type { Visitor } from './operators/visitors.ts'
import { RESUBMIT_PATH, THEN_FIELD } from './pages/resubmit.ts'
import { environmentOf, type Scopes, scopeIn } from './scope.ts'

/** Response to a request that `scopes` rejected: a page, a notice within the open page, or the end of a stream. */
export const createOutdatedPages =
  ({ frames: { base, html }, scopes }: { frames: Frames; scopes: Scopes }) =>
  (request: Request): Response | undefined => {
    const refusal = scopes.refusalOf(request)
    if (!refusal) return undefined
    if (request.headers.get('accept')?.includes('text/event-stream')) return outdatedStream()
    if (request.headers.has('hx-request'))
      return new Response(outdatedNotice(), { status: 409, headers: BESIDE_THE_PAGE })
    const { visitor, named, fields } = refusal
    const opened = openedIn(visitor, named)
    const page = OutdatedPage({
      base: base(),
      theme: themeOf(request),
      opened,
      acting: actingOf(visitor, request),
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
function openedIn({ memberships, isAdmin }: Visitor, named: string | undefined): Opened {
  const scope = named === undefined ? undefined : scopeIn(named)
  if (!scope) return 'unknown'
  if (scope.tenantId === null) return isAdmin ? INSTALLATION : 'hidden'
  const membership = memberships.find(({ tenantId }) => tenantId === scope.tenantId)
  return membership ? { name: membership.tenantName, environment: scope.environment } : 'hidden'
}

function actingOf({ place }: Visitor, request: Request): ScopeName {
  if (place?.kind === 'tenant') return { name: place.name, environment: environmentOf(request) }
  return place ? INSTALLATION : { name: 'no tenant' }
}

const INSTALLATION: ScopeName = { name: 'the installation' }

/** Submitted fields with their scope and path. */
function resubmitted({ url: address }: Request, fields: Fields): [string, string][] {
  const { pathname, search } = new URL(address)
  const entered = pairsIn(fields).filter(([name]) => name !== THEN_FIELD)
  return [...entered, [THEN_FIELD, pathname + search]]
}
