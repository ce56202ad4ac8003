import type { ComponentChildren } from 'preact'
import type { Environment } from '../../src/platform/engines.ts'
import type { BannerProps } from '../ui/banner.tsx'
import type { PageKey } from './navigation.ts'
import type { Flash } from './toast.tsx'

export type Theme = 'system' | 'light' | 'dark'

export interface Crumb {
  label: string
  /** Undefined for the current page. */
  href?: string
}

export interface ScopeChoice {
  /** `installation`, or the id of a tenant. */
  id: string
  name: string
  kind: 'tenant' | 'installation'
}

/** Everything that the layout shows around a page. */
export interface LayoutProps {
  /** Prefix of every address: empty, or such as `/gatehouse`. */
  base: string
  title: string
  active?: PageKey
  /** Pages that create something, which this operator can open. */
  creations: readonly { label: string; href: string }[]
  /** Pages that this operator can't open. */
  hiddenPages?: readonly PageKey[]
  crumbs: readonly Crumb[]
  scope: ScopeChoice
  /** Every tenant that the operator has access to, and the installation for admins. */
  scopes: readonly ScopeChoice[]
  /** Undefined on pages that have no environment. */
  environment?: Environment
  /** The same list, or the list of this object, in another environment. */
  hrefIn: (environment: Environment) => string
  /** Address of a page of the same tenant and environment. */
  href: (path: string) => string
  operator: { name: string; email: string }
  theme: Theme
  /** Path and query of this page, to return to after a form of the layout was submitted. */
  here: string
  /** Address of the page itself, if it answers a form of another address. */
  address?: string
  banners?: readonly BannerProps[]
  flash?: Flash
  children: ComponentChildren
}
