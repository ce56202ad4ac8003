import { type ComponentChildren, createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'

/** Field or parameter with the scope of a form or download link. */
export const SCOPE_FIELD = '_scope'
/** Header with the scope of htmx requests. */
export const SCOPE_HEADER = 'gatehouse-scope'

const Scope = createContext<string | undefined>(undefined)

/** Provides the tenant and environment that a page is rendered for. */
export const inScope = (page: VNode, scope: string | undefined): VNode => (
  <Scope.Provider value={scope}>{page}</Scope.Provider>
)

/** A form that submits the page's tenant and environment, so that it can't change another one. */
export function ScopedForm({
  method = 'post',
  children,
  ...form
}: {
  action: string
  method?: 'get' | 'post' | undefined
  class?: string
  novalidate?: boolean
  children: ComponentChildren
}) {
  const scope = useContext(Scope)
  return (
    <form method={method} {...form}>
      {method === 'post' && scope !== undefined && (
        <input type="hidden" name={SCOPE_FIELD} value={scope} />
      )}
      {children}
    </form>
  )
}

/** Address of a download, with the page's tenant and environment in its query. */
export function useScopedHref(href: string): string {
  const scope = useContext(Scope)
  if (scope === undefined) return href
  return `${href}${href.includes('?') ? '&' : '?'}${new URLSearchParams({ [SCOPE_FIELD]: scope })}`
}

/** Attributes that make htmx send the page's tenant and environment in a header. */
export function useScopeHeader(): Record<string, string> {
  const scope = useContext(Scope)
  if (scope === undefined) return {}
  return { 'hx-headers:inherited': JSON.stringify({ [SCOPE_HEADER]: scope }) }
}
