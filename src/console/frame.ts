import type { ComponentChildren, VNode } from 'preact'
import type { BannerProps } from '../../views/console/banner.tsx'
import { ConsoleFrame } from '../../views/console/frame/console-frame.tsx'
import type { Crumb, FrameProps, Place, Theme } from '../../views/console/frame/model.ts'
import { PAGES, type PageKey } from '../../views/console/frame/navigation.ts'
import { inScope } from '../../views/console/scope.tsx'
import type { Flash } from '../../views/console/toast.tsx'
import { htmlPage } from '../../views/html.ts'
import { preferenceIn } from '../http/cookies.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import type { Nearness } from '../platform/metering/index.ts'
import { may } from './operators/rights.ts'
import type { Visitor } from './operators/visitors.ts'
import { environmentOf, scopeOf } from './scope.ts'
import { usageBanner } from './usage-banner.ts'

export const THEME_COOKIE = 'gatehouse_theme'

/** What one page has to say for itself. */
interface PageContent {
  request: Request
  visitor: Visitor
  title: string
  active?: PageKey
  /** What stands between the console and this page. */
  above?: readonly Crumb[]
  flash?: Flash | undefined
  status?: number
  /** True where live and test data are kept apart: the switch between them is shown. */
  hasEnvironments?: boolean
  children: ComponentChildren
}

export type Frames = ReturnType<typeof createFrames>

/** Draws pages of the console: around each, where its visitor is and can go. */
export function createFrames(parts: {
  baseUrl: () => string
  /** How near a tenant is to the end of its month; asked for each page. */
  nearnessOf: (tenantId: string) => Nearness
}) {
  const { baseUrl, nearnessOf } = parts

  /** Before every path: empty, or as `/gatehouse`. */
  const base = (): string => new URL(baseUrl()).pathname.replace(/\/$/, '')

  function page({ request, visitor, title, above = [], status = 200, ...of }: PageContent) {
    const { hasEnvironments = false, ...content } = of
    const { pathname, search } = new URL(request.url)
    const frame: FrameProps = {
      ...content,
      base: base(),
      title,
      crumbs: [...above, { label: title }],
      place: placeOf(visitor),
      places: placesOf(visitor),
      operator: { name: visitor.displayName || visitor.email, email: visitor.email },
      theme: themeOf(request),
      without: withoutFor(visitor),
      ...(hasEnvironments && { environment: environmentOf(request) }),
      here: pathname + search,
      banners: bannersOf(visitor),
    }
    return html(ConsoleFrame(frame), status, scopeOf(visitor, request))
  }

  function bannersOf({ place }: Visitor): BannerProps[] {
    const banner = place?.kind === 'tenant' && usageBanner(base(), nearnessOf(place.tenantId))
    return banner ? [banner] : []
  }

  /**
   * Of a page of its own, such as set-up, or of one around which there is a frame already. Forms of a
   * tenant need the `scope` that they act on.
   */
  function html(drawn: VNode, status = 200, scope?: string): Response {
    const { body, headers } = htmlPage(inScope(drawn, scope), PAGE_CONTENT_POLICY)
    // With none at all, browsers would hide from us that our own forms come from us.
    headers.set('referrer-policy', 'same-origin')
    return new Response(body, { status, headers })
  }

  /** After a form: to load the page again does not send the form again. */
  const go = (path: string, cookies: readonly string[] = []): Response => {
    const answer = new Response(null, { status: 303, headers: { location: `${base()}${path}` } })
    for (const cookie of cookies) answer.headers.append('set-cookie', cookie)
    return answer
  }

  return { base, page, html, go }
}

export const themeOf = (request: Request): Theme => {
  const theme = preferenceIn(request, THEME_COOKIE)
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

export const INSTALLATION: Place = {
  id: 'installation',
  name: 'Installation',
  kind: 'installation',
}

function placeOf({ place }: Visitor): Place {
  if (place?.kind === 'tenant') return { id: place.tenantId, name: place.name, kind: 'tenant' }
  return place ? INSTALLATION : { id: '', name: 'Nowhere', kind: 'tenant' }
}

/** Keys are for owners: to anybody else the page would only say so. */
const withoutFor = ({ place }: Visitor): readonly PageKey[] =>
  place?.kind === 'tenant' && !may(place.role, 'keys') ? ['keys'] : []

const placesOf = ({ memberships, isAdmin }: Visitor): Place[] => [
  ...memberships.map(({ tenantId: id, tenantName: name }): Place => ({ id, name, kind: 'tenant' })),
  ...(isAdmin ? [INSTALLATION] : []),
]

export const crumbTo = (base: string, page: PageKey): Crumb => ({
  label: PAGES[page].label,
  href: `${base}${PAGES[page].path}`,
})
