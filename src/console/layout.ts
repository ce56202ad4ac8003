import type { ComponentChildren, VNode } from 'preact'
import type { BannerProps } from '../../views/console/banner.tsx'
import { ConsoleLayout } from '../../views/console/layout/console-layout.tsx'
import type { Crumb, LayoutProps, ScopeChoice, Theme } from '../../views/console/layout/model.ts'
import { PAGES, type PageKey } from '../../views/console/layout/navigation.ts'
import { inScope } from '../../views/console/scope.tsx'
import type { Flash } from '../../views/console/toast.tsx'
import { usageBanner } from '../../views/console/usage-banner.ts'
import { htmlPage } from '../../views/html.ts'
import { preferenceIn } from '../http/cookies.ts'
import { PAGE_CONTENT_POLICY } from '../http/security-headers.ts'
import type { Nearness } from '../platform/metering/index.ts'
import type { Operator } from './operators/current-operator.ts'
import { may } from './operators/rights.ts'
import { environmentOf, pageScopeOf } from './scope.ts'

export const THEME_COOKIE = 'gatehouse_theme'

/** Content of one page. */
interface PageContent {
  request: Request
  operator: Operator
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

export type Layout = ReturnType<typeof createLayout>

/** Renders pages of the console with their layout. */
export function createLayout(parts: {
  baseUrl: () => string
  /** Usage of a tenant relative to its limits, for every page. */
  nearnessOf: (tenantId: string) => Nearness
}) {
  const { baseUrl, nearnessOf } = parts

  /** Prefix of every path: empty, or such as `/gatehouse`. */
  const base = (): string => new URL(baseUrl()).pathname.replace(/\/$/, '')

  function page({ request, operator, title, above = [], status = 200, ...of }: PageContent) {
    const { hasEnvironments = false, ...content } = of
    const { pathname, search } = new URL(request.url)
    const layout: LayoutProps = {
      ...content,
      base: base(),
      title,
      crumbs: [...above, { label: title }],
      scope: scopeOf(operator),
      scopes: scopesOf(operator),
      operator: { name: operator.displayName || operator.email, email: operator.email },
      theme: themeOf(request),
      hiddenPages: hiddenPagesOf(operator),
      ...(hasEnvironments && { environment: environmentOf(request) }),
      here: pathname + search,
      banners: bannersOf(operator),
    }
    return html(ConsoleLayout(layout), status, pageScopeOf(operator, request))
  }

  function bannersOf({ scope }: Operator): BannerProps[] {
    const banner = scope?.kind === 'tenant' && usageBanner(base(), nearnessOf(scope.tenantId))
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

export const INSTALLATION: ScopeChoice = {
  id: 'installation',
  name: 'Installation',
  kind: 'installation',
}

function scopeOf({ scope }: Operator): ScopeChoice {
  if (scope?.kind === 'tenant') return { id: scope.tenantId, name: scope.name, kind: 'tenant' }
  return scope ? INSTALLATION : { id: '', name: 'No tenant', kind: 'tenant' }
}

/** Hides API keys from operators who are not owners. */
const hiddenPagesOf = ({ scope }: Operator): readonly PageKey[] =>
  scope?.kind === 'tenant' && !may(scope.role, 'keys') ? ['keys'] : []

const scopesOf = ({ memberships, isAdmin }: Operator): ScopeChoice[] => [
  ...memberships.map(
    ({ tenantId: id, tenantName: name }): ScopeChoice => ({ id, name, kind: 'tenant' }),
  ),
  ...(isAdmin ? [INSTALLATION] : []),
]

export const crumbTo = (base: string, page: PageKey): Crumb => ({
  label: PAGES[page].label,
  href: `${base}${PAGES[page].path}`,
})
