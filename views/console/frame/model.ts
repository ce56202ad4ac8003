import type { ComponentChildren } from 'preact'
import type { BannerProps } from '../banner.tsx'
import type { Flash } from '../toast.tsx'
import type { PageKey } from './navigation.ts'

export type Theme = 'system' | 'light' | 'dark'

export interface Crumb {
  label: string
  /** None for where one is. */
  href?: string
}

export interface Place {
  /** `installation`, or the id of a tenant. */
  id: string
  name: string
  kind: 'tenant' | 'installation'
}

/** What every page says around its content. */
export interface FrameProps {
  /** Before every path: empty, or as `/gatehouse`. */
  base: string
  title: string
  active?: PageKey
  /** Pages that are not for this operator. */
  without?: readonly PageKey[]
  crumbs: readonly Crumb[]
  place: Place
  /** All that the operator may act in, this one too. */
  places: readonly Place[]
  /** Which data is shown; none where there is only one kind. */
  environment?: 'live' | 'test'
  operator: { name: string; email: string }
  theme: Theme
  /** Path and query of this page, to come back to from a form of the frame. */
  here: string
  /** Pages with something to look at, and how much. */
  alerts?: Partial<Record<PageKey, number>>
  banners?: readonly BannerProps[]
  flash?: Flash
  children: ComponentChildren
}
