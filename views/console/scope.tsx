import { type ComponentChildren, createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { SCOPE_FIELD, SCOPE_HEADER } from '../../src/console/scope.ts'

const Scope = createContext<string | undefined>(undefined)

/** Tells all that a page consists of which tenant and environment it is drawn for. */
export const inScope = (page: VNode, scope: string | undefined): VNode => (
  <Scope.Provider value={scope}>{page}</Scope.Provider>
)

/** A form of a page. One that posts says what the page was drawn for, so that it acts nowhere else. */
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

/** The address of a download: a link that says the same, since its file does not show what it is of. */
export function useScopedHref(href: string): string {
  const scope = useContext(Scope)
  if (scope === undefined) return href
  return `${href}${href.includes('?') ? '&' : '?'}${new URLSearchParams({ [SCOPE_FIELD]: scope })}`
}

/** Attributes by which every request of htmx on the page says the same, in a header. */
export function useScopeHeader(): Record<string, string> {
  const scope = useContext(Scope)
  if (scope === undefined) return {}
  return { 'hx-headers:inherited': JSON.stringify({ [SCOPE_HEADER]: scope }) }
}
