import type { ComponentChildren, VNode } from 'preact'
import { htmlPage } from '../../views/html.ts'
import { ConsoleLayout } from '../../views/layout/console-layout.tsx'
import { LeavingPage } from '../../views/layout/leaving-page.tsx'
import type { Crumb, LayoutProps, ScopeChoice, Theme } from '../../views/layout/model.ts'
import type { PageKey } from '../../views/layout/navigation.ts'
import type { Flash } from '../../views/layout/toast.tsx'
import type { BannerProps } from '../../views/ui/banner.tsx'
import { createCookie, preferenceIn } from '../http/cookies.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import type { Nearness } from '../platform/metering/index.ts'
import { ENVIRONMENT_COOKIE, type Place, preferredEnvironment } from './addresses.ts'
import type { Operator, Scope, TenantScope } from './operators/current-operator.ts'
import { may } from './operators/rights.ts'
import { usageBanner } from './usage-banner.ts'

export const THEME_COOKIE = 'gatehouse_theme'

/** Content of one page. */
interface PageContent {
  request: Request
  operator: Operator
  place: Place
  /** Tenant of the page, if it belongs to one. */
  tenant?: TenantScope | undefined
  /** Address of a page of the same tenant and environment. */
  href: LayoutProps['href']
  zone: string
  hrefIn: LayoutProps['hrefIn']
  creations: LayoutProps['creations']
  /** Address of the page itself, for the answer to a form. */
  here?: string | undefined
  title: string
  active?: PageKey
  /** Breadcrumbs above this page. */
  above?: readonly Crumb[]
  flash?: Flash | undefined
  status?: number
  /** Shows the switch between live and test. */
  hasEnvironments?: boolean | undefined
  children: ComponentChildren
}

export type Layout = ReturnType<typeof createLayout>

/** Renders pages of the console with their layout. */
export function createLayout(parts: {
  baseUrl: () => string
  /** Usage of a tenant relative to its limits, for every page. */
  nearnessOf: (tenantId: string) => Nearness
}) {
  const { baseUrl, nearnessOf } = parts
  const environmentCookie = createCookie({ name: ENVIRONMENT_COOKIE, baseUrl })

  /** Prefix of every path: empty, or such as `/gatehouse`. */
  const base = (): string => new URL(baseUrl()).pathname.replace(/\/$/, '')

  function page({ request, operator, place, tenant, title, ...of }: PageContent): Response {
    const { above = [], status = 200, hasEnvironments = false, here, ...content } = of
    const { pathname, search } = new URL(request.url)
    const scope = tenant ?? (place.area === 'installation' ? INSTANCE : operator.scope)
    const { environment } = place
    const layout: LayoutProps = {
      ...content,
      base: base(),
      title,
      crumbs: [...above, { label: title }],
      scope: choiceOf(scope),
      scopes: scopesOf(operator),
      operator: { name: operator.displayName || operator.email, email: operator.email },
      theme: themeOf(request),
      hiddenPages: hiddenPagesOf(scope),
      ...(hasEnvironments && { environment }),
      here: here ?? pathname + search,
      ...(here !== undefined && { address: base() + here }),
      banners: bannersOf(scope, of),
    }
    const response = html(ConsoleLayout(layout), status)
    if (hasEnvironments && environment !== preferredEnvironment(request))
      response.headers.append('set-cookie', environmentCookie.keep(environment))
    return response
  }

  function bannersOf(
    scope: Scope | undefined,
    of: Pick<PageContent, 'href' | 'zone'>,
  ): BannerProps[] {
    const banner = scope?.kind === 'tenant' && usageBanner(of, nearnessOf(scope.tenantId))
    return banner ? [banner] : []
  }

  /** A page without layout, such as set-up. */
  function html(drawn: VNode, status = 200): Response {
    const { body, headers } = htmlPage(drawn, PAGE_CONTENT_POLICY)
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

  /**
   * Leads from a form to an address outside the console. Browsers hold redirects after a form against the
   * policy of its page, which allows this site only, so to another one leads a page.
   */
  function leave(request: Request, href: string): Response {
    if (new URL(href).origin === new URL(baseUrl()).origin)
      return new Response(null, { status: 303, headers: { location: href } })
    const page = html(LeavingPage({ base: base(), theme: themeOf(request), href }))
    page.headers.set('refresh', `0; url=${href}`)
    return page
  }

  return { base, page, html, go, leave }
}

export const themeOf = (request: Request): Theme => {
  const theme = preferenceIn(request, THEME_COOKIE)
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

const INSTANCE: Scope = { kind: 'instance' }

const INSTALLATION: ScopeChoice = { id: 'installation', name: 'Installation', kind: 'installation' }

function choiceOf(scope: Scope | undefined): ScopeChoice {
  if (scope?.kind === 'tenant') return { id: scope.tenantId, name: scope.name, kind: 'tenant' }
  return scope ? INSTALLATION : { id: '', name: 'No tenant', kind: 'tenant' }
}

/** Hides API keys from operators who are not owners. */
const hiddenPagesOf = (scope: Scope | undefined): readonly PageKey[] =>
  scope?.kind === 'tenant' && !may(scope.role, 'keys') ? ['keys'] : []

const scopesOf = ({ memberships, isAdmin }: Operator): ScopeChoice[] => [
  ...memberships.map(
    ({ tenantId: id, tenantName: name }): ScopeChoice => ({ id, name, kind: 'tenant' }),
  ),
  ...(isAdmin ? [INSTALLATION] : []),
]
