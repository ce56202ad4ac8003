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

/** Content of one page. */
interface PageContent {
  request: Request
  visitor: Visitor
  title: string
  active?: PageKey
  /** Breadcrumbs above this page. */
  above?: readonly Crumb[]
  flash?: Flash | undefined
  status?: number
  /** Shows the switch between live and test. */
  hasEnvironments?: boolean
  children: ComponentChildren
}

export type Frames = ReturnType<typeof createFrames>

/** Renders pages of the console with their layout. */
export function createFrames(parts: {
  baseUrl: () => string
  /** Usage of a tenant relative to its limits, for every page. */
  nearnessOf: (tenantId: string) => Nearness
}) {
  const { baseUrl, nearnessOf } = parts

  /** Prefix of every path: empty, or such as `/gatehouse`. */
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

  /** A page without layout, such as set-up. Forms of a tenant need its `scope`. */
  function html(drawn: VNode, status = 200, scope?: string): Response {
    const { body, headers } = htmlPage(inScope(drawn, scope), PAGE_CONTENT_POLICY)
    // Without a referrer policy, browsers might omit the Origin of our own forms.
    headers.set('referrer-policy', 'same-origin')
    return new Response(body, { status, headers })
  }

  /** Redirects after a form, so that reloading the page does not submit it again. */
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
  return place ? INSTALLATION : { id: '', name: 'No tenant', kind: 'tenant' }
}

/** Hides API keys from operators who are not owners. */
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
